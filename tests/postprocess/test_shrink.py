"""Shrinking: golden shares, both ends, and Stein's formula for the error that is left."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, SIGMA, TOP, estimate
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.postprocess.shrink import rule_for, shrink

SIZE = 40
NOISE = 0.01
RUNS = 4_000


def test_golden_shares():
    """The squared distances from the mean 0.2 sum to 0.175, the noise takes 2 * 0.03^2 of them."""
    made = shrink([0.5, 0.25, 0.25, 0.0, 0.0], deviation=0.03)
    assert made == pytest.approx(
        0.2 + (1 - 0.0018 / 0.175) * np.array([0.3, 0.05, 0.05, -0.2, -0.2])
    )


def test_without_noise_nothing_moves_and_with_nothing_but_noise_all_are_equal():
    assert shrink(ABOVE, 0.0) == pytest.approx(ABOVE)
    assert shrink(ABOVE, 10.0) == pytest.approx(np.full(7, 0.15))
    assert shrink(TOP, 10.0) == pytest.approx(TOP), "three values are not shrunk"
    assert shrink(np.full(6, 0.25), 1.0).tolist() == [0.25] * 6


def test_every_row_is_shrunk_by_itself_and_keeps_its_sum():
    rows = np.stack([ABOVE, np.zeros(7)])
    made = shrink(rows, 0.1)
    assert made[0] == pytest.approx(shrink(ABOVE, 0.1))
    assert made.sum(axis=1) == pytest.approx(rows.sum(axis=1))


def test_the_noise_is_that_of_values_that_nobody_holds():
    rule = rule_for(estimate(ABOVE))
    assert rule.step(ABOVE) == "shrink"
    assert rule(ABOVE) == pytest.approx(shrink(ABOVE, SIGMA))


def squared_errors(truth, factor=1.0):
    """Return the sums of squared errors, raw and shrunk by a multiple of the noise, run by run."""
    raw = truth + np.random.default_rng(3).normal(0, NOISE, (RUNS, SIZE))
    made = shrink(raw, factor * NOISE)
    return ((raw - truth) ** 2).sum(axis=1), ((made - truth) ** 2).sum(axis=1), raw


def predicted_gains(raw):
    """Return Stein's unbiased estimates of what is gained: (size - 3)^2 variance^2 / spread."""
    spread = ((raw - raw.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return ((SIZE - 3) * NOISE**2) ** 2 / spread


@pytest.mark.parametrize("steps", [2, 10])
def test_the_error_is_smaller_by_what_stein_says(steps):
    """For a truth that stands out, so that the factor is never cut at 0."""
    truth = np.arange(SIZE) // (SIZE // steps) * 2 / SIZE / steps
    before, after, raw = squared_errors(truth)
    differences = before - after - predicted_gains(raw)
    limit = FIVE_SIGMA * differences.std() / np.sqrt(RUNS)
    print("gain", (before - after).mean(), "expected", predicted_gains(raw).mean(), "+-", limit)
    assert abs(differences.mean()) < limit
    assert (before - after).mean() > 0


def test_shrinking_by_twice_the_noise_would_be_noticed():
    truth = np.arange(SIZE) // 4 * 2 / SIZE / 10
    before, after, raw = squared_errors(truth, factor=2.0)
    differences = before - after - predicted_gains(raw)
    assert abs(differences.mean()) > FIVE_SIGMA * differences.std() / np.sqrt(RUNS)


def test_where_all_is_noise_the_error_is_a_small_part():
    """Of forty squared errors about three are left: as many as the rule leaves for the mean."""
    before, after, _ = squared_errors(np.full(SIZE, 1 / SIZE))
    assert after.mean() < before.mean() * 4 / SIZE
