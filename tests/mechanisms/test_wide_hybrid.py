"""Wide hybrid: the window and the coin that give the hybrid mechanism its least variance."""

from dataclasses import replace

import numpy as np
import pytest

from mechanisms.numeric import (
    every_numeric_check,
    exact_means,
    moments_are_as_stated,
    numbers_are_unbiased,
    the_mean_is_found,
    variances,
)
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import (
    RecordedRng,
    samples_follow_the_likelihood,
)
from sottovoce.maths import exact
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.hybrid import Hybrid
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.wide_hybrid import wide_hybrid, worst_variance
from sottovoce.wire import codec

SMALL = [
    wide_hybrid(epsilon, size, cells)
    for epsilon in (0.5, 1.0, 4.0)
    for size, cells in ((5, 8), (17, 16), (8, 11))
]
FINE = 2049  # a grid with ends and middle
BETWEEN = 65_538  # a grid whose numbers lie between the positions of a window as well
DUCHI_UP_TO = 0.6073


@every_numeric_check(SMALL)
def test_contract(check, mechanism):
    check(mechanism)


def test_mean_and_variance_of_a_finer_grid_by_enumeration():
    moments_are_as_stated(wide_hybrid(2.0, 300))


@pytest.mark.parametrize("mechanism", SMALL, ids=lambda mechanism: mechanism.key)
def test_both_parts_are_unbiased_in_exact_fractions(mechanism):
    expected = exact_means(Duchi(mechanism.epsilon, mechanism.size))
    assert exact_means(mechanism.piecewise) == exact_means(mechanism.duchi) == expected


# --- the least variance ---


@pytest.mark.parametrize("epsilon", [0.7, 1.0, 2.0, 4.0, 8.0])
def test_every_number_has_the_stated_variance(epsilon):
    """At whole positions of the window without its rounding, which adds at most 1 / T^2."""
    wide = wide_hybrid(epsilon, BETWEEN)
    with exact.sixty_digits():
        stated = float(worst_variance(exact.exp(epsilon) - 1, wide.cells, wide.window))
    travel = wide.cells - wide.window
    assert variances(wide).max() == pytest.approx(stated, rel=1e-9)
    assert np.ptp(variances(wide)) == pytest.approx(1 / travel**2, rel=1e-3)
    at_positions = wide_hybrid(epsilon, travel + 1)
    assert np.ptp(variances(at_positions)) < 1e-11 * stated


@pytest.mark.parametrize("cells", [3, 8, 64, 500])
@pytest.mark.parametrize("epsilon", [0.7, 1.0, 2.0, 4.0, 8.0])
def test_every_window_is_tried_and_none_is_better(cells, epsilon):
    a = exact.exp(epsilon) - 1
    worst = [worst_variance(a, cells, window) for window in range(1, cells)]
    assert wide_hybrid(epsilon, 9, cells).window == 1 + worst.index(min(worst))


@pytest.mark.parametrize("epsilon", [0.7, 1.0, 2.0, 4.0, 8.0])
def test_other_windows_and_other_coins_are_worse(epsilon):
    """By the exact variances of the mechanism itself, between the positions as well."""
    wide = wide_hybrid(epsilon, BETWEEN)
    lower, higher = wide.alpha * 99 // 100, wide.alpha + (UNIT - wide.alpha) // 100
    others = [replace(wide, alpha=coin) for coin in (lower, higher)]
    for window in (wide.window * 9 // 10, wide.window * 11 // 10):
        part = window * np.expm1(epsilon) / wide.cells
        coin = int(part / (1 + part) * UNIT)
        others.append(Hybrid(epsilon, BETWEEN, window=window, alpha=coin))
    assert all(variances(other).max() > variances(wide).max() for other in others)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 0.61, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0])
def test_its_worst_case_is_below_all_published_ones(epsilon):
    """And so is the variance of every single number, compared with the published hybrid."""
    wide, published = wide_hybrid(epsilon, FINE), Hybrid(epsilon, FINE)
    assert (variances(wide) <= variances(published)).all()
    others = [variances(each(epsilon, FINE)).max() for each in (Duchi, Piecewise, Hybrid)]
    if epsilon < DUCHI_UP_TO:
        assert variances(wide).max() == min(others)
    else:
        assert variances(wide).max() < min(others)
        assert wide.window > published.window


