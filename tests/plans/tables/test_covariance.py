"""Errors of few people, and of rare noise, follow the law of the noise; exact sums have none."""

import numpy as np
import pytest

from plans.tables.populations import asked, repeated, table
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.plans.tables import covariance

RUNS = 1500


def coverage(plan, epsilon, people, text):
    """Return how often intervals of 1.96 errors hold the truth, and the share of errors of 0."""
    (found,) = asked(repeated(plan, epsilon, people, RUNS, 5), text)
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_handful_of_people_is_covered(count):
    """Measured alone, one person covers nothing, and five 88 %."""
    plan = table({"age": range(25), "home": ["flat", "house"]})
    people = {"age": np.arange(count) * 5, "home": np.repeat("flat", count)}
    found = coverage(plan, 1.0, people, "SELECT SUM(age) FROM people")
    true = people["age"].sum()
    assert found.errors.min() > 0
    assert found.covered(true) > 0.93 - FIVE_SIGMA * np.sqrt(0.05 / RUNS)
    assert found.covered(true) < 0.99
    halved = np.abs(found.values - true) <= 0.5 * found.errors
    assert halved.mean() < 0.9


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_share_of_a_handful_of_people_among_all_is_covered(count):
    """Their share is of everybody in all groups, and its noise that of a handful all the same."""
    plan = table({"home": ["flat", "house", "tent"]})
    people = {"home": np.repeat("flat", count)}
    found = coverage(plan, 1.0, people, "SELECT FREQ(*) FROM people WHERE home = 'flat'")
    true = 1 / RUNS
    assert found.errors.min() > 0
    assert found.covered(true) > 0.93 - FIVE_SIGMA * np.sqrt(0.05 / RUNS)


def test_a_label_that_nobody_holds_is_covered_where_epsilon_is_large(monkeypatch):
    plan = table({"home": ["flat", "house", "tent", "boat"]})
    people = {"home": np.repeat("flat", 150)}
    text = "SELECT COUNT(*) FROM people WHERE home = 'boat'"
    found = coverage(plan, 8.0, people, text)
    assert found.covered(0.0) > 0.93
    monkeypatch.setattr(covariance, "LARGE_EPSILON", 99.0)
    monkeypatch.setattr(covariance, "MANY", 0)
    assert coverage(plan, 8.0, people, text).covered(0.0) < 0.9  # measured alone


def test_what_is_public_alone_is_exact():
    plan = table({"age": range(25)}, public={"spent": range(100)})
    people = {"age": np.arange(30) % 25, "spent": np.arange(30) * 3}
    for text in ("SELECT SUM(spent) FROM people", "SELECT AVG(spent) FROM people"):
        (found,) = asked(repeated(plan, 1.0, people, 3, 5), text)
        assert (found.errors == 0).all()
    assert found.values[0] == people["spent"].mean()
