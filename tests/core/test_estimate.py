"""Estimates: intervals, sums, thresholds and the drawing of a group."""

from itertools import product

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.core.influence import AnySetInfluence, Influence
from sottovoce.core.noise import (
    BalancedNoise,
    IndependentNoise,
    SampledNoise,
    SetNoise,
    StatedNoise,
)
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.maths.normal import quantile
from sottovoce.mechanisms.grr import GRR

NOISE = IndependentNoise.of(0.5, 0.2)


def test_an_estimate_without_reports_cannot_exist():
    with pytest.raises(NoDataError):
        Estimate(np.zeros(3), NOISE, 0, 1.0)


def test_a_population_smaller_than_its_group_is_refused():
    with pytest.raises(ParameterError):
        Estimate(np.zeros(3), NOISE, 10, 1.0, population=5)


def test_intervals_of_many_users_are_normal_and_simultaneous_ones_are_wider():
    estimate = Estimate(np.array([1e6, 5e3]), NOISE, 10**8, 1.0)
    low, high = estimate.interval()
    assert (low + high) / 2 == pytest.approx(estimate.totals, abs=0.01 * estimate.errors[0])
    assert (high - low) / 2 == pytest.approx(1.959964 * estimate.errors, rel=1e-3)
    wide = estimate.interval(simultaneous=True)[1]
    reach = (wide - estimate.totals) / estimate.errors
    assert reach == pytest.approx(quantile(1 - 0.05 / 2), rel=1e-3)


def test_intervals_of_picked_values_have_a_false_coverage_rate():
    """Two of fifty: each misses with a probability of 0.05 * 2 / 50."""
    estimate = Estimate(np.linspace(0, 100, 50), NOISE, 500, 1.0)
    picked = estimate.picked(np.array([49, 10]))
    alone = estimate.interval(1 - 0.05 * 2 / 50)
    for bound, plain in zip(picked.interval(0.95), alone, strict=True):
        assert bound == pytest.approx(plain[[49, 10]])
    everywhere = estimate.interval(0.95, simultaneous=True)
    for bound, plain in zip(picked.interval(0.95, simultaneous=True), everywhere, strict=True):
        assert bound == pytest.approx(plain[[49, 10]])


def test_a_group_standing_for_a_population_adds_its_drawing():
    """Wang 2021 with the sampling term: noise Q^2 plus n f (1-f)(Q-1)."""
    whole = Estimate(np.array([300.0, 700.0]), NOISE, 1000, 1.0)
    scaled = whole.of(4000)
    drawing = 4000**2 / 1000 * 3000 / 3999 * 0.3 * 0.7
    assert scaled.totals == pytest.approx([1200, 2800])
    assert scaled.variance == pytest.approx(16 * whole.variance + drawing)
    assert scaled.weighted(np.array([1.0, 0.0])).variance == pytest.approx(scaled.variance[0])


def test_the_sampled_drawing_matches_the_formula():
    """Groups of 500 out of 2,000 people, no noise at all: the spread is the formula's, within five
    sigma.
    """
    rng = np.random.default_rng(5)
    people = np.repeat([1.0, 0.0], [600, 1400])
    silent = IndependentNoise(0.0, 0.0)
    totals = [rng.choice(people, 500, replace=False).sum() * 4 for _ in range(4000)]
    stated = Estimate(np.array([150.0, 350.0]), silent, 500, 1.0, population=2000).variance[0]
    assert np.var(totals) == pytest.approx(stated, rel=5 * np.sqrt(2 / 4000))


def test_the_sum_of_everything_is_exact_where_reports_are_balanced():
    noise = BalancedNoise.subsets(0.6, 8, 2)
    estimate = Estimate(np.array([50.0, 20.0, 40.0, -5.0, 10.0]), noise, 100, 1.0)
    everyone = estimate.sum(np.arange(5))
    assert everyone.total == pytest.approx(100)
    assert everyone.variance == pytest.approx(0, abs=1e-9)
    assert everyone.interval() == pytest.approx((100, 100))


