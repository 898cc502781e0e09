"""Drawn collections against genuine ones: the same plan, the same laws."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.fake_count import FakeCount
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab import aggregate
from sottovoce.lab.aggregate import DrawnCollected
from sottovoce.lab.aggregate import draw_answer as drawn
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.truth.metrics import f1
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task
from tasks.toys import shuffle

RUNS = 500
COLLECTIONS = 12_000
# Two groups with so much epsilon that the three values are found in every run: their totals are
# free of selection.
CLEAR = Task("clear", HeavyHitters(Bits(8), 4, groups=2), epsilon=7.0)
CLEAR_HELD = {3: 900, 100: 600, 200: 500}
CLEAR_LABELS = [CLEAR.plan.domain.label(value) for value in CLEAR_HELD]
# So little epsilon that more than half is missed.
NOISY = Task("noisy", HeavyHitters(Bits(8), 4, groups=2), epsilon=1.0)
NOISY_HELD = {11 * rank: 400 // (rank + 1) for rank in range(20)}


def genuine(task, held, runs=RUNS):
    """One answer after another, every report made by the clients' own code."""
    values = np.repeat(list(held), list(held.values()))
    return [sv.simulate(task, values, seed=run) for run in range(runs)]


def quick(task, held):
    return [drawn(task, held, run) for run in range(RUNS)]


def totals(answers):
    """(runs, values): what is estimated for the three clear values."""
    found = [dict(zip(answer.labels, answer.estimate.totals, strict=True)) for answer in answers]
    return np.array(
        [[one[CLEAR.plan.domain.label(value)] for value in CLEAR_HELD] for one in found]
    )


def scores(answers):
    """(runs, 1): F1 of the noisy searches."""
    truth = [NOISY.plan.domain.label(value) for value in list(NOISY_HELD)[:4]]
    return np.array([[f1(truth, answer.labels)] for answer in answers])


def sigmas_apart(these, those):
    """(2, columns): how many standard errors the means and the variances of two samples lie
    apart.
    """
    return np.array(
        [
            _distance(these, those),
            _distance(*((one - one.mean(axis=0)) ** 2 for one in (these, those))),
        ]
    )


def _distance(these, those):
    sigma = np.sqrt(these.var(axis=0) / len(these) + those.var(axis=0) / len(those))
    return np.abs(these.mean(axis=0) - those.mean(axis=0)) / sigma


@pytest.fixture(scope="module")
def clear():
    return totals(genuine(CLEAR, CLEAR_HELD))


@pytest.fixture(scope="module")
def noisy():
    return scores(genuine(NOISY, NOISY_HELD))


def test_drawn_totals_have_the_law_of_genuine_ones(clear):
    distances = sigmas_apart(totals(quick(CLEAR, CLEAR_HELD)), clear)
    print("sigma between means, between variances", distances)
    assert distances.max() < FIVE_SIGMA


@pytest.mark.parametrize("source", ["genuine", "drawn"])
def test_totals_have_the_variance_of_theory(source, clear):
    """Noise of the last group scaled up, and the drawing of that group."""
    sample = clear if source == "genuine" else totals(quick(CLEAR, CLEAR_HELD))
    held = np.array(list(CLEAR_HELD.values()))
    users, noise = held.sum(), AffinePrefix(7.0, 1 << 8).noise
    expected = 2 * (users * noise.unheld + held * noise.held) + held * (1 - held / users)
    assert (np.abs(sample.mean(axis=0) - held) < FIVE_SIGMA * np.sqrt(expected / RUNS)).all()
    assert (np.abs(sample.var(axis=0) / expected - 1) < FIVE_SIGMA * sqrt(2 / RUNS)).all()


def test_drawn_searches_find_as_much_as_genuine_ones(noisy):
    found = scores(quick(NOISY, NOISY_HELD))
    distances = sigmas_apart(found, noisy)
    print(
        "F1 drawn",
        found.mean(),
        "genuine",
        noisy.mean(),
        "sigma between means and variances",
        distances.ravel(),
    )
    assert 0.2 < noisy.mean() < 0.6
    assert distances.max() < FIVE_SIGMA


