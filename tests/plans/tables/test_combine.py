"""Averages and deviations: right without noise, with errors that the spread over collections
confirms, and guarded.
"""

import json
from math import isnan, sqrt

import numpy as np
import pytest

import sottovoce as sv
from plans.tables.plans import table_plan
from plans.tables.populations import asked, repeated, table, within
from sottovoce.lab.populations.tables import Shape
from sottovoce.plans.tables.combine import figure_of
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.stddev import Stddev
from sottovoce.sql.query import Column

SHAPE = Shape((25,), (3,))
RUNS = 300
WHERE = "o0 BETWEEN 5 AND 19 AND l0 = 'v0'"


@pytest.fixture(scope="module")
def crowd():
    dice = np.random.default_rng(4)
    people = SHAPE.people(1200, 3)
    inside = (people["o0"] >= 5) & (people["o0"] <= 19) & (np.array(people["l0"]) == "v0")
    return people | {"spent": dice.integers(20, 61, 1200)}, inside


@pytest.fixture(scope="module")
def runs(crowd):
    plan = table(SHAPE.columns, public={"spent": range(101)})
    database = repeated(plan, 3.0, crowd[0], RUNS, 11)
    numbers = "COUNT(*) AS n, SUM(spent) AS s, AVG(spent) AS a, AVG(o0) AS b, STDDEV(o0) AS d"
    return dict(
        zip("nsabd", asked(database, f"SELECT {numbers} FROM people WHERE {WHERE}"), strict=True)
    )


def influences(crowd):
    """The truth, and what everybody adds to each number's linear part."""
    people, inside = crowd
    count, ages = inside.sum(), people["o0"].astype(float)
    mean, spent = ages[inside].mean(), people["spent"][inside].mean()
    deviation = ages[inside].std()
    return {
        "a": (spent, inside * (people["spent"] - spent) / count),
        "b": (mean, inside * (ages - mean) / count),
        "d": (deviation, inside * ((ages - mean) ** 2 - deviation**2) / (2 * deviation * count)),
    }


@pytest.mark.parametrize("name", ["a", "b", "d"])
def test_the_error_of_a_ratio_is_its_spread_over_collections(runs, crowd, name):
    """By the linear part; what the people themselves differ by belongs to the stated error, not to
    the spread.
    """
    truth, parts = influences(crowd)[name]
    found = runs[name]
    assert not found.unstable.any()
    assert (
        abs(found.values.mean() - truth) < 5 * found.values.std() / sqrt(RUNS) + 0.02 * truth
    )  # ratios are biased O(1/n)
    stated = np.median(found.errors**2) - (parts**2).sum()
    assert found.ratio(stated) == pytest.approx(1, abs=within(RUNS))


def test_numerator_and_denominator_as_if_independent_is_caught(runs, crowd):
    truth, parts = influences(crowd)["a"]
    apart = runs["s"].errors ** 2 + (truth * runs["n"].errors) ** 2
    wrong = np.median(apart / runs["n"].values ** 2) - (parts**2).sum()
    assert runs["a"].ratio(wrong) < 1 - within(RUNS)


def test_an_average_is_relatively_better_than_its_count(runs, crowd):
    """The errors of sum and count go together."""
    truth, _ = influences(crowd)["a"]
    assert (runs["a"].values.std() / truth) < (runs["n"].values.std() / crowd[1].sum()) / 2


@pytest.mark.parametrize("published", [True, False])
def test_without_noise_averages_and_deviations_are_those_of_the_table(published):
    """Q12: epsilon 15, and everybody asked about single cells.

    Hashing into its capped number of buckets keeps only three reports of four: 1 % is 5 sigma for
    so many people.
    """
    people = SHAPE.people(200_000, 5)
    plan = table_plan(SHAPE.columns, method="mg", published=published)
    database = sv.simulate(sv.Task("t", plan, 15.0), people, seed=1)
    result = database.sql(
        f"SELECT AVG(o0) AS a, STDDEV(o0) AS d, COUNT(*) AS n FROM people WHERE {WHERE}"
    )
    ages = people["o0"][
        (people["o0"] >= 5) & (people["o0"] <= 19) & (np.array(people["l0"]) == "v0")
    ]
    found = [figure.value for figure in result.figures[0]]
    assert found == pytest.approx([ages.mean(), ages.std(), len(ages)], rel=0.01)
    assert not any(figure.unstable for figure in result.figures[0])


@pytest.fixture(scope="module")
def small():
    people = SHAPE.people(800, 6)
    people["o0"] = np.minimum(people["o0"], 19)
    people["member"] = ["no"] * 800
    plan = sv.Table(SHAPE.columns, public={"member": ["no", "yes"]})
    return sv.simulate(sv.Task("t", plan, 1.0), people, seed=3)


