"""Errors of questions about people of a city: the formula against the reports of a collection."""

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.xu.household_errors import (
    ALL_HOUSEHOLDS,
    Homes,
    second_moments,
)

HOMES = Homes(4_000)


def test_stated_squares_grow_with_the_nodes_and_with_the_people_counted():
    """By second moments of votes; test_xu_joint.py compares them with those of a collection."""
    ages = HOMES.aged(21, 45)
    nobody = replace(ages, inside=np.zeros_like(ages.inside))
    twice = replace(nobody, nodes=2 * nobody.nodes)
    assert HOMES.stated_squares(twice) == pytest.approx(2 * HOMES.stated_squares(nobody))
    unheld, held = second_moments(HOMES.epsilon / 2)
    in_city = (HOMES.population.data["households"]["city"] == "largest").mean()
    place = 4 * (unheld + (held - unheld) * in_city)
    expected = place * 128 * 10**2 * 2 * 5 * unheld * HOMES.households
    assert HOMES.stated_squares(nobody) == pytest.approx(expected)
    assert HOMES.stated_squares(ages) > HOMES.stated_squares(nobody)


def test_errors_are_those_of_all_households():
    condition = HOMES.of_race("W")
    expected = HOMES.stated_squares(condition) * ALL_HOUSEHOLDS / HOMES.households
    assert HOMES.stated_error(condition) ** 2 == pytest.approx(expected)


def test_the_estimate_is_near_the_truth():
    condition = HOMES.of_race("W")
    off = HOMES.estimate(condition) - HOMES.truth(condition)
    assert abs(off) < FIVE_SIGMA * np.sqrt(HOMES.stated_squares(condition))
    inside = condition.inside & np.isin(
        HOMES.persons["uid"],
        np.flatnonzero(HOMES.population.data["households"]["city"] == "largest"),
    )
    assert HOMES.truth(condition) == inside.sum()
