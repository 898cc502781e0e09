"""Du 2025, chapter 5: what adaptive top k was measured to do, on frequencies like those of the
dissertation.

Counts of reports are drawn from true frequencies by the laboratory's simulator, which the genuine
plan is checked against in the laboratory's own tests; items are in random order.  SVIM is the
genuine plan over genuine reports, with its shares of 50, 10 and 40 percent of the users.  Captions
of Tables 5.2 and 5.3 are swapped in print; names here go by the data.
"""

import numpy as np
import pytest

from sottovoce.lab.baselines.arbs import (
    ItemPopulation,
    draw_pruned,
    draw_rounds,
    estimated_frequencies,
    run_sequential,
)
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.du_chapter5.misplacement import misplaced
from sottovoce.lab.experiments.du_chapter5.top_k import SCHEMES, USERS, TopKExperiment, score
from sottovoce.lab.experiments.du_chapter5.top_k import mean_and_error as mean
from sottovoce.lab.experiments.figures.du_chapter5 import DATA, HIT, MSE, NCR, SOUGHT
from sottovoce.lab.experiments.figures.du_chapter5 import TABLE_5_2 as TABLE
from sottovoce.lab.populations.item_frequencies import (
    KOSARAK,
    LAPLACE,
    LINEAR,
    LINEAR45,
    WORDS,
)
from sottovoce.lab.populations.item_frequencies import independent_baskets as people
from sottovoce.lab.simulate import simulate
from sottovoce.lab.truth import metrics
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports, opening_users
from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.tasks.task import Task

SOUGHT_OF_MANY = (10, 20, 30, 40, 50)


def experiment(scheme, frequencies, sought, epsilon, users=USERS, rounds=20):
    return TopKExperiment(scheme, ItemPopulation(frequencies, users, sought, epsilon), rounds)


def found(scheme, frequencies, sought, epsilon, dice, **settings):
    """The reports of one run."""
    return experiment(scheme, frequencies, sought, epsilon, **settings).reports(dice)


def runs(scheme, frequencies, sought, epsilon, count, seed, **settings):
    """(count, 3): the scores of so many runs."""
    return experiment(scheme, frequencies, sought, epsilon, **settings).scores(count, seed)


def pruned_runs(scheme, frequencies, sought, epsilon, count, seed, **settings):
    """(count, 3): the scores where half of the users prune the items first."""
    return experiment(scheme, frequencies, sought, epsilon, **settings).pruned_scores(count, seed)


def scores(frequencies, reports, epsilon):
    """Hit rate, NCR and squared error of some reports about all items."""
    people = ItemPopulation(frequencies, USERS, reports.sought, epsilon)
    return score(people, reports, np.arange(len(frequencies)))


def test_the_measures_on_a_case_by_hand():
    """T is a, b, c and a, c, x were found: NCR 4/6, hits 2/3, and the error of b is its whole
    share.
    """
    truth, guessed = {"a": 0.5, "b": 0.4, "c": 0.3}, {"a": 0.6, "c": 0.3, "x": 0.2}
    assert metrics.ncr("abc", "acx") == pytest.approx(4 / 6)
    assert metrics.f1("abc", "acx") == pytest.approx(2 / 3)
    assert metrics.top_error(truth, guessed) == pytest.approx((0.1**2 + 0.4**2) / 3)


FULL = pytest.param(1.0, marks=pytest.mark.papers, id="full")
SMALL = pytest.param(0.2, id="small")


@pytest.fixture(scope="module", params=[SMALL, FULL])
def table(request):
    """(runs, 3) by data, scheme and epsilon; the full one gives the narrowest window four standard
    errors.
    """
    cells = {}
    many = {
        ("linear", scheme, epsilon): 700 for scheme in ("arbs", "uniform") for epsilon in (1.0, 2.0)
    }
    many |= {("linear", scheme, 3.0): 250 for scheme in ("arbs", "uniform")} | {
        ("beta", "arbs", 2.0): 250
    }
    for data, scheme in TABLE:
        for epsilon in (1.0, 2.0, 3.0):
            count = round(request.param * many.get((data, scheme, epsilon), 80))
            cells[data, scheme, epsilon] = runs(
                scheme, DATA[data], SOUGHT, epsilon, max(40, count), 51
            )
    return cells


