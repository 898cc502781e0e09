"""The questions of a search in sets, and what their reports say."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SetNoise
from sottovoce.core.tally import Tally
from sottovoce.encodings.size import Size
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.padding import Padding, fit_padding
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round


def collected(question, *, reports=None, counts=None, users=0):
    """One round with these reports, or with these support counts of so many users."""
    task = sv.Task("sets", TopItems(range(9), 3), epsilon=20.0)
    if reports is not None:
        return MemoryCollected(
            task, (Round(0, question),), {Address(): ReportBatch(np.asarray(reports))}
        )
    tally = Tally(question.mechanism.key, users, {"support": np.asarray(counts)})
    return MemoryCollected(task, (Round(0, question),), sums={Address(): tally})


def windows(users):
    """Everybody holds four or five of sixteen items side by side, each item is held by 30 %; a
    multiple of 80 users.
    """
    first, long = np.arange(users) % 16, np.arange(users) // 16 % 5 > 0
    sizes = np.where(long, 5, 4)
    offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Baskets.of(sizes, (np.repeat(first, sizes) + offsets) % 16)


def test_golden_estimate_of_a_sampled_set():
    """Epsilon ln 2 padded to 3 over five items: epsilon inside is ln 4 over eight values, the
    estimate 11 C - n.
    """
    question = set_questions.ask_which(log(2), 5, 3)
    assert question.mechanism.size == 8
    assert question.mechanism.epsilon == pytest.approx(log(4))
    reports = np.repeat(np.arange(8), [4, 3, 2, 1, 0, 2, 2, 2])
    found = set_questions.estimate_sampled(collected(question, reports=reports), 0, 16)
    assert found.totals == pytest.approx([11 * count - 16 for count in (4, 3, 2, 1, 0)])
    assert found.epsilon == log(2)
    assert set_questions.estimate_sampled(
        collected(question, reports=reports), 0, 48
    ).totals == pytest.approx(3 * found.totals)


@pytest.mark.parametrize(
    ("epsilon", "length", "bound"),
    [
        (1.0, 1, 9.15), (1.0, 2, 39.06), (1.0, 5, 259.24), (1.0, 10, 1061.1),
        (2.0, 1, 23.17), (2.0, 2, 104.45), (2.0, 5, 702.96), (2.0, 10, 2882.7),
        (4.0, 1, 164.79), (4.0, 2, 765.37), (4.0, 5, 5187.8), (4.0, 10, 21294.0),
    ],
)  # fmt: skip
def test_the_oracle_adapts_at_the_published_bound(epsilon, length, bound):
    below, above = (set_questions.ask_which(epsilon, int(bound) + more, length) for more in (0, 1))
    assert (below.mechanism.kind, above.mechanism.kind) == ("grr", "affine")
    assert (
        set_questions.ask_which(epsilon, int(bound) + 1, length, paper=True).mechanism.kind == "olh"
    )
    assert below.epsilon == above.epsilon == epsilon
    assert above.mechanism.epsilon == epsilon < below.mechanism.epsilon + (length == 1)


def test_at_the_bound_itself_it_hashes():
    """Epsilon ln 2: 3 * 2 + 1 = 7 items padded to one, 2 * 7 * 2 + 1 = 29 padded to two."""
    for length, bound in ((1, 7), (2, 29)):
        assert (
            set_questions.ask_which(log(2), bound - 1, length, paper=True).mechanism.kind == "grr"
        )
        assert set_questions.ask_which(log(2), bound, length, paper=True).mechanism.kind == "olh"


def test_the_bound_counts_candidates_not_items():
    among = tuple((item,) for item in range(0, 700, 100))
    assert set_questions.ask_which(1.0, 700, 1, among).mechanism.kind == "grr"
    assert set_questions.ask_which(1.0, 700, 1).mechanism.kind == "affine"


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.5, log(2), 1.0, 2.0, 4.0, 10.0, 19.99, 20.0])
@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 10, 50, 128, 1000])
def test_the_end_to_end_epsilon_is_never_exceeded(epsilon, length):
    question = set_questions.ask_which(epsilon, 2, length)
    spent = exact.log(question.encoding.worst_ratio(question.mechanism))
    assert spent <= exact.stated(epsilon) == exact.stated(question.epsilon)
    if question.mechanism.epsilon < settings.MAX_EPSILON:
        assert float(spent) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_stated_variance_is_that_of_the_law(length):
    """All sets of at most ``length`` of four items, one person each: exact rational moments of
    direct response.
    """
    question = set_questions.ask_which(1.0, 4, length)
    keep = exact.probability(question.mechanism.keep)
    lie = (1 - keep) / (question.mechanism.size - 1)
    sets = [held for size in range(length + 1) for held in combinations(range(4), size)]
    votes, second = [], []
    for held in sets:
        seen = lie + (keep - lie) * (Fraction(1, length) if 0 in held else 0)
        values = [length * (one - lie) / (keep - lie) for one in (1, 0)]
        votes.append(seen * values[0] + (1 - seen) * values[1])
        second.append(seen * values[0] ** 2 + (1 - seen) * values[1] ** 2 - votes[-1] ** 2)
    assert votes == [int(0 in held) for held in sets]
    reports = np.zeros(len(sets), np.int64)
    noise = set_questions.estimate_sampled(collected(question, reports=reports), 0, len(sets)).noise
    stated = noise.variances(np.array([float(sum(votes))]), len(sets))[0]
    assert stated == pytest.approx(float(sum(second)), rel=1e-12)


def test_the_variance_of_a_frequent_item_is_the_exact_one():
    """128 items, 100,000 users, epsilon 2, padded to 5, held by 30 %: 1.1367e6, not the published
    4.02e5.

    Variances are per user, so that 400 collections of 10,000 users with sixteen such items settle
    it.
    """
    question, users, runs = set_questions.ask_which(2.0, 128, 5), 10_000, 400
    rng, people = SeededRng(6), windows(users)
    totals = np.empty((runs, 16))
    for run in range(runs):
        reports = question.privatize(people, rng)
        totals[run] = set_questions.estimate_sampled(
            collected(question, reports=reports), 0, users
        ).totals[:16]
    stated = Estimate(
        np.full(1, 0.3 * 1e5),
        SetNoise.sampled(question.mechanism.p, question.mechanism.q, 5),
        10**5,
        2.0,
    )
    assert stated.variance == pytest.approx([1.1367e6], rel=1e-3)
    measured = 10 * ((totals - 3000) ** 2).mean()
    assert measured == pytest.approx(1.1367e6, rel=0.08), measured
    assert measured != pytest.approx(4.02e5, rel=0.08)
    assert abs(totals.mean() - 3000) < 5 * np.sqrt(measured / 10 / runs / 16)


def test_sets_twice_as_long_as_the_padding_lose_half():
    question, users = set_questions.ask_which(2.0, 8, 4), 200_000
    people = Baskets.of(np.full(users, 8), np.tile(np.arange(8), users))
    found = set_questions.estimate_sampled(
        collected(question, reports=question.privatize(people, SeededRng(7))), 0, users
    )
    p, q = question.mechanism.p, question.mechanism.q
    seen = q + (p - q) / 8
    error = 4 * np.sqrt(users * seen * (1 - seen)) / (p - q)
    assert np.abs(found.totals - users / 2).max() < 5 * error
    assert np.abs(found.totals - users).min() > 5 * error


def sizes(counts, epsilon=4.0, *, paper=False):
    """A round about sizes whose estimated totals are these, for nobody, one, two, ...
    candidates.
    """
    candidates, users = len(counts) - 1, int(sum(counts))
    among = tuple((item,) for item in range(candidates))
    question = set_questions.ask_how_many(epsilon, 20, among, paper=paper)
    p, q = question.mechanism.p, question.mechanism.q
    return collected(
        question,
        counts=np.rint(np.array(counts) * (p - q) + users * q).astype(np.int64),
        users=users,
    )


LENGTHS = [20_000, 90_000, 6000, 2000, 0, 0, 0, 0, 3000]


@pytest.mark.parametrize("paper", [False, True])
def test_padding_follows_the_sizes_that_stand_out(paper):
    asked = sizes(LENGTHS, paper=paper)
    found = set_questions.estimate_padding(asked, 0, paper=paper)
    totals = asked.estimate(Address()).totals[1:]
    nobody = asked.estimate(Address()).noise.variances(np.zeros(9), sum(LENGTHS)).max()
    threshold = 2.497705 * np.sqrt(nobody)  # Phi^-1(1 - .05 / 8): nobody counts among the lengths
    expected = fit_padding(totals.tolist(), threshold, guarded=not paper)
    assert replace(found, highest=1.0) == expected
    assert (found.highest == 1.0) == paper
    assert found.length == 2
    exact_sums = {False: (108_000, 2000), True: (132_000, 20_000)}[paper]
    assert found.correction == pytest.approx(
        exact_sums[0] / (exact_sums[0] - exact_sums[1]), rel=1e-3
    )


def test_how_many_covers_none_to_all():
    among = ((0,), (1, 2), (3,))
    plain, published = (
        set_questions.ask_how_many(1.0, 5, among),
        set_questions.ask_how_many(1.0, 5, among, paper=True),
    )
    assert plain.encoding == published.encoding == Size(5, among)
    assert plain.mechanism.size == published.mechanism.size == 4
    assert published.mechanism.kind == "olh"


def test_shares_follow_each_other_without_a_gap():
    shares = (25, 5, 20, 10, 40)
    question = set_questions.ask_which(1.0, 5, 1)
    rounds = [set_questions.round_with_share(number, question, shares) for number in range(5)]
    assert rounds[0].low == 0
    assert rounds[-1].high == exact.UNIT
    assert all(one.high == other.low for one, other in pairwise(rounds))
    assert [one.part(10_000) for one in rounds] == pytest.approx(
        [2500, 500, 2000, 1000, 4000], abs=1
    )


def test_the_estimate_before_the_correction_is_kept():
    raw = Estimate(np.array([40.0, 10.0]), SetNoise.sampled(0.5, 0.1, 2), 100, 1.0, population=200)
    found = set_questions.correct_for_padding(raw, Padding(2, 1.25, confident=True))
    assert found.raw is raw
    assert found.totals == pytest.approx(1.25 * raw.totals)
    moved = (
        0.25 * raw.votes
    ) ** 2  # one factor for all items is right for none: the errors hold the whole move
    assert found.noise.variances(found.votes, 100) == pytest.approx(
        raw.noise.variances(raw.votes, 100) + moved
    )
    assert found.steps == ("times 1.25 for sets of more than 2",)
    assert found.picked(np.array([1])).raw.totals == pytest.approx([20.0])
    assert set_questions.correct_for_padding(raw, Padding(2, 1.0, confident=True)) is raw


def test_the_largest_come_first_and_of_equal_ones_the_first():
    found = Estimate(np.array([3.0, 9.0, 3.0, -1.0]), SetNoise.sampled(0.5, 0.1, 2), 100, 1.0)
    assert set_questions.largest(found, 3).tolist() == [1, 0, 2]
    assert set_questions.largest(found, 9).tolist() == [1, 0, 2, 3]


def test_intervals_hold_what_they_promise_where_sets_fit_the_padding():
    covered, _ = coverage(three_of_eight(4000), length=3)
    assert 0.93 <= covered <= 0.97, covered


def test_intervals_include_who_was_drawn_into_the_group():
    """Everybody holds one item, so that little else is noise; without the drawing too few intervals
    hold.
    """
    covered, without = coverage(
        Baskets.of([1] * 4000, np.repeat(np.arange(8), [1600, 1000, 600] + [160] * 5)), length=1
    )
    # Upper bounds also allow for the memberships that sizes in noise would lose.
    assert 0.93 <= covered <= 0.98, covered
    assert without < 0.9, without


def coverage(people, length, runs=500):
    """How often the intervals of the first three items cover the truth, as stated and without the
    drawing.
    """
    truth, task = people.counts(40)[:3], sv.Task("top", TopItems(range(40), 4), epsilon=4.0)
    covered, without = [], []
    for seed in range(runs):
        answer = sv.simulate(task, people, seed=seed)
        assert answer.details["padded_to"] == length
        estimate = answer.estimate.picked(
            np.array([answer.labels.index(str(item)) for item in range(3)])
        )
        # The first three are always among the top: nothing was selected by noise.
        low, high = replace(estimate, tested=0).interval()
        covered.append((low <= truth) & (truth <= high))
        noise = estimate.scale * np.sqrt(estimate.noise.variances(estimate.votes, estimate.users))
        without.append(np.abs(estimate.totals - truth) <= 1.96 * noise)
    return np.mean(covered), np.mean(without)


def three_of_eight(users):
    """Everybody holds three of the first eight items: 70, 60 and 50 % the first ones, 24 % each of
    the others.
    """
    rng = np.random.default_rng(1)
    held = rng.random((users, 3)) < [0.7, 0.6, 0.5]
    others = np.argsort(rng.random((users, 5)), axis=1)[:, :3] + 3
    rows = [
        [item for item in range(3) if mine[item]] + rest[: 3 - int(mine.sum())].tolist()
        for mine, rest in zip(held, others, strict=True)
    ]
    return Baskets.of([3] * users, np.concatenate(rows))


def test_a_question_about_no_such_item_is_refused():
    with pytest.raises(ParameterError):
        set_questions.ask_which(1.0, 5, 1, ((5,),))
    with pytest.raises(ParameterError):
        set_questions.ask_which(1.0, 5, 0)
    assert isinstance(set_questions.ask_which(1.0, 2, 1), Question)


def test_padding_multiplies_the_influence_of_one_report():
    """A report of a set padded to L counts L times, in a round that stands for all users."""
    task = sv.Task("baskets", sv.TopItems(range(8), 4), epsilon=2.0)
    baskets = [[0, 1, 2], [0, 1], [0]] * 2000
    answer = sv.simulate(task, baskets, seed=1)
    raw = answer.estimate.raw or answer.estimate
    length = answer.details["padded_to"]
    assert length > 1
    single = raw.law.law.cells(1)[0]
    assert raw.law.factor == length
    people = raw.population / raw.users
    assert raw.influence[0].up == pytest.approx(length * people * single.up)
    correction = answer.details["correction"]
    assert answer.estimate.influence[0].up == pytest.approx(
        correction * length * people * single.up
    )


def test_an_item_that_few_were_asked_about_is_exposed_most():
    task = sv.Task("baskets", sv.AdaptiveTopItems(range(6), 6000, 2), epsilon=2.0)
    answer = sv.simulate(task, [[0, 1], [0, 2], [0]] * 2000, seed=1)
    influence = answer.estimate.influence
    single = GRR(2.0, 2).influence
    assert influence.up == pytest.approx(influence.stands_for * single.up)
    assert (influence.stands_for > 1).all()
    low, high = answer.estimate.attacked(0.95, 0.01)
    assert (low < answer.estimate.interval()[0]).all()
    assert (high > answer.estimate.interval()[1]).all()


def test_itemsets_state_the_influence_of_the_round_that_counted_them():
    task = sv.Task("baskets", sv.Itemsets(range(8), 6), epsilon=4.0)
    answer = sv.simulate(task, [[0, 1, 2], [0, 1], [0]] * 3000, seed=1)
    influence = answer.estimate.influence
    assert len(influence.up) == len(answer.labels)
    assert (influence.stands_for > 1).all()
    assert answer.at(0.95, fakes=0.001).rows()[0]["low_attacked"] is not None
