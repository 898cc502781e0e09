"""Budgets: what is refused, and that decimals add exactly."""

from fractions import Fraction
from math import inf, nan

import pytest

from sottovoce.errors import BudgetError, ParameterError
from sottovoce.tasks.budget import Spend, SpendingWindow, refuse_beyond, refuse_within, total


@pytest.mark.parametrize(
    ("seconds", "epsilon", "reports"),
    [(0, 1, 1), (inf, 1, 1), (nan, 1, 1), (60, 0, 1), (60, nan, 1), (60, 1, 0)],
)
def test_an_impossible_window_is_refused(seconds, epsilon, reports):
    with pytest.raises(ParameterError):
        SpendingWindow(seconds, epsilon, reports)


@pytest.mark.parametrize("name", ["seconds", "epsilon", "reports"])
def test_an_impossible_limit_is_named(name):
    settings = {"seconds": 60.0, "epsilon": 1.0, "reports": 1} | {name: 0}
    with pytest.raises(ParameterError, match=f"`{name}` must be"):
        SpendingWindow(**settings)


def test_a_rehearsal_is_free_and_nothing_else_is_below_zero():
    assert Spend("task", 0.0).epsilon == 0.0
    for epsilon in (-1.0, 21.0, nan):
        with pytest.raises(ParameterError):
            Spend("task", epsilon)


def test_epsilons_add_as_the_decimals_they_are_written_in():
    assert total([0.1, 0.2]) == Fraction(3, 10)
    assert total([]) == 0


def test_a_cap_is_reached_exactly():
    refuse_beyond(1.0, total([0.1] * 7), 0.3)
    with pytest.raises(BudgetError, match=r"of the cap of 1 only 0\.3 is left"):
        refuse_beyond(1.0, total([0.1] * 7), 0.31)


def test_a_window_bounds_the_number_and_the_sum():
    window = SpendingWindow(60, 1.0, 3)
    refuse_within(window, [0.3, 0.4], 0.3)
    for recent, wanted in (([0.1] * 3, 0.1), ([0.3, 0.4], 0.31)):
        with pytest.raises(BudgetError, match="try again later"):
            refuse_within(window, recent, wanted)
