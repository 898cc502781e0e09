"""Counts from several groups: their variance is exact, the drawing of the groups included."""

from itertools import product

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.core.fake_votes import FakeCount
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters.pooling import GroupSumNoise, pooled_estimate

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
    with pytest.raises(ParameterError, match="no known sum"):
        counts.sum(np.array([0, 1]))
    assert counts.sum(np.array([1])).error == pytest.approx(counts.errors[1])
