"""The contract of aggregates: they are found by their files, and everybody else asks only through
it.
"""

import ast
import importlib
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.sql.aggregates import base
from sottovoce.sql.aggregates.base import (
    COUNTED,
    Aggregate,
    Combination,
    MeasureTerm,
    Moment,
    aggregates,
)
from sottovoce.sql.errors import QueryError
from sottovoce.sql.query import Column

AGE = MeasureTerm(2.0, Column(0, 1))
SOURCE = Path(base.__file__).parents[2]


def test_aggregates_are_found_by_their_files_those_of_a_star_first():
    names = list(aggregates())
    assert names[:2] == ["COUNT", "FREQ"]
    assert {"AVG", "STDDEV", "SUM"} <= set(names)
    for name, aggregate in aggregates().items():
        assert name in aggregate.sql_names
        assert aggregate.__module__ == f"sottovoce.sql.aggregates.{aggregate.sql_names[0].lower()}"


def test_a_moment_knows_whether_it_counts_and_its_highest_power():
    assert COUNTED.counts_records
    assert COUNTED.highest_power == 1
    squares = Moment((AGE, MeasureTerm(1.0, Column(0, 0), 2)))
    assert not squares.counts_records
    assert squares.highest_power == 2


def test_the_square_of_a_measure_squares_its_factor():
    assert aggregates()["SUM"]("x", (AGE,)).squared_measure == (MeasureTerm(4.0, Column(0, 1), 2),)


@cache
def compared_constants():
    """Return the constants in every comparison outside of the aggregates' files, by path."""
    found = []
    for path in SOURCE.rglob("*.py"):
        if path.parent.name == "aggregates":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                parts = [node.left, *node.comparators]
                found.append(
                    (
                        path.relative_to(SOURCE),
                        {p.value for p in parts if isinstance(p, ast.Constant)},
                    )
                )
    return found


@pytest.mark.parametrize("name", aggregates())
def test_nobody_else_compares_the_name_of_an_aggregate(name):
    """Outside of its own file, a name stands in examples and texts only, never in a comparison."""
    for path, constants in compared_constants():
        assert not constants & {name, name.lower()} or "sql" not in str(path), path


TOY = '''
from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class Twice(Aggregate):
    """Twice a sum."""

    sql_names = ("TWICE",)
    formula = "2 * sum"

    @property
    def moments(self):
        return (Moment(self.measure),)

    def combine(self, totals):
        return Combination(2 * totals[0], (2.0,))
'''


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """One more file in the package, for one test."""
    (tmp_path / "twice.py").write_text(TOY)
    package = importlib.import_module("sottovoce.sql.aggregates")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    aggregates.cache_clear()
    yield
    sys.modules.pop("sottovoce.sql.aggregates.twice", None)
    monkeypatch.undo()
    aggregates.cache_clear()
    assert "TWICE" not in aggregates()


def test_an_aggregate_is_one_file(toy):
    """Read, planned, explained, answered with its error, and true beside the answer: nobody else
    knows it.
    """
    from sottovoce.cli.truths import Truth
    from sottovoce.sql.reading import read

    plan = sv.Table({"age": range(8), "home": ["flat", "house"]})
    people = {
        "age": np.arange(4000) % 8,
        "home": np.array(["flat", "house"])[np.arange(4000) // 8 % 2],
    }
    database = sv.simulate(sv.Task("t", plan, 6.0), people, seed=1)
    text = "SELECT TWICE(age), SUM(age) FROM people WHERE home = 'flat'"
    twice, once = database.sql(text).figures[0]
    assert twice.value == pytest.approx(2 * once.value)
    assert twice.error == pytest.approx(2 * once.error)
    assert "2 * sum" in str(database.sql(f"EXPLAIN {text}"))
    truth = Truth(plan.domain, plan.domain.indices(people))
    assert truth.rows(read(text, plan.domain), database.sql(text)) == [[14000.0, 7000.0]]
    with pytest.raises(QueryError, match="labels cannot be added"):
        database.sql("SELECT TWICE(home) FROM people")


def test_an_aggregate_must_say_everything():
    class Silent(Aggregate):
        """Says nothing of its moments."""

        def combine(self, totals):
            return Combination(totals[0], (1.0,))

    with pytest.raises(TypeError, match="moments"):
        Silent()
