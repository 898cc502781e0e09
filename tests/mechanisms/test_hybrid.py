"""Hybrid mechanism."""

from decimal import Decimal

import numpy as np
import pytest

from mechanisms.numeric import (
    every_numeric_check,
    moments_are_as_stated,
    numbers_are_unbiased,
    the_mean_is_found,
    variances,
)
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import (
    ScriptedRng,
    samples_follow_the_likelihood,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.hybrid import DUCHI_UP_TO, Hybrid
from sottovoce.mechanisms.piecewise import Piecewise

SMALL = [
    Hybrid(epsilon, size, cells)
    for epsilon in (0.5, 1.0, 4.0)
    for size, cells in ((5, 8), (17, 16), (8, 11))
]
EPSILONS = np.arange(0.1, 6.01, 0.1).round(1).tolist()
EXACT = 2049  # a grid with ends and middle, fine enough to see the x^2


@every_numeric_check(SMALL)
def test_contract(check, mechanism):
    check(mechanism)


def test_mean_and_variance_of_a_finer_grid_by_enumeration():
    moments_are_as_stated(Hybrid(1.0, 300))


@pytest.mark.parametrize("epsilon", [0.7, 1.0, 2.0, 4.0])
def test_every_number_has_the_same_variance(epsilon):
    """The x^2 of the two mechanisms cancel, up to the cells; with half as many users at Piecewise
    they do not.
    """
    flat, tilted = (
        Hybrid(epsilon, EXACT),
        Hybrid(epsilon, EXACT, alpha=Hybrid(epsilon, EXACT).alpha // 2),
    )
    assert np.ptp(variances(flat)) < 0.001 * variances(flat).max()
    assert np.ptp(variances(tilted)) > 0.02 * variances(tilted).max()


def test_it_starts_where_it_meets_the_worst_case_of_duchi():
    """0.6094: from there on a share of Piecewise lowers the worst case, and before it would raise
    it.
    """
    root = np.sqrt(241.0)
    closed = np.log((-5 + 2 * np.cbrt(6353 - 405 * root) + 2 * np.cbrt(6353 + 405 * root)) / 27)
    assert float(DUCHI_UP_TO) == pytest.approx(closed, abs=1e-14)
    assert _mixed(closed) == pytest.approx(_duchi(closed), rel=1e-12)
    assert _mixed(closed - 0.05) > _duchi(closed - 0.05)
    assert _mixed(closed + 0.05) < _duchi(closed + 0.05)
    assert Hybrid(float(DUCHI_UP_TO), 9).alpha == 0
    above = Hybrid(float(DUCHI_UP_TO + Decimal("1e-15")), 9)
    assert above.alpha / UNIT == pytest.approx(1 - np.exp(-closed / 2))


def test_the_worst_cases_of_the_parts_cross_near_one_point_three():
    better = [_piecewise(epsilon) < _duchi(epsilon) for epsilon in (1.28, 1.30)]
    assert better == [False, True]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_it_is_never_above_the_better_worst_case(epsilon):
    """By theory exactly; on the default cells up to a thousandth."""
    worst = variances(Hybrid(epsilon, EXACT)).max()
    parts = [variances(mechanism(epsilon, EXACT)).max() for mechanism in (Duchi, Piecewise)]
    assert worst <= min(parts) * 1.001
    if epsilon > float(DUCHI_UP_TO):
        assert _mixed(epsilon) <= min(_duchi(epsilon), _piecewise(epsilon))
        assert worst == pytest.approx(_mixed(epsilon), rel=0.002)


def test_below_the_meeting_only_signs_are_sent_and_accepted():
    low = Hybrid(0.5, 9, 8)
    assert (low.alpha, low.outputs, len(low.outcomes())) == (0, 2, 2)
    low.unpack(b"\0\1\0")
    with pytest.raises(CodecError):
        low.unpack(b"\1\1\0")


def test_scripted_draws_give_known_reports():
    """Coins first, then a sign and a cell for everybody; one of the two is sent."""
    rng = ScriptedRng(
        bernoulli=[True, False, True, True, True, True],
        integers=[0, 0, 3, 3, 1, 1, 0, 0],
    )
    reports = Hybrid(1.0, 5, 5).privatize(np.array([2, 2]), rng)
    assert reports.tolist() == [(1, 2), (0, 1)]
    assert Hybrid(1.0, 5, 5).codes(reports).tolist() == [4, 1]


def test_sampled_numbers_are_unbiased_and_a_coin_that_looks_at_the_sign_is_caught():
    numbers_are_unbiased(Hybrid(1.0, 7, 11))
    with pytest.raises(AssertionError):
        numbers_are_unbiased(Peeking(1.0, 7, 11))
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Peeking(1.0, 7, 11))


def test_the_mean_of_a_population_is_found_with_its_error():
    held = np.random.default_rng(22).binomial(1 << 20, 0.7, 50_000)
    the_mean_is_found(Hybrid(1.0, (1 << 20) + 1), held)
    with pytest.raises(AssertionError):
        the_mean_is_found(Peeking(1.0, (1 << 20) + 1), held)


@pytest.mark.parametrize(
    "data",
    [b"\2\0\0", b"\0\2\0", b"\1\x08\0", b"\1\0\1", b"\0\0"],
    ids=["coin", "sign", "cell", "far", "cut"],
)
def test_a_report_that_could_not_have_been_made_is_refused(data):
    Hybrid(1.0, 9, 8).unpack(b"\1\7\0\0\1\0")
    with pytest.raises(CodecError):
        Hybrid(1.0, 9, 8).unpack(data)


@pytest.mark.parametrize(
    "settings",
    [
        {"cells": 1}, {"cells": True}, {"window": 4096}, {"alpha": UNIT}, {"alpha": -1},
        {"keep": Hybrid(1.0, 9).keep + 1}, {"sign": Hybrid(1.0, 9).sign + 1}, {"sign": UNIT // 2},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        Hybrid(1.0, 9, **settings)


def _duchi(epsilon):
    return ((np.exp(epsilon) + 1) / (np.exp(epsilon) - 1)) ** 2


def _piecewise(epsilon, x=1.0):
    s = np.exp(epsilon / 2)
    return x**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)


def _mixed(epsilon):
    alpha = 1 - np.exp(-epsilon / 2)
    return alpha * _piecewise(epsilon, 0.0) + (1 - alpha) * _duchi(epsilon)


class Peeking(Hybrid):
    def privatize(self, values, rng):
        reports = super().privatize(values, rng)
        low = (reports["coin"] == 1) & (reports["cell"] < self.cells // 4)
        return np.where(low, np.zeros(1, reports.dtype), reports)


# --- whether reports can be honest ---


def test_coins_and_cells_of_honest_reports_are_plausible():
    mechanism = Hybrid(1.0, 1001)
    reports = mechanism.privatize(np.full(6000, 1000), SeededRng(1))
    tests = mechanism.plausibility(mechanism.evidence(reports))
    assert [test.name for test in tests] == ["coins", "cells", "cells"]
    assert not any(test.alarm for test in tests)


def test_extreme_reports_of_one_coin_are_implausible():
    """Attackers who all take Piecewise, and its last cell: coins and cells show it."""
    mechanism = Hybrid(1.0, 1001)
    reports = mechanism.privatize(np.full(6000, 500), SeededRng(1))
    reports[:600]["coin"] = 1
    reports[:600]["cell"] = mechanism.cells - 1
    tests = mechanism.plausibility(mechanism.evidence(reports))
    assert {test.name for test in tests if test.alarm} == {"coins", "cells"}


def test_below_the_limit_there_are_signs_alone():
    mechanism = Hybrid(0.5, 1001)
    reports = mechanism.privatize(np.arange(1000), SeededRng(1))
    assert not any(test.alarm for test in mechanism.plausibility(mechanism.evidence(reports)))
