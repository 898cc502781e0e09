"""Expressions over all values of a column: arithmetic, comparisons, CASE, NULL, and refusals."""

import numpy as np
import pytest
from sqlglot import exp

from sottovoce.sql.errors import QueryError, located
from sottovoce.sql.evaluate import Values, evaluate, truth
from sottovoce.sql.grammar import parsed

NUMBERS = Values.of_numbers(np.array([-3, 0, 4, 10]))
TEXTS = Values.of_texts(["north", "South", "n.e.", "n_e"])


def tree(expression):
    node = parsed(f"SELECT SUM({expression}) FROM t").expressions[0].expressions[0]
    assert isinstance(node, exp.Expr)
    return node


def column(node):
    return {"x": NUMBERS, "label": TEXTS}[node.name]


def entries(expression):
    """An entry per value, None where it is NULL."""
    found = evaluate(tree(expression), column)
    shape = np.broadcast_shapes(found.array.shape, found.present.shape)
    array, present = np.broadcast_to(found.array, shape), np.broadcast_to(found.present, shape)
    pairs = zip(array.tolist(), present.tolist(), strict=True)
    return [entry if there else None for entry, there in pairs]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x + 1", [-2, 1, 5, 11]),
        ("2 * x - x / 2", [-4.5, 0, 6, 15]),
        ("-x DIV 4", [0, 0, -1, -3]),
        ("x % 4", [1, 0, 0, 2]),
        ("12 / x", [-4, None, 3, 1.2]),
        ("ABS(x) + CEIL(x / 4)", [3, 0, 5, 13]),
        ("ROUND(x / 3, 1)", [-1, 0, 1.3, 3.3]),
        ("SQRT(x)", [None, 0, 2, 10**0.5]),
        ("CASE WHEN x < 0 THEN 1 WHEN x < 5 THEN 2 END", [1, 2, 2, None]),
        ("CASE x WHEN 4 THEN x ELSE 0 END", [0, 0, 4, 0]),
        ("NULL", [None]),
        ("x > 0 AND x < 10", [False, False, True, False]),
        ("NOT x = 4 OR x > 3", [True, True, True, True]),
        ("x IN (0, 5 + 5)", [False, True, False, True]),
        ("x BETWEEN 0 AND 4", [False, True, True, False]),
        ("x BETWEEN SYMMETRIC 4 AND 0", [False, True, True, False]),
        ("12 / x > 0", [False, None, True, True]),
        ("12 / x > 0 OR x = 0", [False, True, True, True]),
        ("(12 / x) IS NULL", [False, True, False, False]),
        ("label = 'north' OR label <> 'South'", [True, False, True, True]),
        ("label LIKE 'n%'", [True, False, True, True]),
        ("label LIKE 'n_e%'", [False, False, True, True]),
        ("label LIKE 'n.e.'", [False, False, True, False]),
        ("label ILIKE 's%h'", [False, True, False, False]),
        ("x > NULL", [None]),
    ],
)
def test_every_value_has_its_entry(expression, expected):
    found = entries(expression)
    if len(expected) == 1:
        expected = expected * len(found)
    assert [each if each is None else pytest.approx(each) for each in expected] == found


def test_null_is_not_true():
    assert truth(tree("12 / x > 0"), column).tolist() == [False, False, True, True]


def test_whole_numbers_are_compared_exactly():
    large = Values("number", np.array([2**53, 2**53 + 1]), np.ones(2, bool))
    assert truth(tree(f"x = {2**53 + 1}"), lambda _: large).tolist() == [False, True]


@pytest.mark.parametrize(
    "condition",
    [
        f"x > {2**60 + 1}",
        f"x >= {2**60 + 2}.0",
        f"NOT x <= {2**60 + 1}",
        f"x IN ({2**60 + 2}, {2**60 + 3})",
        f"x BETWEEN {2**60 + 2} AND {10**30}",
        f"x * 100 > {2**60 + 1} * 100",
        f"x + {2**62} + {2**62} > {2**60 + 1} + {2**62} + {2**62}",
        f"x - {2**60} > 1.5",
    ],
)
def test_whole_numbers_of_nineteen_digits_are_compared_exactly(condition):
    """As doubles 2^60 to 2^60 + 3 are one number."""
    large = Values("number", 2**60 + np.arange(4), np.ones(4, bool))
    assert truth(tree(condition), lambda _: large).tolist() == [False, False, True, True]


def test_a_fraction_beside_a_large_whole_number_is_compared_exactly():
    large = Values("number", 2**53 + np.arange(3), np.ones(3, bool))
    assert truth(tree("x > 9007199254740992.0 + 0.0"), lambda _: large).tolist() == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("rule", "expression"),
    [
        ("literal-type", "x = 'five'"),
        ("range-category", "label < 'north'"),
        ("category-measure", "label + 1"),
        ("case-types", "CASE WHEN x > 1 THEN 'a' ELSE 5 END"),
        ("function", "LENGTH(label)"),
        ("arguments", "ABS(x, x)"),
        ("number", "x * 1e308 * 1e308"),
        ("like", "x LIKE '1%'"),
        ("bare-column", "NOT x"),
    ],
)
def test_what_cannot_be_computed_is_refused(rule, expression):
    text = f"SELECT SUM({expression}) FROM t"
    with pytest.raises(QueryError) as refused, located(text):
        evaluate(tree(expression), column)
    assert refused.value.rule == rule
