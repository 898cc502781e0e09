"""What a search follows, and what it finds that the published method loses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import sottovoce as sv
from sottovoce.core.estimate import Estimate
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.lab.aggregate import draw_answer
from sottovoce.lab.baselines.pem import PrefixExtending
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.populations.real_tables import holders, value_counts
from sottovoce.lab.truth.metrics import f1
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters.heavy_hitters import MAX_PREFIXES, HeavyHitters
from sottovoce.plans.heavy_hitters.prefix_search import noise_level, ranked_cells, robust_scores
from sottovoce.tasks.task import Task


@given(some.lists(some.integers(-3, 3), max_size=40), some.randoms())
def test_cells_are_ranked_as_a_stable_sort_ranks_them(votes, dice):
    values = np.array(votes, np.float64)
    cells = np.array(sorted(dice.sample(range(len(votes)), len(votes) // 2)), np.int64)
    order = cells[np.argsort(-values[cells], kind="stable")]
    assert list(ranked_cells(values, cells)) == order.tolist()


def test_many_cells_are_ranked_in_parts_without_a_gap():
    votes = np.random.default_rng(1).integers(0, 50, 20_000).astype(np.float64)
    cells = np.arange(20_000)
    assert list(ranked_cells(votes, cells)) == np.argsort(-votes, kind="stable").tolist()


def test_one_of_the_unheld_candidates_is_expected_to_reach_the_noise_level():
    """Four hundred draws of a thousand unheld candidates; 5 sigma of a Poisson count."""
    mechanism, users = AffinePrefix(1.0, 1 << 20), 50_000
    supports = np.random.default_rng(2).binomial(users, mechanism.q, (400, 1000))
    estimate = mechanism.estimate_counts(supports[0], users)
    votes = (supports - users * mechanism.q) / (mechanism.p - mechanism.q)
    above = np.count_nonzero(votes > noise_level(estimate, 1000))
    print("above the level", above, "expected", 400)
    assert abs(above - 400) < FIVE_SIGMA * 20


def test_a_lead_is_lost_to_as_many_reports_as_move_it():
    mechanism = AffinePrefix(2.0, 1 << 20)
    counts = Estimate(
        np.array([500.0, 300.0, 100.0]),
        mechanism.noise.among(),
        1000,
        2.0,
        law=mechanism.influence_law,
    )
    scores = counts.totals - 50.0
    robust = robust_scores(counts, scores, np.array([0, 1]), 2)
    gain = mechanism.p - mechanism.q
    assert robust.tolist() == pytest.approx([0.4 * gain, 0.2 * gain])


RUNS = 5
PEOPLE = 200_000


def scores(plan, held, epsilon):
    task = Task("words", plan, epsilon)
    truth = sorted(held, key=lambda value: -held[value])[: plan.top]
    return np.array([f1(truth, draw_answer(task, held, seed).labels) for seed in range(RUNS)])


def test_real_words_are_found_that_the_published_method_loses():
    """English words of up to 20 bytes: the difference of F1 is far above 5 sigma of both means."""
    held = holders(value_counts("english_words"), PEOPLE)
    ours = scores(HeavyHitters(Strings(20)), held, 4.0)
    published = scores(PrefixExtending(Strings(20)), held, 4.0)
    error = np.sqrt((ours.var(ddof=1) + published.var(ddof=1)) / RUNS)
    print("F1 ours", ours, "published", published, "sigma", (ours - published).mean() / error)
    assert ours.mean() - published.mean() > max(0.1, FIVE_SIGMA * error)


def crowded(relatives):
    """One value without relatives, and many whose prefixes are each more frequent than it."""
    held = {7 << 40: 9_000}
    for relative in range(relatives):
        beginning = (relative + 40) << 40
        held |= {beginning | low << 20: 2_500 for low in range(4)}
    return held


def test_famous_prefixes_take_no_place_from_a_value_without_relatives():
    """Forty prefixes are more frequent than the value, of which none has a frequent value."""
    held = crowded(40)
    plan = HeavyHitters(Bits(48), 4, queries=1 << 18)
    assert plan.limits.kept < 40 < MAX_PREFIXES
    lonely = plan.domain.label(7 << 40)
    task = Task("values", plan, 6.0)
    assert all(lonely in draw_answer(task, held, seed).labels for seed in range(3))
    published = Task("values", PrefixExtending(Bits(48), 4), 6.0)
    assert not any(lonely in draw_answer(published, held, seed).labels for seed in range(3))


def test_counts_of_known_texts_have_the_stated_errors():
    """Short texts are counted by all later groups: squared errors average to the variance.

    The texts are so frequent that they are found in every run: counts are free of selection.
    """
    held = {"the": 40_000, "of": 30_000, "tempo": 20_000, **{f"w{i}": 10 for i in range(300)}}
    task = Task("words", HeavyHitters(Strings(6), 3, queries=1 << 13), 4.0)
    squares = []
    for seed in range(100):
        answer = draw_answer(task, held, seed)
        rows = zip(answer.labels, answer.estimate.totals, answer.estimate.errors, strict=True)
        squares.append([((total - held[label]) / error) ** 2 for label, total, error in rows])
    ratio = np.mean(squares)
    print("mean square of standardised errors", ratio, "expected 1")
    assert abs(ratio - 1) < FIVE_SIGMA * np.sqrt(2 / 300)
    errors = dict(zip(answer.labels, answer.estimate.errors, strict=True))
    assert errors["of"] < 0.8 * errors["tempo"]


def test_texts_are_found_by_genuine_reports_too():
    words = ["the"] * 4_000 + ["of"] * 3_000 + ["tempo"] * 3_000
    plan = HeavyHitters(Strings(6), 3, queries=1 << 13)
    answer = sv.simulate(Task("words", plan, 6.0), words, seed=1)
    assert sorted(answer.labels) == ["of", "tempo", "the"]
    for label, total, error in zip(
        answer.labels, answer.estimate.totals, answer.estimate.errors, strict=True
    ):
        assert abs(total - words.count(label)) < FIVE_SIGMA * error