@pytest.mark.papers
@pytest.mark.parametrize(("data", "scheme"), TABLE)
def test_hit_rates_are_the_published_ones(table, data, scheme):
    """Table 5.2, Linear and Beta: within .06, and five standard errors of a small table."""
    for epsilon, published in zip((1.0, 2.0, 3.0), TABLE[data, scheme], strict=True):
        hits = table[data, scheme, epsilon][:, HIT]
        hit, error = mean(hits)
        print(data, scheme, epsilon, "hit", hit, "+-", error, "published", published)
        assert abs(hit - published) < 0.06 + (FIVE_SIGMA * error if len(hits) < 80 else 0)


@pytest.mark.parametrize(("data", "scheme"), TABLE)
def test_a_larger_epsilon_finds_more_and_errs_less(table, data, scheme):
    """Figure 5.2."""
    means = np.array([mean(table[data, scheme, epsilon])[0] for epsilon in (1.0, 2.0, 3.0)])
    assert (np.diff(means[:, [HIT, NCR]], axis=0) > 0).all()
    assert (np.diff(means[:, MSE]) < 0).all()


def gain(table, epsilon):
    """How much more adapting finds than even sampling on Linear, and its standard error."""
    schemes = ("arbs", "uniform")
    (adaptive, error), (even, spread) = (
        mean(table["linear", scheme, epsilon][:, HIT]) for scheme in schemes
    )
    print(epsilon, "gain", adaptive - even, "+-", np.hypot(error, spread))
    return adaptive - even, np.hypot(error, spread)


@pytest.mark.parametrize("table", [FULL], indirect=True)
def test_adapting_finds_more_than_even_sampling(table):
    """Figure 5.2 on Linear: better at every epsilon, by more than .02 at epsilon 2.

    Over more than a thousand runs the gains are .019, .028 and .029, each +-.003.  At epsilon 1 a
    gain twice as large appears if even sampling asks about every item equally often and equal rates
    are told apart by an order that is the true one reversed: ties then always go to the wrong item.
    Here they go to a random one.
    """
    gains = {epsilon: gain(table, epsilon) for epsilon in (1.0, 2.0, 3.0)}
    assert all(more / error > 4 for more, error in gains.values())
    assert gains[2.0][0] > 0.02


@pytest.mark.parametrize("table", [SMALL], indirect=True)
def test_in_few_runs_adapting_gains_what_it_gains_in_many(table):
    """Within five standard errors of .019, .028 and .029 at every epsilon; together they are more
    than nothing.
    """
    gains = np.array([gain(table, epsilon) for epsilon in (1.0, 2.0, 3.0)])
    assert (np.abs(gains[:, 0] - [0.019, 0.028, 0.029]) < FIVE_SIGMA * gains[:, 1]).all()
    assert gains[:, 0].sum() > 0


