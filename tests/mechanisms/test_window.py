"""Window mechanisms in exact fractions: unbiased for any integers, with the variance they state."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.numeric import exact_means, moments_are_as_stated
from sottovoce.lab.checks import (
    epsilon_is_never_exceeded,
    epsilon_is_spent_whole,
    likelihoods_sum_to_one,
    samples_follow_the_likelihood,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.mechanisms.window import WindowLaw, WindowMechanism


@dataclass(frozen=True)
class Toy(WindowMechanism, kind="toy_window", wire=False):
    """Any number of cells and any window."""

    cells: int = 7
    window: int = 3

    @property
    def outputs(self):
        return self.cells


@dataclass(frozen=True)
class Unskipped(Toy, kind="unskipped_window", wire=False):
    """The broken twin: a far cell may fall into the window."""

    def privatize(self, values, rng):
        positions = self._rounded(self.check(values), rng)
        is_near = rng.bernoulli(self.keep, len(positions))
        near = positions + rng.integers(self.window, len(positions))
        return np.where(is_near, near, rng.integers(self.travel, len(positions)))


CASES = [
    Toy(1.0, 5, cells=7, window=3),
    Toy(0.5, 4, cells=9, window=2),
    Toy(3.0, 6, cells=5, window=1),
    Toy(1.0, 3, cells=8, window=6),
]


@pytest.mark.parametrize("mechanism", CASES, ids=lambda mechanism: mechanism.key)
def test_the_mean_is_the_number_in_exact_fractions(mechanism):
    size = mechanism.size
    expected = [Fraction(2 * value, size - 1) - 1 for value in range(size)]
    assert exact_means(mechanism) == expected


@pytest.mark.parametrize("mechanism", CASES, ids=lambda mechanism: mechanism.key)
@pytest.mark.parametrize(
    "check",
    [
        moments_are_as_stated,
        epsilon_is_never_exceeded,
        epsilon_is_spent_whole,
        likelihoods_sum_to_one,
        samples_follow_the_likelihood,
    ],
    ids=lambda check: check.__name__,
)
def test_moments_and_privacy_are_exact(check, mechanism):
    check(mechanism)


def test_far_cells_that_do_not_skip_the_window_are_caught():
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Unskipped(1.0, 5))


def test_any_threshold_gives_an_unbiased_number():
    mechanism = Toy(2.0, 5, keep=UNIT // 2)
    assert exact_means(mechanism) == [Fraction(value, 2) - 1 for value in range(5)]


# --- whether reports can be honest ---


@pytest.mark.parametrize(
    "mechanism",
    [SquareWave(epsilon=1.0, size=12), Piecewise(epsilon=1.0, size=9, cells=16)],
    ids=["square_wave", "piecewise"],
)
def test_the_bounds_of_intervals_are_the_extremes_over_all_numbers(mechanism):
    law = WindowLaw(mechanism.outputs, mechanism.window, mechanism.inside, mechanism.outside)
    chances = mechanism.likelihood(mechanism.outcomes())
    cells = mechanism.outputs
    pairs = [(start, stop) for start in range(cells) for stop in range(start + 1, cells + 1)]
    starts, stops = np.array(pairs).T
    least, largest = law.bounds(starts, stops)
    exact = np.array([chances[start:stop].sum(axis=0) for start, stop in pairs])
    assert (least <= exact.min(axis=1) + 1e-12).all()
    assert (largest >= exact.max(axis=1) - 1e-12).all()
    # The extremes are reached where a window can stand at every position.
    if mechanism.travel == mechanism.size - 1:
        np.testing.assert_allclose(least, exact.min(axis=1), atol=1e-12)
        np.testing.assert_allclose(largest, exact.max(axis=1), atol=1e-12)


def test_reports_at_the_end_of_the_scale_are_implausible():
    mechanism = SquareWave(epsilon=1.0, size=64)
    honest = mechanism.privatize(np.zeros(4000, np.int64), SeededRng(1))
    assert not mechanism.plausibility(mechanism.evidence(honest))[0].alarm
    false = np.full(200, mechanism.outputs - 1)
    poisoned = np.concatenate([honest, false])
    assert mechanism.plausibility(mechanism.evidence(poisoned))[0].alarm
