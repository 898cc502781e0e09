"""Piecewise mechanism on a grid."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.numeric import (
    every_numeric_check,
    exact_means,
    moments_are_as_stated,
    numbers_are_unbiased,
    the_mean_is_found,
)
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import (
    RecordedRng,
    ScriptedRng,
    samples_follow_the_likelihood,
)
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.piecewise import Piecewise

GRIDS = [(5, 8), (8, 11), (17, 16), (12, 16)]
SMALL = [
    Piecewise(epsilon, size, cells=cells) for epsilon in (0.1, 1.0, 4.0) for size, cells in GRIDS
]
SMALL += [Piecewise(1.0, 9, cells=12, window=window) for window in (1, 7, 11)]
FINE = Piecewise(1.0, 4097)


@every_numeric_check(SMALL)
def test_contract(check, mechanism):
    check(mechanism)


def test_mean_and_variance_of_a_finer_grid_by_enumeration():
    moments_are_as_stated(FINE)


@pytest.mark.parametrize(
    "mechanism",
    [*SMALL, Piecewise(1.0, 6, keep=UNIT // 2 + 1, cells=9)],
    ids=lambda mechanism: mechanism.key,
)
def test_the_mean_is_the_number_in_exact_fractions(mechanism):
    """Whatever the cells, the window and the threshold."""
    assert exact_means(mechanism) == [
        Fraction(2 * value, mechanism.size - 1) - 1 for value in range(mechanism.size)
    ]


@pytest.mark.parametrize(
    "mechanism",
    SMALL,
    ids=lambda mechanism: (
        f"{mechanism.epsilon}-{mechanism.size}-{mechanism.cells}-{mechanism.window}"
    ),
)
def test_cells_have_two_chances_where_the_place_is_certain(mechanism):
    """Ratio exp(epsilon) before the rounding of the threshold, in exact integers; never more after
    it.
    """
    chances = mechanism.channel()[:, [0, -1]]
    np.testing.assert_allclose(chances.max() / chances.min(), np.exp(mechanism.epsilon), rtol=1e-12)
    assert len(np.unique(chances.round(14))) == 2
    assert mechanism.worst_ratio == Fraction(
        mechanism.keep * (mechanism.cells - mechanism.window),
        (UNIT - mechanism.keep) * mechanism.window,
    )


@pytest.mark.parametrize("epsilon", np.arange(0.1, 4.05, 0.1).round(1).tolist())
def test_the_default_cells_cost_less_than_a_thousandth(epsilon):
    """Against x^2 / (s - 1) + (s + 3) / 3 (s - 1)^2, s = exp(epsilon / 2), at numbers between the
    cells as well.
    """
    fine = Piecewise(epsilon, 10_001)
    ratio = fine.variance(np.arange(10_001)) / _continuous(fine.points(np.arange(10_001)), epsilon)
    assert ratio.max() < 1.001


def test_its_law_tends_to_the_continuous_one():
    """Support [-C, C], a window of C - 1 that is kept with probability s / (s + 1)."""
    fine = Piecewise(1.0, 4097, cells=1 << 16)
    s = np.exp(0.5)
    end = (s + 1) / (s - 1)
    assert fine.numbers(np.array([(1 << 16) - 1]))[0] == pytest.approx(end, rel=1e-4)
    assert np.diff(fine.numbers(np.array([0, fine.window])))[0] == pytest.approx(end - 1, rel=1e-4)
    assert fine.keep / UNIT == pytest.approx(s / (s + 1), rel=1e-4)


def test_two_cells_are_the_mechanism_of_duchi():
    piecewise, duchi = Piecewise(1.0, 9, cells=2), Duchi(1.0, 9)
    assert (piecewise.window, piecewise.keep, piecewise.worst_ratio) == (
        1,
        duchi.keep,
        duchi.worst_ratio,
    )
    np.testing.assert_array_equal(piecewise.channel(), duchi.channel())


def test_scripted_draws_give_known_reports():
    """Five cells, windows of two, places 0 .. 3: index 2 of 0 .. 4 lies half way from place 1 to
    place 2.
    """
    rng = ScriptedRng(
        bernoulli=[True, True, False, False],
        integers=[1, 2, 1, 2, 1, 0, 0, 0, 0, 0, 1, 2],
    )
    reports = Piecewise(1.0, 5, cells=5).privatize(np.full(4, 2), rng)
    assert Piecewise(1.0, 5, cells=5).window == 2
    assert reports.tolist() == [3, 1, 1, 4]


def test_recorded_bytes_give_a_known_report():
    """A word for the rounding, a long for the coin, a word for a cell inside, one for a cell
    outside.

    Index 100 of 0 .. 200 has the window from 1275 on; a quarter into it is 1661; a quarter of the
    others is cell 637.
    """
    piecewise, quarter = Piecewise(1.0, 201), b"\1\0\0\x40"
    for coin, cell in ((b"\0" * 8, 1275 + 1546 // 4), (b"\xff" * 8, 2550 // 4)):
        recorded = RecordedRng(quarter + coin + quarter + quarter)
        assert piecewise.pack(piecewise.privatize(np.array([100]), recorded)) == cell.to_bytes(
            2, "little"
        )
        assert recorded.consumed == 20


def test_sampled_numbers_are_unbiased_and_broken_rounding_is_caught():
    numbers_are_unbiased(Piecewise(1.0, 7, cells=11))
    with pytest.raises(AssertionError):
        numbers_are_unbiased(Down(1.0, 7, cells=11))


def test_stepping_over_one_cell_instead_of_the_window_is_caught():
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Short(1.0, 5, cells=8))


def test_the_mean_of_a_population_is_found_with_its_error():
    held = np.random.default_rng(21).binomial(4096, 0.3, 50_000)
    the_mean_is_found(Piecewise(2.0, 4097), held)
    with pytest.raises(AssertionError):
        the_mean_is_found(Short(2.0, 4097), held)


@pytest.mark.parametrize("data", [b"\x00\x10", b"\xff\xff", b"\0\0\0\x20"])
def test_a_report_that_could_not_have_been_made_is_refused(data):
    FINE.unpack(b"\xff\x0f")
    with pytest.raises(CodecError):
        FINE.unpack(data)


@pytest.mark.parametrize(
    "settings",
    [
        {"cells": 1},
        {"cells": True},
        {"cells": (1 << 16) + 1},
        {"cells": 8.0},
        {"cells": 8, "window": 8},
        {"cells": 8, "window": -1},
        {"cells": 8, "window": 2.0},
        {"keep": UNIT},
        {"keep": FINE.keep + 1},
        {"keep": 9},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        Piecewise(1.0, 4097, **settings)


def test_a_channel_too_large_to_list_is_refused():
    with pytest.raises(ParameterError, match="coarser"):
        Piecewise(1.0, (1 << 24) + 1).channel()


def _continuous(x, epsilon):
    s = np.exp(epsilon / 2)
    return x**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)


class Down(Piecewise):
    def _rounded(self, values, rng):
        rng.integers(self.size - 1, len(values))
        return self._positions(values)[0]


class Short(Piecewise):
    def privatize(self, values, rng):
        places = self._rounded(self.check(values), rng)
        near = rng.bernoulli(self.keep, len(places))
        window = places + rng.integers(self.window, len(places))
        others = rng.integers(self.travel, len(places))
        return np.where(near, window, others + (others >= places))
