"""Counts from several groups: their variance is exact, the drawing of the groups included."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multivariate_hypergeom, norm

from sottovoce.answers.answer import Answer
from sottovoce.core.estimate import Estimate
from sottovoce.core.fake_count import FakeCount
from sottovoce.core.noise import Noise
from sottovoce.core.support_law import Sampled, SupportLaw
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters.pooling import (
    GroupSumNoise,
    pooled_estimate,
    pooled_support_law,
)

SHORT, LONG = AffinePrefix(1.5, 1 << 3), AffinePrefix(1.5, 1 << 5)
HOLDERS, PEOPLE = 3, 5
SIZES = (1, 2, 2)  # users of three groups: the value is known in the last two


def moments(mechanism, holds):
    """The mean and the variance of one vote."""
    supports = mechanism.p if holds else mechanism.q
    gain = mechanism.p - mechanism.q
    return (supports - mechanism.q) / gain, supports * (1 - supports) / gain**2


def enumerated(drawing=True):
    """Mean and variance of the pooled count over every way to deal the people to the groups.

    Given the deal the votes are independent, so that their moments add up.  Without ``drawing`` the
    groups are always the same.
    """
    mechanisms = {1: SHORT, 2: LONG}
    deals = []
    for dealt in product(range(3), repeat=PEOPLE):
        sizes = tuple(dealt.count(group) for group in range(3))
        if sizes == SIZES:
            deals.append(dealt)
    if not drawing:
        deals = deals[:1]
    means, variances = [], []
    for dealt in deals:
        votes = [
            moments(mechanisms[group], person < HOLDERS)
            for person, group in enumerate(dealt)
            if group >= 1
        ]
        scale = PEOPLE / len(votes)
        means.append(scale * sum(mean for mean, _ in votes))
        variances.append(scale**2 * sum(variance for _, variance in votes))
    return np.mean(means), np.mean(variances) + np.var(means)


def stated():
    noise = GroupSumNoise(
        (SHORT.noise.among(), SHORT.noise.among(), LONG.noise.among()),
        np.array(SIZES),
        np.array([1]),
    )
    return noise.variances(np.array([float(HOLDERS)]), PEOPLE)[0]


def test_the_stated_variance_is_that_of_every_deal_and_every_report():
    mean, variance = enumerated()
    assert mean == pytest.approx(HOLDERS, rel=1e-12)
    assert stated() == pytest.approx(variance, rel=1e-12)


def test_the_enumeration_catches_a_variance_without_the_drawing_of_groups():
    assert enumerated(drawing=False)[1] != pytest.approx(stated(), rel=1e-3)


def group(mechanism, votes, users, population):
    noise = mechanism.noise.among()
    estimate = Estimate(np.array(votes), noise, users, 1.5, law=mechanism.influence_law)
    return estimate.of(population)


def test_votes_before_the_first_group_do_not_count():
    groups = [group(SHORT, [0.0], 10, 60), group(SHORT, [0.0], 20, 60), group(LONG, [0.0], 30, 60)]
    votes = np.array([[4.0, 99.0], [5.0, 6.0], [7.0, 8.0]])
    counts = pooled_estimate(votes, np.array([0, 1]), groups)
    assert counts.totals.tolist() == pytest.approx([4 + 5 + 7, 60 / 50 * (6 + 8)])
    assert counts.population == 60
    assert counts.errors[0] < counts.errors[1]
    assert counts.picked(np.array([1])).errors[0] == pytest.approx(counts.errors[1])


def test_one_group_alone_has_the_errors_of_its_own_estimate():
    alone = group(LONG, [7.0], 30, 60)
    first = group(SHORT, [0.0], 30, 60)
    counts = pooled_estimate(np.array([[0.0], [7.0]]), np.array([1]), [first, alone])
    assert counts.totals[0] == pytest.approx(alone.totals[0])
    assert counts.errors[0] == pytest.approx(alone.errors[0], rel=1e-12)
    assert counts.influence.up[0] == pytest.approx(alone.influence.up[0])


def test_fakes_of_every_group_are_in_the_error():
    people = group(LONG, [7.0], 30, 60)
    fakes = LONG.fake_votes(FakeCount(10.0, 2.0))
    mixed = fakes.removed_from(group(LONG, [7.0], 40, 40)).of(60)
    plain = pooled_estimate(np.array([[7.0], [7.0]]), np.array([0]), [people, people])
    noisy = pooled_estimate(np.array([[7.0], [7.0]]), np.array([0]), [people, mixed])
    assert noisy.errors[0] > plain.errors[0]


def test_sums_of_counts_from_different_groups_are_refused():
    groups = [group(SHORT, [0.0], 10, 30), group(LONG, [0.0], 20, 30)]
    counts = pooled_estimate(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]), groups)
    with pytest.raises(ParameterError, match="sum of counts from different groups is not known"):
        counts.sum(np.array([0, 1]))
    assert counts.sum(np.array([1])).error == pytest.approx(counts.errors[1])


# --- the law of supports ----------------------------------------------------------------------

# Bits of the prefixes of two groups: as in searches, and so short that p and q differ.
LENGTHS = [(16, 32), (17, 33), (8, 24), (9, 10), (4, 20), (2, 3)]
EPSILONS = [0.5, 1.0, 2.0, 4.0, 8.0, 10.0]
TAILS = [0.05, 1e-3, 1e-6]


def noise_of(mechanisms, sizes, first, cells=1):
    laws = tuple(mechanism.noise.among() for mechanism in mechanisms)
    return GroupSumNoise(laws, np.array(sizes), np.full(cells, first))


def supports_of(mechanism, users, holders):
    """The probability of every number of supports in one group."""
    own = binom.pmf(np.arange(holders + 1), holders, mechanism.p)
    others = binom.pmf(np.arange(users - holders + 1), users - holders, mechanism.q)
    return np.convolve(own, others)


def votes_of(mechanism, users):
    return (np.arange(users + 1) - users * mechanism.q) / (mechanism.p - mechanism.q)


def unheld_law(mechanisms, sizes):
    """Every sum of the votes of all groups for a value that nobody holds, with its probability."""
    votes = np.zeros(1)
    chances = np.ones(1)
    for mechanism, users in zip(mechanisms, sizes, strict=True):
        votes = np.add.outer(votes, votes_of(mechanism, users)).ravel()
        chances = np.outer(chances, supports_of(mechanism, users, 0)).ravel()
    return votes, chances


@pytest.mark.parametrize("bits", LENGTHS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sizes", [(30, 60), (300, 200)])
def test_an_unheld_value_passes_the_threshold_as_seldom_as_stated(epsilon, bits, sizes):
    """By enumeration of the supports in both groups."""
    mechanisms = [AffinePrefix(epsilon, 1 << length) for length in bits]
    votes, chances = unheld_law(mechanisms, sizes)
    noise = noise_of(mechanisms, sizes, 0)
    for tail in TAILS:
        threshold = noise.unheld_votes(np.zeros(1), sum(sizes), tail)[0]
        assert chances[votes >= threshold].sum() <= tail


@pytest.mark.parametrize("epsilon", [4.0, 8.0])
def test_an_unheld_value_passes_a_normal_threshold_ten_times_as_often(epsilon):
    """The broken twin: the normal law with the right variance."""
    mechanisms = [AffinePrefix(epsilon, 1 << 16), AffinePrefix(epsilon, 1 << 32)]
    votes, chances = unheld_law(mechanisms, (300, 600))
    noise = noise_of(mechanisms, (300, 600), 0)
    threshold = Noise.unheld_votes(noise, np.zeros(1), 900, 1e-6)[0]
    assert threshold == pytest.approx(
        norm.isf(1e-6) * np.sqrt(noise.variances(np.zeros(1), 900)[0])
    )
    assert chances[votes >= threshold].sum() > 1e-5


def test_groups_that_are_alike_have_the_binomial_law_of_all_their_users():
    laws = [SupportLaw(0.5, 0.125), SupportLaw(0.5, 0.125)]
    pooled = pooled_support_law(laws, np.array([70, 30]))
    assert (pooled.p, pooled.q) == (0.5, 0.125)
    threshold = pooled.unheld_votes(1e-4, 100)
    assert threshold == SupportLaw(0.5, 0.125).unheld_votes(1e-4, 100)
    least = int(np.ceil(pooled.supports(np.array(threshold), 100)))
    assert binom.sf(least - 1, 100, 0.125) <= 1e-4 < binom.sf(least - 2, 100, 0.125)


def test_groups_of_long_prefixes_have_nearly_the_threshold_of_groups_that_are_alike():
    """The second bound, which holds however groups differ, would be higher by a twentieth."""
    sizes = np.array([300_000, 600_000])
    short, long = (AffinePrefix(2.0, 1 << length).noise.supports for length in (17, 33))
    threshold = pooled_support_law([short, long], sizes).unheld_votes(1e-6, 900_000)
    alike = pooled_support_law([long, long], sizes).unheld_votes(1e-6, 900_000)
    assert threshold == pytest.approx(alike, rel=2e-3)


def worst_coverages(epsilon, bits, sizes):
    """The least coverage of 95 % intervals over all numbers of holders: exact and normal.

    Every way to deal the holders to three groups is enumerated; the last two know the value.
    """
    people = sum(sizes)
    mechanisms = [AffinePrefix(epsilon, 1 << length) for length in bits]
    scale = people / (sizes[1] + sizes[2])
    sums = np.add.outer(votes_of(mechanisms[1], sizes[1]), votes_of(mechanisms[2], sizes[2]))
    votes = scale * sums.ravel()
    noise = noise_of(mechanisms, sizes, 1, len(votes))
    everybody = Sampled(people, people)
    both = [noise.bounds(votes, everybody, 0.025), Noise.bounds(noise, votes, everybody, 0.025)]
    worst = [1.0, 1.0]
    for holders in range(people + 1):
        chances = law_of_holders(mechanisms, sizes, holders)
        for kind, (low, high) in enumerate(both):
            inside = (low <= holders + 1e-9) & (holders - 1e-9 <= high)
            worst[kind] = min(worst[kind], chances[inside].sum())
    return worst


def law_of_holders(mechanisms, sizes, holders):
    """The probability of all supports in the last two groups if so many people hold the value."""
    chances = np.zeros((sizes[1] + 1) * (sizes[2] + 1))
    for middle, last in product(range(sizes[1] + 1), range(sizes[2] + 1)):
        first = holders - middle - last
        if not 0 <= first <= sizes[0]:
            continue
        dealt = multivariate_hypergeom.pmf([first, middle, last], sizes, holders)
        parts = (
            supports_of(mechanisms[1], sizes[1], middle),
            supports_of(mechanisms[2], sizes[2], last),
        )
        chances += dealt * np.outer(*parts).ravel()
    return chances


@pytest.mark.parametrize("bits", [(4, 8, 24), (8, 16, 32)])
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 8.0])
def test_intervals_cover_however_the_holders_are_dealt(epsilon, bits):
    exact, normal = worst_coverages(epsilon, bits, (4, 6, 8))
    assert exact >= 0.95
    assert normal < 0.95  # the broken twin


def test_the_threshold_of_each_value_is_that_of_the_users_who_reported_it():
    mechanisms = [SHORT, LONG]
    noise = GroupSumNoise(
        tuple(mechanism.noise.among() for mechanism in mechanisms),
        np.array([400, 600]),
        np.array([0, 1, 0]),
    )
    limits = noise.unheld_votes(np.zeros(3), 1000, 1e-3)
    both = noise.support_law(0).unheld_votes(1e-3, 1000)
    last = LONG.noise.supports.unheld_votes(1e-3, 600) * 1000 / 600
    assert limits.tolist() == pytest.approx([both, last, both])


def test_one_group_alone_has_the_bounds_of_its_own_estimate():
    alone = group(LONG, [7.0, 90.0], 300, 600)
    first = group(SHORT, [0.0], 300, 600)
    votes = np.array([[0.0, 0.0], [7.0, 90.0]])
    counts = pooled_estimate(votes, np.array([1, 1]), [first, alone])
    for own, pooled in zip(alone.interval(0.95), counts.interval(0.95), strict=True):
        assert pooled == pytest.approx(own, rel=1e-6)
    assert counts.threshold() == pytest.approx(alone.threshold(), rel=1e-9)


def test_fakes_count_among_the_supports():
    """By enumeration of the supports of people and of fakes."""
    sizes, fakes = (40, 60), (20, 30)
    mechanisms = [AffinePrefix(4.0, 1 << 16), AffinePrefix(4.0, 1 << 32)]
    groups = []
    chances = np.ones(1)
    for mechanism, users, added in zip(mechanisms, sizes, fakes, strict=True):
        votes = mechanism.fake_votes(FakeCount(float(added)))
        groups.append(votes.removed_from(group(mechanism, [0.0], users + added, users + added)))
        chances = np.convolve(chances, supports_of(mechanism, users, 0))
        chances = np.convolve(chances, binom.pmf(np.arange(added + 1), added, mechanism.share))
    noise = GroupSumNoise(tuple(each.noise for each in groups), np.array(sizes), np.array([0]))
    law = noise.support_law(0)
    assert law.fake_count == FakeCount(50.0)
    for tail in TAILS:
        threshold = noise.unheld_votes(np.zeros(1), 100, tail)
        least = int(np.ceil(law.supports(threshold, 100)[0]))
        # The tail of the law with fakes is a saddlepoint approximation: see ``maths/coin_sums``.
        assert chances[least:].sum() <= 1.02 * tail
        assert chances[least - 1 :].sum() > 0.98 * tail


def test_a_group_whose_law_is_not_known_leaves_the_normal_law():
    known = LONG.noise.among()
    unknown = GroupSumNoise((known,), np.array([5]), np.array([0]))
    noise = GroupSumNoise((known, unknown), np.array([5, 5]), np.array([0]))
    assert noise.support_law(0) is None
    normal = Noise.unheld_votes(noise, np.zeros(1), 10, 0.01)
    assert noise.unheld_votes(np.zeros(1), 10, 0.01).tolist() == normal.tolist()


def test_counts_of_different_groups_are_put_into_no_bands():
    """Found values may be neighbouring numbers; nobody knows the error of their sum."""
    alone = group(LONG, np.zeros(40), 300, 600)
    first = group(SHORT, np.zeros(40), 300, 600)
    votes = np.zeros((2, 40))
    counts = pooled_estimate(votes, np.ones(40, int), [first, alone])
    answer = Answer("values", tuple(map(str, range(40))), counts, "affine_prefix")
    assert not counts.noise.has_sums
    assert answer.bands(10) == answer.rows()
    with pytest.raises(ParameterError, match="sum of counts from different groups"):
        counts.noise.linear(np.ones(40), votes[1], 600)