def ties_to_the_wrong_item(epsilon, count, dice):
    """Hit rates of even sampling with as many questions about every item, the least frequent item
    first.
    """
    times = np.full(100, USERS // 100)
    drawn = (
        dice.binomial(times, ItemPopulation(LINEAR, USERS, SOUGHT, epsilon).rates)
        for _ in range(count)
    )
    return np.array(
        [scores(LINEAR, ItemReports(times, ones, SOUGHT), epsilon)[HIT] for ones in drawn]
    )


@pytest.mark.parametrize("table", [FULL], indirect=True)
def test_ties_that_go_to_the_wrong_item_make_even_sampling_look_worse(table):
    """A broken twin of the baseline: .598 instead of .617 at epsilon 1, though it asks more
    evenly.
    """
    hit, error = mean(ties_to_the_wrong_item(1.0, 700, np.random.default_rng(52)))
    fair, spread = mean(table["linear", "uniform", 1.0][:, HIT])
    assert (fair - hit) / np.hypot(error, spread) > 4


@pytest.mark.parametrize("data", ["linear", "beta"])
@pytest.mark.parametrize(
    ("table", "epsilon"),
    [
        pytest.param(0.2, 1.0, id="small-1"),
        pytest.param(1.0, 1.0, marks=pytest.mark.papers, id="full-1"),
        pytest.param(1.0, 2.0, marks=pytest.mark.papers, id="full-2"),
    ],
    indirect=["table"],
)
def test_padding_and_sampling_finds_less_at_small_epsilon(table, data, epsilon):
    """Table 5.2: SVIM below ARBS; at epsilon 3 a well estimated length brings it level, so nothing
    is said there.
    """
    dice, task, hits = (
        np.random.default_rng(53),
        Task("things", TopItems(range(100), SOUGHT), epsilon),
        [],
    )
    for crowd in range(2 if epsilon == 1 else 8):
        held = people(dice.permutation(DATA[data]), USERS, dice)
        truth = np.argsort(-held.counts(100), kind="stable")[:SOUGHT].tolist()
        answers = [simulate(task, held, seed=10 * crowd + run) for run in range(10)]
        hits += [metrics.f1(truth, [int(label) for label in answer.labels]) for answer in answers]
    hit, error = mean(hits)
    adaptive, spread = mean(table[data, "arbs", epsilon][:, HIT])
    print(data, epsilon, "SVIM", hit, "+-", error, "ARBS", adaptive)
    assert (adaptive - hit) / np.hypot(error, spread) > 4


@pytest.mark.papers
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("data", ["linear", "beta"])
def test_the_error_falls_as_more_items_are_sought(data, scheme):
    """Figure 5.3, epsilon 2: top-k error over k = 10, ..., 50; Linear and ARBS from about 4.1e-2 to
    8.6e-3.
    """
    counts = {10: 60, 20: 60, 30: 60, 40: 100, 50: 100}
    errors = [
        runs(scheme, DATA[data], k, 2.0, count, 54, rounds=10)[:, MSE].mean()
        for k, count in counts.items()
    ]
    print(data, scheme, errors)
    assert errors == sorted(errors, reverse=True)
    if (data, scheme) == ("linear", "arbs"):
        assert errors[0] == pytest.approx(4.1e-2, rel=0.15)
        assert errors[-1] == pytest.approx(8.6e-3, rel=0.15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sparse_sets_are_harder(scheme):
    """Figure 5.4, Linear, epsilon 2: 20 and 90 percent of all items taken away.

    NCR falls by at least .25, and the error in units of the remaining shares grows at least
    threefold.
    """
    full, sparse = (
        mean(runs(scheme, (1 - s) * LINEAR, SOUGHT, 2.0, 60, 55, rounds=10))[0] for s in (0.2, 0.9)
    )
    print(scheme, full, sparse)
    assert full[NCR] - sparse[NCR] > 0.25
    assert sparse[MSE] / 0.1**2 > 3 * full[MSE] / 0.8**2


@pytest.fixture(scope="module", params=[SMALL, FULL])
def kosarak(request):
    """(runs, 3) by scheme and k; in full, at k = 20 and 30 so many that the window has room beyond
    the errors.
    """
    counts = (
        {10: 30, 20: 300, 30: 300, 40: 30, 50: 30}
        if request.param == 1
        else dict.fromkeys(SOUGHT_OF_MANY, 15)
    )
    return {
        (scheme, k): pruned_runs(
            scheme,
            KOSARAK,
            k,
            2.0,
            count if scheme == "arbs" else min(count, 30),
            56,
            users=990_002,
            rounds=5,
        )
        for scheme in ("arbs", "arbsf")
        for k, count in counts.items()
    }


@pytest.mark.papers
def test_a_large_domain_is_searched_as_published(kosarak):
    """Table 5.3, Kosarak, epsilon 2, R = 5: ARBS within .10 and falling with k; five standard
    errors more in few runs.

    At k = 20 ours is .934, better than published by nearly all of the window: three hundred runs
    leave 2.7 standard errors of room there, 2.6 at k = 30 (.803), and more at the others.
    """
    hits, errors = np.transpose([mean(kosarak["arbs", k][:, HIT]) for k in SOUGHT_OF_MANY])
    few = len(kosarak["arbs", 20]) < 300
    print(hits, "+-", errors)
    assert (np.abs(hits - [0.96, 0.84, 0.71, 0.60, 0.52]) < 0.10 + few * FIVE_SIGMA * errors).all()
    assert hits.tolist() == sorted(hits, reverse=True)


@pytest.mark.parametrize("k", SOUGHT_OF_MANY)
def test_even_accuracy_within_the_top_gives_better_counts(kosarak, k):
    """Figure 5.6, Kosarak: the error of ARBSF is at most .7 of that of ARBS."""
    even, plain = kosarak["arbsf", k][:, MSE].mean(), kosarak["arbs", k][:, MSE].mean()
    print(k, even, plain)
    assert even < 0.7 * plain


def words_found(scheme, sought, count):
    """Mean hit rate of so many searches for the most frequent words, and its standard error."""
    return mean(runs(scheme, WORDS, sought, 2.0, count, 57, rounds=10)[:, HIT])


@pytest.mark.parametrize(("sought", "count"), [(3, 100), (6, 300)])
def test_words_are_found_better_by_adapting(sought, count):
    """Table 5.3, words, epsilon 2: ARBS ahead of even sampling at k = 3 and 6."""
    (plain, error), (even, spread) = (
        words_found(scheme, sought, count) for scheme in ("arbs", "uniform")
    )
    print(sought, "adapting", plain, "+-", error, "even", even, "+-", spread)
    assert (plain - even) / np.hypot(error, spread) > 3


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sought", [9, 12, 15])
def test_many_words_are_found_by_all_schemes(scheme, sought):
    """Table 5.3, words, epsilon 2: .90 from k = 9 on, by five standard errors."""
    hit, error = words_found(scheme, sought, 40)
    print(scheme, sought, hit, "+-", error)
    assert hit - FIVE_SIGMA * error > 0.90


@pytest.mark.parametrize(("epsilon", "error"), [(1.0, 429), (2.0, 190), (3.0, 105)])
def test_the_gamma_data_cannot_be_pruned_and_the_plan_says_so(epsilon, error):
    """Table 5.2, Gamma: 100,000 users with sets of about 535 of 10,000 items; nothing to reproduce,
    but a warning.
    """
    plan = AdaptiveTopItems(range(10_000), 100_000, SOUGHT, basket=535.0)
    (concern,) = plan.concerns(epsilon)
    assert "about 93 of 50,000" in concern
    assert f"error of {error}" in concern


def test_the_warning_is_right_about_the_gamma_data():
    """Thirty items at .95 among 10,000 at .05: pruning keeps few of them even so."""
    frequencies, dice = np.r_[np.full(30, 0.95), np.full(9970, 0.05)], np.random.default_rng(58)
    recalls = [
        np.mean(
            [
                (draw_pruned(frequencies, 50_000, 300, epsilon, dice) < 30).sum() / 30
                for _ in range(20)
            ]
        )
        for epsilon in (1.0, 2.0, 3.0)
    ]
    print(recalls)
    assert max(recalls) < 0.25
    assert recalls == pytest.approx([0.03, 0.09, 0.15], abs=0.06)


def test_the_laplace_data_can_be_pruned_and_the_plan_is_silent_where_it_works():
    """Hit rates of about .33, .89 and .98 at epsilon 1, 2, 3; the warning comes below the last."""
    share, basket = float(LAPLACE[SOUGHT - 1]), float(LAPLACE.sum())
    plan = AdaptiveTopItems(range(9883), 100_000, SOUGHT, basket=basket, share=share)
    assert plan.concerns(1.0)
    assert not plan.concerns(3.0)
    for epsilon, low, high in ((1.0, 0.25, 0.42), (2.0, 0.85, 0.94), (3.0, 0.94, 1.0)):
        hit, error = mean(
            pruned_runs("arbs", LAPLACE, SOUGHT, epsilon, 40, 59, users=100_000, rounds=10)[:, HIT]
        )
        print(epsilon, hit, "+-", error)
        assert low < hit < high


@pytest.mark.papers
def test_adapting_leaves_less_doubt():
    """Figure 5.7, Linear 45, epsilon 3, R = 10: Delta of ARBS < ARBSF < even sampling (.944, .987,
    .998).
    """
    dice, means = np.random.default_rng(60), {}
    for scheme in SCHEMES:
        known = [
            found(scheme, dice.permutation(LINEAR45), SOUGHT, 3.0, dice, rounds=10)
            for _ in range(150)
        ]
        means[scheme] = mean([misplaced(one) for one in known])
    print(means)
    for less, more in (("arbs", "arbsf"), ("arbsf", "uniform")):
        (low, error), (high, spread) = means[less], means[more]
        assert (high - low) / np.hypot(error, spread) > 4


@pytest.mark.papers
@pytest.mark.parametrize("data", ["linear 45", "beta"])
@pytest.mark.parametrize("epsilon", [2.0, 3.0])
def test_more_rounds_hardly_matter(data, epsilon):
    """Figure 5.8: NCR of 20 and of 5 rounds within .04."""
    count = 150 if data == "beta" else 60
    many, few = (
        mean(runs("arbs", DATA[data], SOUGHT, epsilon, count, 61, rounds=r)[:, NCR])
        for r in (20, 5)
    )
    print(data, epsilon, many, few)
    assert abs(many[0] - few[0]) < 0.04


@pytest.mark.papers
@pytest.mark.parametrize("data", ["linear", "beta"])
def test_one_user_at_a_time_is_no_better_than_twenty_rounds(data):
    """Figure 5.8, epsilon 2: NCR of the sequential scheme within .06 of that of 20 rounds."""
    dice, one_by_one = np.random.default_rng(62), []
    for seed in range(60):
        order = dice.permutation(DATA[data])
        one_by_one.append(
            scores(
                order, run_sequential(ItemPopulation(order, USERS, SOUGHT, 2.0), seed=seed), 2.0
            )[NCR]
        )
    rounds = runs("arbs", DATA[data], SOUGHT, 2.0, 120, 63, rounds=20)[:, NCR]
    print(data, mean(one_by_one), mean(rounds))
    assert abs(np.mean(one_by_one) - rounds.mean()) < 0.06


def test_questions_gather_where_they_decide():
    """Figure 5.9, Linear 45, epsilon 3, R = 10: ARBS asks most around item 70, ARBSF from there on.

    Mean numbers of questions over items 1-50, 51-65, 66-75, 76-85 and 86-100.
    """
    dice, profiles = np.random.default_rng(64), {}
    for scheme in SCHEMES:
        times = np.mean(
            [found(scheme, LINEAR45, SOUGHT, 3.0, dice, rounds=10).times for _ in range(20)], axis=0
        )
        profiles[scheme] = [
            times[a:b].mean() for a, b in ((0, 50), (50, 65), (65, 75), (75, 85), (85, 100))
        ]
    print(profiles)
    assert profiles["uniform"] == pytest.approx([100] * 5, rel=0.05)
    assert np.argmax(profiles["arbs"]) == 2
    assert profiles["arbs"][2] > 2 * profiles["arbs"][4]
    assert profiles["arbsf"][4] > 1.5 * profiles["arbsf"][1]
    assert profiles["arbs"] == pytest.approx([50, 150, 259, 155, 72], rel=0.15)
    assert profiles["arbsf"] == pytest.approx([42, 107, 172, 187, 182], rel=0.15)


def round_sizes(rounds):
    """(runs, rounds): the users of each round after the even start, Linear 45 and epsilon 3."""
    dice = np.random.default_rng(65)
    return np.array(
        [
            draw_rounds(
                ItemPopulation(dice.permutation(LINEAR45), USERS, SOUGHT, 3.0), dice, rounds=rounds
            ).sizes
            for _ in range(20)
        ]
    )


@pytest.mark.parametrize("rounds", [5, 10, 20])
def test_rounds_grow_and_the_last_is_the_largest(rounds):
    """Figure 5.10: mean sizes never fall by more than one user, and no round is nearly empty."""
    sizes = round_sizes(rounds)
    print(sizes.mean(axis=0))
    assert np.diff(sizes.mean(axis=0)).min() > -1
    assert (sizes[:, -1] == sizes.max(axis=1)).all()
    assert sizes.min() > 0.5 * (USERS - opening_users(USERS, 100, 3.0)) / rounds


def printed_round_users(known, shares, left, rounds_left):
    """The published bound: Bernstein's weights before the round and Hoeffding's after it."""
    if rounds_left == 1:
        return left
    whole = 2 * left / rounds_left
    tried = np.linspace(0, whole, 200)
    errors = np.array([known.doubt(shares, more)[0] for more in tried])
    best = tried[np.argmin(tried * np.exp(known.weights()).sum() + (whole - tried) * errors)]
    return max(1, min(round(best), left // rounds_left))


def test_the_printed_sizes_collapse_and_are_caught(monkeypatch):
    """The error before a round exceeds the one after it even for nobody: tiny rounds, and most
    users in the last.
    """
    monkeypatch.setattr("sottovoce.lab.baselines.arbs.round_users", printed_round_users)
    sizes = round_sizes(5)
    assert sizes.min() < 0.5 * (USERS - opening_users(USERS, 100, 3.0)) / 5
    assert np.median(sizes[:, 0]) <= 50


def test_estimates_converge_round_by_round():
    """Figure 5.11, Linear 45, epsilon 3, R = 20: the twenty worst estimates improve by half, all by
    30 percent.
    """
    dice, errors = np.random.default_rng(66), []
    for _ in range(20):
        states = draw_rounds(ItemPopulation(LINEAR45, USERS, SOUGHT, 3.0), dice, rounds=20).states
        first, last = (
            np.abs(estimated_frequencies(states[place], 3.0) - LINEAR45) for place in (0, -1)
        )
        worst = np.argsort(-first)[:20]
        errors.append([first[worst].mean(), last[worst].mean(), first.mean(), last.mean()])
    worst_first, worst_last, first, last = np.mean(errors, axis=0)
    print(worst_first, worst_last, first, last)
    assert worst_last < 0.5 * worst_first
    assert last < 0.7 * first