def test_a_sum_of_one_cell_is_that_cell_where_cells_are_independent():
    estimate = Estimate(np.array([50.0, 20.0, 30.0]), NOISE, 100, 1.0)
    cell = estimate.sum(np.array([1]))
    assert (cell.total, cell.variance) == pytest.approx((20, estimate.variance[1]))
    assert cell.error == pytest.approx(estimate.errors[1])


def test_the_threshold_is_that_of_a_value_nobody_holds():
    """It is the least with a tail of at most alpha / d: one support less would be too many."""
    from scipy.stats import binom

    estimate = Estimate(np.zeros(10), NOISE, 1000, 1.0)
    votes = (np.arange(1001) - 1000 * 0.2) / 0.3
    tails = binom.sf(np.arange(1001) - 1, 1000, 0.2)
    reached = votes >= estimate.threshold()
    assert tails[reached].max() <= 0.05 / 10 < tails[~reached].min()
    assert not estimate.significant().any()


@pytest.mark.parametrize(
    "noise", [SetNoise.sampled(0.5, 0.2, 3), StatedNoise(np.array([4.0, 9.0, 1.0]))]
)
def test_items_that_one_person_may_hold_together_have_no_sum(noise):
    estimate = Estimate(np.array([50.0, 20.0, 30.0]), noise, 100, 1.0)
    assert not noise.complete
    with pytest.raises(ParameterError, match=r"several (items|counts)"):
        estimate.sum(np.array([0, 1]))
    assert estimate.sum(np.array([1])).variance == pytest.approx(estimate.variance[1])
    assert estimate.weighted(np.array([0.0, 0.0, 2.0])).variance == pytest.approx(
        4 * estimate.variance[2]
    )


def test_a_stated_variance_is_not_scaled_again():
    estimate = Estimate(np.array([50.0, 20.0]), StatedNoise(np.array([4.0, 9.0])), 100, 1.0)
    assert estimate.variance.tolist() == [4.0, 9.0]


