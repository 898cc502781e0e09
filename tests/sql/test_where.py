"""Conditions: sets of values, splits by the smaller of two columns, and what becomes a constant."""

import numpy as np
import pytest

from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.sql.conditions import Both, Either, Negation, Within
from sottovoce.sql.grammar import parsed
from sottovoce.sql.names import Scope
from sottovoce.sql.query import EVERYBODY, NOBODY, Column, Listed
from sottovoce.sql.where import ConditionReader, conjunction, disjunction, negation

PEOPLE = Tables(
    ("people",),
    (Records(("age", "size", "home"), (Integers(0, 99), Integers(0, 3), Categories(("a", "b")))),),
    public=Records(("people.year",), (Integers(1950, 1959),)),
)
AGE, SIZE, HOME = (Column(0, index) for index in range(3))


def condition(text):
    select = parsed(f"SELECT COUNT(*) FROM people WHERE {text}")
    reader = ConditionReader(Scope.of(PEOPLE, select))
    return reader.condition(select.args["where"].this), reader.notices


@pytest.mark.parametrize(
    ("text", "column", "chosen"),
    [
        ("FLOOR(age / 10) = 3", AGE, [age // 10 == 3 for age in range(100)]),
        ("CASE WHEN age < 5 THEN 1 ELSE 0 END = 1", AGE, [age < 5 for age in range(100)]),
        ("home LIKE 'a%'", HOME, [True, False]),
        ("5 - 2 > size", SIZE, [True, True, True, False]),
    ],
)
def test_an_expression_of_one_column_is_a_set_of_its_values(text, column, chosen):
    found, notices = condition(text)
    assert isinstance(found, Within)
    assert found.column == column
    assert found.chosen.tolist() == chosen
    assert notices == []


def test_two_columns_are_split_by_the_values_of_the_smaller_one():
    found, _ = condition("age > 30 * size")
    assert isinstance(found, Either)
    table = np.zeros((100, 4), bool)
    for part in found.parts:
        assert isinstance(part, Both)
        small, large = part.parts
        assert (small.column, large.column) == (SIZE, AGE)
        table |= np.outer(large.chosen, small.chosen)
    expected = [[age > 30 * size for size in range(4)] for age in range(100)]
    assert table.tolist() == expected


def test_constants_leave_nothing_to_ask():
    assert condition("1 = 1")[0] == EVERYBODY
    assert condition("age > 5 AND 2 < 1")[0] == NOBODY
    assert isinstance(condition("age > 5 OR NULL")[0], Within)
    assert condition("NOT (age > 5 OR TRUE)")[0] == NOBODY


def test_a_computed_public_condition_is_a_list_of_values():
    found, _ = condition("year % 4 = 0")
    assert isinstance(found, Listed)
    assert found.values == (1952.0, 1956.0)


def test_a_condition_that_nothing_meets_is_noticed():
    found, notices = condition("age * 2 = 7")
    assert not found.chosen.any()
    assert notices == ["people.age: no value lies in the range of the condition"]


def test_connectives_keep_what_is_not_constant():
    part = Within(AGE, np.ones(100, bool))
    assert conjunction([EVERYBODY, part]) is part
    assert conjunction([NOBODY, part]) == NOBODY
    assert conjunction([]) == EVERYBODY
    assert disjunction([NOBODY, part]) is part
    assert disjunction([EVERYBODY, part]) == EVERYBODY
    assert disjunction([]) == NOBODY
    assert isinstance(negation(part), Negation)
    assert (negation(EVERYBODY), negation(NOBODY)) == (NOBODY, EVERYBODY)
