"""Measures: sums of terms of one column, functions of a column, branches under their conditions."""

import numpy as np
import pytest

from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.sql.conditions import Within
from sottovoce.sql.grammar import parsed
from sottovoce.sql.measures import MeasureReader, text_of
from sottovoce.sql.names import Scope
from sottovoce.sql.query import EVERYBODY, Column
from sottovoce.sql.where import ConditionReader

PEOPLE = Tables(("people",), (Records(("a", "b"), (Integers(0, 4), Integers(0, 2))),))
A, B = Column(0, 0), Column(0, 1)


def read(expression):
    select = parsed(f"SELECT SUM({expression}) FROM people")
    conditions = ConditionReader(Scope.of(PEOPLE, select))
    argument = select.expressions[0].expressions[0]
    return MeasureReader(conditions).measure(argument), text_of(argument, conditions)


@pytest.mark.parametrize(
    ("expression", "terms"),
    [
        ("a", [(1.0, A)]),
        ("2 * a - b / 4 + 3", [(2.0, A), (-0.25, B), (3.0, None)]),
        ("-(a - b) * 2 + a", [(-1.0, A), (2.0, B)]),
        ("a - a", []),
        ("1 + 2 * 3", [(7.0, None)]),
    ],
)
def test_sums_are_taken_apart(expression, terms):
    measure, _ = read(expression)
    assert [(term.factor, term.column) for term in measure.terms] == terms
    assert measure.present == EVERYBODY


def test_what_remains_of_one_column_is_a_number_for_each_value():
    measure, _ = read("3 * (a * a) + b")
    square, linear = measure.terms
    assert (square.factor, square.column) == (3.0, A)
    assert square.function.numbers.tolist() == [0, 1, 4, 9, 16]
    assert (linear.column, linear.function) == (B, None)


def test_a_function_that_is_null_somewhere_counts_only_where_it_is_not():
    measure, _ = read("12 / a")
    (term,) = measure.terms
    assert term.function.numbers.tolist() == [0, 12, 6, 4, 3]
    assert isinstance(measure.present, Within)
    assert measure.present.chosen.tolist() == [False, True, True, True, True]


def evaluated(measure, a, b):
    """The measure of one record, by its terms."""
    total = 0.0
    for term in measure.terms:
        value = 1.0 if term.column is None else {A: a, B: b}[term.column]
        if term.function is not None:
            value = term.function.numbers[int(value)]
        total += term.factor * value * holds(term.where, a, b)
    return total


def holds(condition, a, b):
    from sottovoce.sql.conditions import expanded

    if condition == EVERYBODY:
        return 1.0
    _, monomials = expanded(condition)
    return sum(
        each.factor * all(chosen[{A: a, B: b}[column]] for column, chosen in each.sets.items())
        for each in monomials
    )


def test_branches_over_several_columns_count_once_each():
    measure, _ = read("CASE WHEN a > 2 THEN b WHEN b = 1 THEN 10 * a ELSE 7 END")
    for a in range(5):
        for b in range(3):
            expected = b if a > 2 else 10 * a if b == 1 else 7
            assert evaluated(measure, a, b) == expected
            assert holds(measure.present, a, b) == 1.0
    missing, _ = read("CASE WHEN a > 2 AND b = 1 THEN b END")
    assert [holds(missing.present, a, 1) for a in range(5)] == [0, 0, 0, 1, 1]


def test_equal_expressions_have_one_text():
    assert read("A + B * 2")[1] == read("people.a + (b * 2)")[1]
    assert read("(a + b) * 2")[1] != read("a + b * 2")[1]
    assert np.isfinite(len(read("CASE WHEN a = 1 THEN b END")[1]))
