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
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.window import WindowMechanism


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
