"""Shifted votes: their error is the raw one and the shift, alone and in sums."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, estimate
from sottovoce.core.noise import BalancedNoise
from sottovoce.postprocess.apply import apply


def test_a_cell_errs_by_its_raw_variance_and_the_square_of_its_move():
    raw, made = estimate(ABOVE), apply(estimate(ABOVE), "norm-sub")
    assert made.variance == pytest.approx(raw.variance + (made.votes - raw.votes) ** 2)


@pytest.mark.parametrize(
    "noise", [None, BalancedNoise.subsets(0.6, 8, 2)], ids=["independent", "balanced"]
)
def test_everybody_together_is_exact_where_the_domain_is_whole(noise):
    raw = estimate(ABOVE, noise) if noise else estimate(ABOVE)
    assert apply(raw, "norm-sub").sum(np.arange(7)).error == pytest.approx(0, abs=1e-6)
    assert apply(raw, "base-pos").sum(np.arange(7)).error > 100


def test_a_sum_errs_by_the_variance_of_the_normalised_sum_and_its_move():
    raw, made, chosen = estimate(ABOVE), apply(estimate(ABOVE), "norm-sub"), np.array([0, 1, 6])
    apart = np.zeros(7)
    apart[chosen] = 1
    apart -= 3 / 7
    variance = raw.noise.linear(apart, raw.votes, raw.users)
    move = made.votes[chosen].sum() - (apply(raw, "norm").votes[chosen].sum())
    assert made.sum(chosen).variance == pytest.approx(variance + move**2)


def test_a_fixed_move_never_costs_coverage():
    """z roots of 1 + m^2 around a point moved by m hold the truth at least as often as z around the
    raw one.
    """
    from statistics import NormalDist

    normal, z = NormalDist(), 1.959964
    for move in np.linspace(0, 8, 200):
        reach = z * np.sqrt(1 + move**2)
        covered = normal.cdf(reach - move) - normal.cdf(-reach - move)
        assert covered > 0.95 - 1e-6, move
        if move > 1:
            assert normal.cdf(z - move) - normal.cdf(-z - move) < 0.84  # raw errors alone would not