NOISES = [
    IndependentNoise.of(0.5, 0.2),
    BalancedNoise.subsets(0.6, 8, 2),
    BalancedNoise.subsets(0.6, 8, 2).among(),
    SetNoise.sampled(0.5, 0.2, 3),
    StatedNoise(np.array([4.0, 9.0, 1.0, 2.0])),
    SampledNoise(np.arange(20.0).reshape(5, 4) ** 2, floor=1.0, around=np.arange(4.0)),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_picked_candidates_keep_their_totals_and_errors(noise):
    estimate = Estimate(np.array([10.0, 40.0, -3.0, 25.0]), noise, 100, 1.0, population=100)
    places = np.array([3, 1])
    picked = estimate.picked(places)
    assert picked.totals.tolist() == [25.0, 40.0]
    assert picked.variance == pytest.approx(estimate.variance[places])
    assert picked.weighted(np.array([0.0, 1.0])).variance > 0


def test_picking_does_not_change_what_stands_out():
    """Candidates are picked because they are large: the test stays the one over all that were
    tested.
    """
    estimate = Estimate(np.linspace(0, 100, 50), NOISE, 500, 1.0)
    picked = estimate.picked(np.array([49, 48]))
    assert picked.tested == 50
    assert picked.threshold() == pytest.approx(estimate.threshold())
    assert picked.picked(np.array([0])).tested == 50
    assert (
        picked.threshold(tested=2)
        < picked.threshold()
        == pytest.approx(picked.threshold(tested=50))
    )


def test_what_is_picked_is_picked_from_the_raw_estimate_too():
    raw = Estimate(np.array([10.0, 40.0, 25.0]), NOISE, 100, 1.0)
    estimate = Estimate(2 * raw.votes, NOISE, 100, 1.0, steps=("doubled",), raw=raw)
    picked = estimate.picked(np.array([2, 0]))
    assert picked.raw.totals.tolist() == [25.0, 10.0]
    assert picked.raw.tested == 3
    assert picked.threshold() == raw.threshold()


def exposed(**settings):
    """An estimate of three values by 1,000 users whose reports add 3 people and take 1."""
    law = AnySetInfluence(0.5, 0.25)
    votes = np.array([300.0, 200.0, 500.0])
    return Estimate(votes, IndependentNoise.of(0.5, 0.25), 1000, 1.0, law=law, **settings)


def test_a_report_of_a_group_stands_for_its_part_of_the_population():
    free = exposed().of(4000)
    assert free.influence[1] == Influence(12.0, 4.0, 4.0)
    checked = exposed().of(4000, coins_checked=True)
    assert checked.influence[1] == Influence(3.0, 1.0, 1.0)
    total = free.sum(np.array([0]))
    assert total.exposure.influence == Influence(12.0, 4.0, 4.0)
    assert checked.sum(np.array([0])).exposure.influence == Influence(3.0, 1.0, 1.0)


def test_attacked_bounds_of_cells_are_those_of_their_sums():
    estimate = exposed().of(4000)
    low, high = estimate.attacked(0.9, 0.05)
    for cell in range(3):
        alone = estimate.sum(np.array([cell])).attacked(0.9, 0.05)
        assert alone == pytest.approx((low[cell], high[cell]))
    wide = estimate.attacked(0.9, 0.05, simultaneous=True)
    assert (wide[0] < low).all()


def test_an_estimate_without_a_law_has_no_bounds():
    estimate = Estimate(np.array([300.0, 700.0]), NOISE, 1000, 1.0)
    assert estimate.influence is None
    assert estimate.attacked(0.95, 0.01) is None
    assert estimate.sum(np.array([0])).attacked(0.95, 0.01) is None


def test_picked_candidates_keep_their_influence():
    picked = exposed().picked(np.array([2, 0]))
    assert picked.influence[0] == Influence(3.0, 1.0)
    assert len(picked.influence.up) == 2


def without(counts, removed, epsilon=1.0):
    """Return the frequencies of direct response once some reports are left out."""
    left = counts - removed
    return GRR(epsilon, len(counts)).estimate_counts(left, int(left.sum())).frequencies


def test_fewer_false_reports_than_stated_cannot_have_put_a_value_ahead():
    """Exhaustive over direct response: every way to leave out reports, up to the stated share.

    The share that is published, (f - f of the rival) (p - q) / (1 - q), is the twin: with reports
    against the rival fewer liars do it.
    """
    counts = np.array([14, 9, 7])
    mechanism = GRR(1.0, 3)
    estimate = mechanism.estimate_counts(counts, 30)
    (share,) = estimate.robust_ahead(np.array([0]), 1)
    lead = estimate.frequencies[0] - estimate.frequencies[1]
    assert share == pytest.approx(lead * (mechanism.p - mechanism.q))
    fewest = min(
        first + second + third
        for first, second, third in product(range(15), range(10), range(8))
        if first + second + third < 30
        and np.diff(without(counts, np.array([first, second, third])))[0] >= -1e-12
    )
    published = share / (1 - mechanism.q)
    print("fewest", fewest / 30, "stated", share, "published", published)
    assert fewest / 30 == pytest.approx(share), "every report of the first value moves the lead"
    assert published > fewest / 30


def test_a_value_stays_above_a_share_until_so_many_reports_are_left_out():
    """Exhaustive over direct response, and 0 for a value that is below."""
    counts = np.array([18, 8, 4])
    estimate = GRR(2.0, 3).estimate_counts(counts, 30)
    share = estimate.robust_above(0.3)
    fewest = min(
        removed
        for removed in range(19)
        if without(counts, np.array([removed, 0, 0]), 2.0)[0] <= 0.3
    )
    print("fewest", fewest, "stated", share * 30)
    assert fewest - 1 < share[0] * 30 <= fewest
    assert share[2] == 0


def test_a_report_that_may_choose_its_group_does_as_much_for_all_its_people():
    law = AnySetInfluence(0.5, 0.25)
    votes = np.array([40.0, 10.0])
    noise = IndependentNoise.of(0.5, 0.25)
    free = Estimate(votes, noise, 100, 1.0, law=law).of(400)
    dealt = Estimate(votes, noise, 100, 1.0, law=law).of(400, coins_checked=True)
    assert free.robust_ahead(np.array([0]), 1) == pytest.approx([0.3 * 0.25 / 4])
    assert dealt.robust_ahead(np.array([0]), 1) == pytest.approx([0.3 * 0.25])