class Spared(DrawnCollected):
    """A broken twin: every group gets its exact share of the holders of every value."""

    @property
    def groups(self):
        return np.stack([self.counts // 2, self.counts // 2])


class Shifted(DrawnCollected):
    """A broken twin: others support a value twice as often as the estimator takes off."""

    def supports(self, mechanism, held, users, rng):
        return rng.binomial(held, mechanism.p) + rng.binomial(users - held, 2 * mechanism.q)


class Quiet(DrawnCollected):
    """A broken twin: counts without their noise."""

    def supports(self, mechanism, held, users, rng):
        return np.rint(held * mechanism.p + (users - held) * mechanism.q).astype(np.int64)


def test_groups_without_chance_are_caught(clear, monkeypatch):
    monkeypatch.setattr(aggregate, "DrawnCollected", Spared)
    means, variances = sigmas_apart(totals(quick(CLEAR, CLEAR_HELD)), clear)
    assert means.max() < FIVE_SIGMA < variances.max()


def test_another_q_is_caught(clear, monkeypatch):
    monkeypatch.setattr(aggregate, "DrawnCollected", Shifted)
    assert sigmas_apart(totals(quick(CLEAR, CLEAR_HELD)), clear)[0].max() > FIVE_SIGMA


def test_missing_noise_is_caught_by_what_is_found(noisy, monkeypatch):
    monkeypatch.setattr(aggregate, "DrawnCollected", Quiet)
    assert sigmas_apart(scores(quick(NOISY, NOISY_HELD)), noisy)[0].max() > FIVE_SIGMA


def test_the_same_seed_gives_the_same_answer_and_the_same_question_too():
    first, again = (drawn(NOISY, NOISY_HELD, 7) for _ in range(2))
    assert first.to_dict() == again.to_dict()
    collected = DrawnCollected(
        NOISY, tuple(NOISY_HELD), np.array(list(NOISY_HELD.values())), start=7
    )
    blocks = Blocks((0, 1), 4)
    one, other = (collected.estimate(Address(0, 0), blocks) for _ in range(2))
    assert one.totals.tolist() == other.totals.tolist()


def test_groups_are_a_split_of_everybody():
    collected = DrawnCollected(
        NOISY, tuple(NOISY_HELD), np.array(list(NOISY_HELD.values())), start=1
    )
    assert collected.groups.shape == (2, len(NOISY_HELD))
    assert collected.groups.sum(axis=0).tolist() == list(NOISY_HELD.values())
    sizes = [
        collected.estimate(Address(0, group), Blocks((0,), 5 + 3 * group)).users
        for group in range(2)
    ]
    assert sum(sizes) == collected.users(0) == sum(NOISY_HELD.values())


def test_texts_and_values_of_many_words_are_drawn_too():
    task = Task("texts", HeavyHitters(Strings(12), 2), epsilon=6.0)
    found = drawn(task, {"sottovoce": 30_000, "pianissimo": 20_000, "tacet": 10}, seed=1)
    assert found.labels == ("sottovoce", "pianissimo")


def test_what_has_no_drawn_law_is_refused():
    with pytest.raises(ParameterError):
        drawn(Task("plain", sv.Histogram(range(4)), epsilon=1.0), {1: 10}, seed=0)
    with pytest.raises(NoDataError, match="nobody"):
        drawn(NOISY, {1: 0}, seed=0)
    collected = DrawnCollected(NOISY, (1,), np.array([10]), start=0)
    with pytest.raises(ParameterError):
        collected.estimate(Address(0, 0))


def test_listed_candidates_are_drawn_from_the_same_law():
    """Three listed values, 400 draws each; means within 5 sigma of the holders in the group."""
    counts = np.array([5_000, 100, 900])
    errors = []
    for start in range(400):
        collected = DrawnCollected(NOISY, (3, 7, 200), counts, start)
        estimate = collected.estimate(Address(0, 1), np.array([3, 200, 9]))
        held = collected.groups[1][[0, 2]].tolist()
        errors.append(estimate.votes - [*held, 0])
    variances = AffinePrefix(1.0, 1 << 8).noise.unheld * 3_000
    assert (np.abs(np.mean(errors, axis=0)) < FIVE_SIGMA * np.sqrt(1.5 * variances / 400)).all()


def test_counts_of_many_cells_have_the_binomial_law():
    """Counts of 2^16 unheld cells: mean and variance within 5 sigma."""
    plan = HeavyHitters(Bits(16), 4, groups=1)
    collected = DrawnCollected(Task("many", plan, 1.0), (3,), np.array([20_000]), start=5)
    estimate = collected.estimate(Address(0, 0), Blocks((0,), 16))
    votes = np.delete(estimate.votes, 3)
    expected = estimate.noise.variances(np.zeros(1), 20_000)[0]
    assert abs(votes.mean()) < FIVE_SIGMA * np.sqrt(expected / len(votes))
    assert abs(votes.var() / expected - 1) < FIVE_SIGMA * np.sqrt(2 / len(votes))


# --- fakes of shufflers ---

BLANKETS = [GRR(2.0, 4), OUE(2.0, 4), OLH(2.0, 4, 4)]
FAKED_RUNS = 200
FAKED = replace(CLEAR, name="faked", shuffle=shuffle(7.0, fakes=1_500, hops=2))


def errors_of(answer):
    """The stated errors of the three clear values."""
    stated = dict(zip(answer.labels, answer.estimate.errors, strict=True))
    return [stated[label] for label in CLEAR_LABELS]


def test_a_search_with_more_fakes_than_people_is_unbiased_and_drawn_as_genuine_ones():
    """The same plan, genuine reports against drawn counts; both against the truth and the stated
    errors.
    """
    real = totals(genuine(FAKED, CLEAR_HELD, FAKED_RUNS))
    answers = quick(FAKED, CLEAR_HELD)
    fast = totals(answers)
    assert (sigmas_apart(real, fast) < FIVE_SIGMA).all()
    truth = np.array(list(CLEAR_HELD.values()))
    errors = np.array([errors_of(answer) for answer in answers])
    for drawn_totals in (real, fast):
        runs = len(drawn_totals)
        sigmas = (drawn_totals.mean(axis=0) - truth) / (errors.mean(axis=0) / sqrt(runs))
        ratios = drawn_totals.var(axis=0) / (errors**2).mean(axis=0)
        print("means off by", sigmas, "sigma; variance over the stated one", ratios)
        assert np.abs(sigmas).max() < FIVE_SIGMA
        assert np.abs(ratios - 1).max() < FIVE_SIGMA * sqrt(2 / runs)
    assert answers[0].guarantee.shuffled.users == (2_000,)


def interval_of_people(mechanism, supports, fakes, users, chosen):
    """Return the 95 % interval of a sum of values, of people alone."""
    coefficients = np.zeros(mechanism.size)
    coefficients[chosen] = 1.0
    estimate = mechanism.estimate_counts(supports, users + fakes)
    people = mechanism.fake_votes(FakeCount(float(fakes))).removed_from(estimate)
    return people.weighted(coefficients).interval(0.95)


def covered(mechanism, truth, fakes, chosen):
    """Return how often 95 % intervals of a sum of values cover it, over many collections.

    An interval is computed once for all collections in which these values have the same supports;
    that the supports of others do not matter is checked on some of them.
    """
    users = int(truth.sum())
    drawn = np.array(list(aggregate.collections(mechanism, truth, COLLECTIONS, 7, fakes)))
    _, first, repeated = np.unique(drawn[:, chosen], axis=0, return_index=True, return_inverse=True)
    intervals = np.array(
        [interval_of_people(mechanism, row, fakes, users, chosen) for row in drawn[first]]
    )[repeated]
    for row, interval in zip(drawn[:50], intervals[:50], strict=True):
        assert interval_of_people(mechanism, row, fakes, users, chosen) == tuple(interval)
    low, high = intervals.T
    held = truth[chosen].sum()
    return float(((low <= held) & (held <= high)).mean())


@pytest.mark.parametrize("chosen", [[0], [7], [0, 3]])
def test_intervals_with_many_fakes_cover(chosen):
    """Direct response, ten times as many fakes as people, 12,000 collections."""
    truth = np.array([900, 500, 300, 150, 100, 50, 0, 0])
    rate = covered(GRR(4.0, 8), truth, 20_000, chosen)
    print("coverage", rate)
    assert 0.94 < rate < 0.96


def test_intervals_that_forget_the_spread_of_fakes_do_not_cover():
    """A broken twin: the noise law of people alone."""
    mechanism, fakes = GRR(4.0, 8), 20_000
    truth = np.array([900, 500, 300, 150, 100, 50, 0, 0])
    hits = 0
    for supports in aggregate.collections(mechanism, truth, 1_000, 7, fakes):
        estimate = mechanism.estimate_counts(supports, 2_000 + fakes)
        people = mechanism.fake_votes(FakeCount(float(fakes))).removed_from(estimate)
        low, high = replace(people, noise=mechanism.noise).interval(0.95)
        hits += bool(low[0] <= 900 <= high[0])
    assert hits / 1_000 < 0.6


@pytest.mark.parametrize("held", [0, 40, 700])
def test_intervals_of_affine_response_with_fakes_cover(held):
    """The exact law of one value's supports, people and fakes together; 20,000 collections."""
    mechanism, users, fakes = AffineResponse(3.0, 1000), 2_000, 6_000
    generator = np.random.default_rng(8)
    shape = 20_000
    supports = (
        generator.binomial(held, mechanism.p, shape)
        + generator.binomial(users - held, mechanism.q, shape)
        + generator.binomial(fakes, mechanism.share, shape)
    )
    estimate = mechanism.estimate_counts(supports, users + fakes)
    estimate = replace(estimate, noise=mechanism.noise.among())
    people = mechanism.fake_votes(FakeCount(float(fakes))).removed_from(estimate)
    low, high = people.interval(0.95)
    rate = float(((low <= held) & (held <= high)).mean())
    print("coverage", rate)
    assert 0.94 < rate < 0.96


@pytest.mark.parametrize("mechanism", BLANKETS, ids=lambda mechanism: mechanism.kind)
def test_collections_with_fakes_have_the_supports_of_people_and_blanket(mechanism):
    truth = np.array([60, 30, 10, 0])
    drawn_supports = np.array(list(aggregate.collections(mechanism, truth, 2_000, 9, fakes=200)))
    expected = truth * mechanism.p + (100 - truth) * mechanism.q + 200 * mechanism.share
    variances = truth * mechanism.p * (1 - mechanism.p)
    variances = variances + (100 - truth) * mechanism.q * (1 - mechanism.q)
    variances = variances + 200 * mechanism.share * (1 - mechanism.share)
    sigmas = (drawn_supports.mean(axis=0) - expected) / np.sqrt(variances / 2_000)
    assert np.abs(sigmas).max() < FIVE_SIGMA
    ratios = drawn_supports.var(axis=0) / variances
    assert np.abs(ratios - 1).max() < FIVE_SIGMA * sqrt(2 / 2_000)
