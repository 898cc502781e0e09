"""Where the reader of queries and an aggregate meet: no aggregate is known by name outside."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sottovoce.domains.dates import Dates
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.sql.aggregates.call import MAX_PUBLIC_VALUES, PublicValues
from sottovoce.sql.aggregates.max import Max
from sottovoce.sql.aggregates.median import Median
from sottovoce.sql.aggregates.min import Min
from sottovoce.sql.aggregates.quantile import Quantile
from sottovoce.sql.errors import QueryError
from sottovoce.sql.query import AllOf, Column, Compared, Monomial
from sottovoce.sql.reading import read

PEOPLE = Tables(
    ("people",),
    (Records(("age", "born"), (Integers(0, 9), Dates("1970-01-01", "1970-01-05"))),),
    Records(
        ("people.floor", "people.room"),
        (Integers(1, 4), Integers(1, MAX_PUBLIC_VALUES + 1)),
    ),
)


def asked(number):
    (aggregate,) = read(f"SELECT {number} FROM people", PEOPLE).aggregates
    return aggregate


@pytest.mark.parametrize(
    ("number", "kind", "share"),
    [
        ("QUANTILE(age, 0.25)", Quantile, 0.25),
        ("QUANTILE(age, 0)", Quantile, 0.0),
        ("QUANTILE(floor, 0)", Min, 0.0),
        ("QUANTILE(floor, 1)", Max, 1.0),
        ("QUANTILE(floor, 0.5)", Quantile, 0.5),
        ("MEDIAN(floor)", Median, 0.5),
        ("MIN(age)", Min, 0.5),
    ],
)
def test_an_aggregate_reads_its_own_call(number, kind, share):
    aggregate = asked(number)
    assert type(aggregate) is kind
    assert aggregate.share == share


def test_the_order_of_a_column_is_that_of_its_numbers_or_days():
    assert asked("MEDIAN(2 * age + 1)").numbers.tolist() == list(range(1, 20, 2))
    dates = asked("MAX(born)")
    assert dates.dated
    assert dates.numbers.tolist() == [0, 1, 2, 3, 4]
    floors = asked("MAX(floor)")
    assert floors.numbers.tolist() == list(floors.public.values) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("number", "rule"),
    [
        ("QUANTILE(age)", "arguments"),
        ("MEDIAN(age, 0.5)", "arguments"),
        ("QUANTILE(age, 1.5)", "share"),
        ("MEDIAN(age + floor)", "public-quantile"),
        ("MEDIAN(room)", "public-quantile"),
    ],
)
def test_a_call_that_breaks_a_rule_is_refused(number, rule):
    with pytest.raises(QueryError) as caught:
        asked(number)
    assert caught.value.rule == rule


def test_a_range_of_public_values_joins_the_conditions():
    column = Column(0, 0, "people.floor")
    before = Monomial(1.0, public=AllOf((Compared(column, "<", 9.0),)))
    values = PublicValues(column, (1.0, 2.0, 3.0, 4.0), (before,))
    (among,) = values.among(np.array([False, True, True, False]))
    assert among.public.parts[1:] == (Compared(column, ">=", 2.0), Compared(column, "<=", 3.0))


def test_outside_of_their_folder_no_aggregate_is_known_by_name():
    folder = Path(import_module("sottovoce.sql").__path__[0])
    for path in folder.glob("*.py"):
        imported = re.findall(r"sottovoce\.sql\.aggregates\.(\w+)", path.read_text("utf-8"))
        assert set(imported) <= {"base", "call"}, path.name
