"""How far groups disagree: the law of honest groups, and groups that were moved apart."""

import numpy as np
import pytest

from sottovoce.plans.numbers.group_spread import CHANCE, group_spread

VARIANCES = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
DRAWS = 4_000


def drawn(shifts, seed):
    noise = np.random.default_rng(seed).normal(size=(DRAWS, len(VARIANCES)))
    return noise * np.sqrt(VARIANCES) + shifts


def test_honest_groups_disagree_by_chance_alone():
    """A share of CHANCE is significant; the approximate quantile is on the safe side."""
    found = [group_spread(means, VARIANCES) for means in drawn(np.zeros(5), 1)]
    share = np.mean([each.significant for each in found])
    print(f"{share:.4f} of {CHANCE}")
    assert share <= CHANCE + 5 * np.sqrt(CHANCE / DRAWS)


def test_the_spread_is_the_variance_between_groups_on_average():
    """Shifts of the variance 9: the estimate is unbiased but for being cut off at 0."""
    shifts = np.random.default_rng(2).normal(0, 3, (DRAWS, 5))
    found = np.array([group_spread(means, VARIANCES).variance for means in drawn(shifts, 3)])
    error = found.std() / np.sqrt(DRAWS)
    print(f"{found.mean():.2f} ± {error:.2f}, expected a little above 9")
    assert 9 - 5 * error <= found.mean() <= 9.3 + 5 * error


def test_one_group_or_one_without_error_says_nothing():
    assert group_spread(np.array([1.0]), np.array([1.0])).variance == 0
    assert not group_spread(np.array([1.0, 9.0]), np.array([1.0, 0.0])).significant


def test_groups_that_agree_have_no_spread():
    assert group_spread(np.full(5, 3.0), VARIANCES).variance == pytest.approx(0)
