"""Wide Piecewise: the window that gives the piecewise mechanism its least worst variance."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.numeric import (
    every_numeric_check,
    exact_means,
    numbers_are_unbiased,
    the_mean_is_found,
    variances,
)
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.mechanisms.hybrid import Hybrid
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.wide_hybrid import wide_hybrid
from sottovoce.mechanisms.wide_piecewise import wide_piecewise
from sottovoce.wire import codec

SMALL = [
    wide_piecewise(epsilon, size, cells)
    for epsilon in (0.1, 1.0, 4.0)
    for size, cells in ((5, 8), (8, 11), (17, 16))
]
FINE = 2049  # a grid with ends and middle


@every_numeric_check(SMALL)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize("mechanism", SMALL, ids=lambda mechanism: mechanism.key)
def test_the_mean_is_the_number_in_exact_fractions(mechanism):
    steps = mechanism.size - 1
    assert exact_means(mechanism) == [Fraction(2 * value, steps) - 1 for value in range(steps + 1)]


# --- the least variance ---


@pytest.mark.parametrize("cells", [3, 8, 64, 500])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0, 4.0, 8.0])
def test_every_window_is_tried_and_none_is_better(cells, epsilon):
    """By the exact variance of the mechanism itself at the end of the range."""
    tried = [Piecewise(epsilon, 9, cells=cells, window=window) for window in range(1, cells)]
    at_end = [float(each.variance(np.array([8]))[0]) for each in tried]
    assert wide_piecewise(epsilon, 9, cells) == tried[at_end.index(min(at_end))]


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0])
def test_its_worst_case_is_at_the_ends_and_below_the_published_one(epsilon):
    wide, published = wide_piecewise(epsilon, FINE), Piecewise(epsilon, FINE)
    assert variances(wide).max() == variances(wide)[0] == pytest.approx(variances(wide)[-1])
    assert variances(wide).max() < variances(published).max()
    assert wide.window > published.window


@pytest.mark.parametrize(
    ("epsilon", "gain"), [(1.0, 0.03023), (2.0, 0.11031), (4.0, 0.32942), (8.0, 0.66913)]
)
def test_the_gain_is_that_of_the_continuous_law(epsilon, gain):
    """(1 + a w) (1 + a w^3) / (3 (a w (1 - w))^2) + 1 / (a w), minimised over a fine grid of w."""
    a, s = np.expm1(epsilon), np.exp(epsilon / 2)

    def continuous(w):
        spread = (1 + a * w) * (1 + a * w**3) / (3 * (a * w * (1 - w)) ** 2)
        return spread + 1 / (a * w)

    best = continuous(np.linspace(0.001, 0.999, 99_801)).min()
    assert 1 - best / continuous(1 / (s + 1)) == pytest.approx(gain, abs=1e-5)
    assert variances(wide_piecewise(epsilon, FINE)).max() == pytest.approx(best, rel=1e-3)


def test_it_beats_the_published_hybrid_in_the_worst_case_from_epsilon_two_and_a_third_on():
    """And the wide hybrid beats it everywhere."""
    for epsilon in (1.0, 2.0, 2.2, 2.4, 4.0, 8.0):
        wide = variances(wide_piecewise(epsilon, FINE)).max()
        assert (wide < variances(Hybrid(epsilon, FINE)).max()) == (epsilon > 2.3)
        assert wide > variances(wide_hybrid(epsilon, FINE)).max()


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_influence_is_the_last_cell(epsilon):
    """(N - 1) (N + a W) / (a W T)."""
    wide = wide_piecewise(epsilon, FINE)
    pull = np.expm1(epsilon) * wide.window
    last = (wide.cells - 1) * (wide.cells + pull) / (pull * wide.travel)
    assert (wide.influence.up, wide.influence.down) == pytest.approx((last, last), rel=1e-9)
    assert last < 1.1 * Piecewise(epsilon, FINE).influence.up


# --- what a device does ---


def test_its_document_is_that_of_a_piecewise_mechanism():
    wide = wide_piecewise(4.0, 201)
    document = codec.document(wide)
    assert (document["kind"], document["window"]) == ("piecewise", 1001)
    assert codec.mechanism(document) == wide


def test_every_value_takes_the_same_random_bytes():
    """A rounding, a coin and two cells."""
    wide = wide_piecewise(2.0, 202)
    for value in range(0, 202, 3):
        recorded = RecordedRng(b"\1\0\0\x40" * 6)
        assert len(wide.pack(wide.privatize(np.array([value]), recorded))) == 2
        assert recorded.consumed == 4 + 8 + 4 + 4


def test_sampled_numbers_are_unbiased_and_a_device_with_the_published_window_is_caught():
    wide = wide_piecewise(4.0, 7, 11)
    numbers_are_unbiased(wide)
    with pytest.raises(AssertionError):
        numbers_are_unbiased(Narrow(4.0, 7, cells=11, window=wide.window))


def test_the_mean_of_a_population_is_found_with_its_error():
    held = np.random.default_rng(22).binomial(1 << 20, 0.7, 50_000)
    the_mean_is_found(wide_piecewise(3.0, (1 << 20) + 1), held)


@pytest.mark.parametrize("settings", [{"cells": 1}, {"size": 1}, {"epsilon": 0.0}], ids=str)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        wide_piecewise(**{"epsilon": 1.0, "size": 9, **settings})


class Narrow(Piecewise):
    def privatize(self, values, rng):
        return Piecewise(self.epsilon, self.size, cells=self.cells).privatize(values, rng)