@pytest.mark.parametrize(
    ("epsilon", "gain"), [(1.0, 0.00509), (2.0, 0.05818), (4.0, 0.28889), (8.0, 0.66447)]
)
def test_the_gain_is_that_of_the_continuous_law(epsilon, gain):
    """(1 + a w^3) / (3 a w (1 - w)^2) + c^2 / (1 + a w), minimised over a fine grid of w."""
    a, s = np.expm1(epsilon), np.exp(epsilon / 2)

    def continuous(w):
        by_duchi = ((a + 2) / a) ** 2 / (1 + a * w)
        return (1 + a * w**3) / (3 * a * w * (1 - w) ** 2) + by_duchi

    best = continuous(np.linspace(0.001, 0.999, 99_801)).min()
    assert 1 - best / continuous(1 / (s + 1)) == pytest.approx(gain, abs=1e-5)
    assert variances(wide_hybrid(epsilon, FINE)).max() == pytest.approx(best, rel=1e-3)


def test_up_to_a_small_epsilon_it_is_the_mechanism_of_duchi():
    assert wide_hybrid(DUCHI_UP_TO, 9) == Hybrid(DUCHI_UP_TO, 9)
    assert wide_hybrid(DUCHI_UP_TO, 9).alpha == 0
    assert wide_hybrid(DUCHI_UP_TO + 0.0005, 9).alpha > 0


@pytest.mark.parametrize("epsilon", [0.7, 1.0, 2.0, 4.0, 8.0])
def test_the_influence_is_the_last_cell_and_hardly_above_the_published_one(epsilon):
    """(N - 1) (N + a W) / (a W T): the extreme numbers lie less than a tenth farther out."""
    wide, published = wide_hybrid(epsilon, FINE), Hybrid(epsilon, FINE)
    pull = np.expm1(epsilon) * wide.window
    last = (wide.cells - 1) * (wide.cells + pull) / (pull * (wide.cells - wide.window))
    assert (wide.influence.up, wide.influence.down) == pytest.approx((last, last), rel=1e-9)
    assert published.influence.up < wide.influence.up < 1.1 * published.influence.up


# --- what a device does ---


def test_its_document_is_that_of_a_hybrid_mechanism():
    wide = wide_hybrid(2.0, 201)
    document = codec.document(wide)
    assert document["kind"] == "hybrid"
    assert document["window"] == 1467
    assert codec.mechanism(document) == wide


def test_every_value_takes_the_same_random_bytes():
    """The coin; a rounding and a coin for the sign; a rounding, a coin and two cells."""
    wide = wide_hybrid(2.0, 202)
    for value in range(0, 202, 3):
        recorded = RecordedRng(b"\1\0\0\x40" * 12)
        assert len(wide.pack(wide.privatize(np.array([value]), recorded))) == 3
        assert recorded.consumed == 8 + (4 + 8) + (4 + 8 + 4 + 4)


def test_sampled_numbers_are_unbiased_and_a_device_with_the_published_window_is_caught():
    wide = wide_hybrid(4.0, 7, 11)
    assert wide.window != Hybrid(4.0, 7, 11).window
    numbers_are_unbiased(wide)
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Narrow(4.0, 7, 11, wide.window, wide.alpha))


def test_the_mean_of_a_population_is_found_with_its_error():
    held = np.random.default_rng(22).binomial(1 << 20, 0.7, 50_000)
    the_mean_is_found(wide_hybrid(3.0, (1 << 20) + 1), held)


@pytest.mark.parametrize("settings", [{"cells": 1}, {"size": 1}, {"epsilon": 0.0}], ids=str)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        wide_hybrid(**{"epsilon": 1.0, "size": 9, **settings})


class Narrow(Hybrid):
    def privatize(self, values, rng):
        published = Hybrid(self.epsilon, self.size, self.cells, alpha=self.alpha)
        return published.privatize(values, rng)
