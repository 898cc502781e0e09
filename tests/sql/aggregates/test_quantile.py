"""A quantile is where counts cross their share, and its interval holds every value no test
refuses.
"""

from math import isnan

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli.truths import Truth
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.quantile import MAX_POINTS, Quantile
from sottovoce.sql.query import Column
from sottovoce.sql.reading import read

VALUES = np.arange(10.0)
TERM = (MeasureTerm(1.0, Column(0, 0)),)


def totals_of(aggregate, people):
    """Return the moments of people whose values are given."""
    return [float(moment.measure[0].function.numbers[people].sum()) for moment in aggregate.moments]


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_without_noise_it_is_the_smallest_value_that_reaches_the_share(share):
    people = np.random.default_rng(1).integers(0, 10, 777)
    quantile = Quantile("q", TERM, share=share, numbers=VALUES)
    totals = totals_of(quantile, people)
    expected = np.sort(people)[int(np.ceil(share * len(people))) - 1]
    exact = np.zeros((len(totals), len(totals)))
    assert quantile.truth(totals) == expected
    assert quantile.bounds(totals, exact, 1.96) == (expected, expected)
    assert quantile.variance(totals, exact) == 0.0


def test_it_covers_as_often_as_it_says_and_a_short_reach_does_not():
    """The noise of all counts is drawn: independent ones of every value, added up."""
    runs, people = 4000, np.repeat(np.arange(10), 1 + np.arange(10) ** 2 * 3)
    quantile = Quantile("q", TERM, share=0.4, numbers=VALUES)
    true = np.array(totals_of(quantile, people))
    dice = np.random.default_rng(2)
    noise = np.cumsum(dice.normal(0, 25, (runs, len(true))), axis=1)
    covariance = np.diag(25.0**2 * (1 + np.arange(len(true))))
    expected = quantile.truth(true.tolist())
    for reach, least in ((1.96, 0.95), (0.1, 0.08)):
        ends = [quantile.bounds((true + one).tolist(), covariance, reach) for one in noise]
        covered = np.mean([low <= expected <= high for low, high in ends])
        assert covered > least - FIVE_SIGMA * np.sqrt(0.05 / runs)
        widths = np.mean([high - low for low, high in ends])
        assert widths < 9  # it does not hold everything
    assert covered < 0.9


def test_it_is_never_certain_of_more_than_a_step():
    quantile = Quantile("q", TERM, share=0.5, numbers=VALUES)
    totals = totals_of(quantile, np.full(10_000, 3))
    assert quantile.variance(totals, 1e-6 * np.eye(9)) == pytest.approx(1 / 12)


def test_a_long_column_is_looked_at_in_steps():
    quantile = Quantile("q", TERM, share=0.5, numbers=np.arange(10_000.0))
    assert len(quantile.points) == MAX_POINTS
    assert quantile.points[[0, -1]].tolist() == [0.0, 9999.0]


def test_of_nobody_there_is_none():
    quantile = Quantile("q", TERM, share=0.5, numbers=VALUES)
    assert isnan(quantile.combine([0.0] * 9).value)
    assert quantile.truth([0.0] * 9) is None


def test_the_slope_is_that_of_the_crossing():
    quantile = Quantile("q", TERM, share=0.5, numbers=VALUES)
    totals = (100.0 * (np.arange(1, 10) - 5)).tolist()
    value, slopes = quantile.combine(totals)
    assert value == 4.0
    assert slopes[4] == pytest.approx(-0.01)
    assert np.count_nonzero(slopes) == 1


def test_a_public_column_with_everybody_at_its_ends_has_a_median():
    """Half of the people are at the first value, so that no count is above or below its share."""
    plan = sv.Table({"a": range(8)}, public={"flag": range(2), "age": range(10)})
    indices = np.arange(400)
    held = {"a": indices % 8, "flag": indices % 2, "age": 9 * (indices % 2)}
    database = sv.simulate(sv.Task("t", plan, 2.0), held, seed=1)
    for query in ("MEDIAN(flag) AS m", "MEDIAN(age) AS m", "QUANTILE(age, 0.5) + 0 AS m"):
        (row,) = database.sql(f"SELECT {query} FROM people").rows()
        assert (row["m"], row["m_low"], row["m_high"], row["m_error"]) == (0, 0, 0, 0)
    (row,) = database.sql("SELECT MEDIAN(age) AS m FROM people WHERE age = 3").rows()
    assert isnan(row["m"]), "of nobody there is none"


HALVES = {
    "MEDIAN(flag)": 0.0,
    "QUANTILE(age, 0.5)": 0.0,
    "ROUND(MEDIAN(age), 1)": 0.0,
    "MEDIAN(age) - MEDIAN(flag) + 3": 3.0,
    "MAX(first)": 0.0,
    "QUANTILE(first, 1)": 0.0,
    "MIN(last)": 9.0,
}


@pytest.mark.parametrize(("asked", "expected"), HALVES.items())
def test_the_true_quantile_of_a_private_column_with_everybody_at_its_ends(asked, expected):
    """Counts without noise are exactly at their shares, which is not the same as nobody."""
    numbers = np.arange(40)
    ends = 9 * (numbers % 2)
    columns = {"flag": range(2), "age": range(10), "first": range(10), "last": range(10)}
    held = {"flag": numbers % 2, "age": ends, "first": 0 * numbers, "last": 0 * numbers + 9}
    plan = sv.Table(columns, public={"year": range(3)})
    people = {**held, "year": numbers % 2}
    database = sv.simulate(sv.Task("t", plan, 2.0), people, seed=1)
    truth = Truth(plan.domain, plan.domain.indices(people))
    text = f"SELECT {asked} AS q FROM people"
    assert truth.rows(read(text, plan.domain), database.sql(text)) == [[expected]]
    nobody = f"{text} WHERE year = 2"
    assert truth.rows(read(nobody, plan.domain), database.sql(nobody)) == [[None]]
    # The moments that are estimated do not tell halves from nobody; they need not, with noise.
    (aggregate,) = read(text, plan.domain).aggregates
    assert aggregate.truth([0.0] * len(aggregate.moments)) is None