def test_a_ratio_over_almost_nobody_is_called_unstable(small):
    result = small.sql("SELECT AVG(o0) FROM people WHERE o0 >= 22 AND l0 = 'v2'")
    assert result.figure.unstable
    assert any("unstable" in notice for notice in result.notices)
    assert "(unstable)" in str(result)
    steady = small.sql("SELECT AVG(o0) FROM people")
    assert not steady.figure.unstable
    assert steady.notices == ()


def test_a_deviation_below_nought_is_nought_with_an_error(small):
    """A single value has no spread, but for rounding; and noise may take more than there is."""
    single = small.sql("SELECT STDDEV(o0) FROM people WHERE o0 = 3").figure
    assert single.value == pytest.approx(0.0, abs=1e-4)
    deviation = Stddev("d", (MeasureTerm(1.0, Column(0, 0)),))
    below = figure_of(deviation, [10.0, 50.0, 1.0], 0.1 * np.eye(3))
    assert below.value == 0.0
    low, high = below.interval()
    assert low == 0.0
    assert 0.1 < high < 0.2
    assert 0 < below.error < high


def test_shares_are_of_everybody_whatever_is_filtered_or_grouped(small):
    """Of records that everybody has one of, the denominator is known: a share is a count over the
    number of people.
    """
    everybody = small.users
    for question in ("FROM people WHERE o0 < 9", "FROM people WHERE o0 < 9 OR member = 'yes'"):
        share, count = small.sql(f"SELECT FREQ(*) AS f, COUNT(*) AS n {question}").figures[0]
        assert share.value == pytest.approx(count.value / everybody, rel=1e-12)
        assert share.error == pytest.approx(count.error / everybody, rel=1e-9)
    assert small.sql("SELECT FREQ(*) FROM people WHERE member = 'no'").figure.value == 1.0
    assert small.sql("SELECT FREQ(*) FROM people WHERE member = 'yes'").figure.value == 0.0
    alone = small.sql("SELECT FREQ(*) FROM people WHERE o0 < 9").figure
    (row,) = small.sql("SELECT member, FREQ(*) FROM people WHERE o0 < 9 GROUP BY member").figures
    assert row[0].value == pytest.approx(alone.value, rel=1e-12)


@pytest.mark.parametrize("question", ["AVG(o0)", "STDDEV(o0)"])
@pytest.mark.parametrize("group", ["", "l0"])
def test_nobody_at_all_is_not_a_crash(small, question, group):
    """No rows: a count of 0, a ratio that does not exist; in every form of an answer."""
    tail = f" GROUP BY {group} ORDER BY a DESC" if group else ""
    columns = f"{group}, " if group else ""
    result = small.sql(
        f"SELECT {columns}{question} AS a, COUNT(*) AS n FROM people WHERE member = 'yes'{tail}"
    )
    assert result.users == 0
    for ratio, count in result.figures:
        assert isnan(ratio.value)
        assert ratio.unstable
        assert (count.value, count.variance) == (0.0, 0.0)
    written = json.loads(result.to_json())
    assert all(row["a"] is None and row["n"] == 0 for row in written["rows"])
    assert "– (unstable)" in str(result)
    assert result.to_csv().count("\n") == len(result) + 1


def test_an_expectation_over_nobody_is_written_as_json_that_others_read(small):
    text = small.sql("EXPLAIN SELECT AVG(o0) FROM people WHERE o0 = 3").to_json()
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["people"] == 800


@pytest.mark.parametrize(
    ("having", "rows"),
    [
        ("m IS NULL", 1),
        ("m IS NOT NULL", 0),
        ("m > 0", 0),
        ("m <> 3", 0),
        ("m + 1 > 0", 0),
        ("COUNT(*) * 1e300 * 1e300 > 0", 0),
        ("m + 1 > 0 OR COUNT(*) >= 0", 1),
    ],
)
def test_a_number_that_does_not_exist_is_null_in_having(having, rows):
    """The mean of nobody; a number that is too large for a computer meets nothing either."""
    plan = sv.Table(SHAPE.columns, public={"spent": range(3)})
    database = sv.simulate(
        sv.Task("t", plan, 2.0), SHAPE.people(60, 1) | {"spent": [0, 1] * 30}, seed=1
    )
    where = "WHERE spent = 2" if "m " in having else ""
    query = f"SELECT AVG(spent) AS m FROM people {where} HAVING {having}"
    assert len(database.sql(query).rows()) == rows
