"""The law of supports: thresholds and intervals, by enumeration of every count."""

import numpy as np
import pytest
from scipy.stats import binom, hypergeom, norm

from sottovoce.core.support_law import Sampled, SupportLaw
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE

MECHANISMS = [
    OUE(0.5, 50),
    OUE(4.0, 50),
    OUE(8.0, 50),
    GRR(1.0, 4),
    GRR(4.0, 4),
    AffineResponse(2.0, 1000),
    AffineResponse(8.0, 1000),
]
NAMES = [f"{mechanism.kind}-{mechanism.epsilon:g}" for mechanism in MECHANISMS]


def held_law(law, holders, users):
    """The probability of every number of supports if so many of the users hold the value."""
    own = binom.pmf(np.arange(holders + 1), holders, law.p)
    others = binom.pmf(np.arange(users - holders + 1), users - holders, law.q)
    return np.convolve(own, others)


def all_votes(law, users):
    return np.array([law.votes(count, users) for count in range(users + 1)])


def normal_bounds(law, votes, users, tail):
    """The broken twin: a normal interval with the plugged-in variance."""
    rate = law.q * (1 - law.q) / law.gap**2
    variance = users * rate + np.clip(votes, 0, users) * (1 - law.p - law.q) / law.gap
    half_width = norm.isf(tail) * np.sqrt(variance)
    return votes - half_width, votes + half_width


def worst_coverage(law, users, bounds):
    """The least coverage over all numbers of holders, exactly."""
    low, high = bounds
    chances = []
    for holders in range(users + 1):
        covered = (low <= holders + 1e-9) & (holders - 1e-9 <= high)
        chances.append(held_law(law, holders, users)[covered].sum())
    return min(chances)


@pytest.mark.parametrize("users", [10, 60])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=NAMES)
def test_intervals_cover_whatever_the_count(mechanism, users):
    law = SupportLaw(mechanism.p, mechanism.q)
    votes = all_votes(law, users)
    for level in (0.8, 0.95, 0.999):
        tail = (1 - level) / 2
        bounds = law.bounds(votes, Sampled(users, users), tail)
        covered = worst_coverage(law, users, bounds)
        assert covered >= level, (level, covered)


def test_normal_intervals_cover_half_the_time_where_supports_are_rare():
    """The broken twin, at epsilon 8 with 60 users."""
    law = SupportLaw(OUE(8.0, 50).p, OUE(8.0, 50).q)
    votes = all_votes(law, 60)
    assert worst_coverage(law, 60, normal_bounds(law, votes, 60, 0.025)) < 0.55


def test_intervals_of_many_users_are_as_long_as_normal_ones():
    law = SupportLaw(OUE(1.0, 50).p, OUE(1.0, 50).q)
    votes = np.array([0.0, 1e5, 5e5])
    low, high = law.bounds(votes, Sampled(10**6, 10**6), 0.025)
    twin_low, twin_high = normal_bounds(law, votes, 10**6, 0.025)
    assert high - low == pytest.approx(twin_high - twin_low, rel=2e-3)


def test_intervals_of_a_group_cover_its_population():
    """40 of 120 people report: holders among them follow the hypergeometric law."""
    law = SupportLaw(OUE(4.0, 50).p, OUE(4.0, 50).q)
    users, population = 40, 120
    low, high = law.bounds(all_votes(law, users), Sampled(users, population), 0.025)
    scale = population / users
    worst = 1.0
    for holders in range(0, population + 1, 4):
        drawn = np.arange(max(0, holders + users - population), min(holders, users) + 1)
        chances = hypergeom.pmf(drawn, population, holders, users)
        supports = sum(
            chance * held_law(law, count, users)
            for chance, count in zip(chances, drawn.tolist(), strict=True)
        )
        covered = (scale * low <= holders + 1e-9) & (holders - 1e-9 <= scale * high)
        worst = min(worst, supports[covered].sum())
    assert worst >= 0.95


@pytest.mark.parametrize("users", [10, 100, 1000])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=NAMES)
def test_the_threshold_is_the_least_with_the_tail(mechanism, users):
    law = SupportLaw(mechanism.p, mechanism.q)
    tail = 0.05 / 5000
    votes = all_votes(law, users)
    tails = binom.sf(np.arange(users + 1) - 1, users, law.q)
    reached = votes >= law.unheld_votes(tail, users)
    assert not reached.any() or tails[reached].max() <= tail
    assert tails[~reached].min() > tail


def test_a_normal_threshold_lets_noise_through_in_nearly_every_collection():
    """The broken twin: 5,000 values, 100 users, epsilon 4; one false finding in 20 is promised."""
    mechanism = OUE(4.0, 5000)
    law = SupportLaw(mechanism.p, mechanism.q)
    tail = 0.05 / 5000
    exact = binom.sf(np.ceil(law.supports(law.unheld_votes(tail, 100), 100)) - 1, 100, law.q)
    normal = norm.isf(tail) * np.sqrt(100 * law.q * (1 - law.q))
    twin = binom.sf(np.ceil(100 * law.q + normal) - 1, 100, law.q)
    assert 1 - (1 - exact) ** 5000 <= 0.05
    assert 1 - (1 - twin) ** 5000 > 0.9


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=NAMES)
def test_the_law_follows_from_the_variance_of_its_votes(mechanism):
    law = SupportLaw.of_variance(*mechanism.noise.vote_variance)
    assert (law.p, law.q) == pytest.approx((mechanism.p, mechanism.q), rel=1e-9)


def test_nothing_is_clipped():
    law = SupportLaw(0.6, 0.2)
    votes = np.array([-60.0, 0.0, 100.0, 160.0])
    low, high = law.bounds(votes, Sampled(100, 100), 0.025)
    assert (low < votes).all()
    assert (votes < high).all()
    assert low[0] < -60
    assert high[-1] > 160
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()
