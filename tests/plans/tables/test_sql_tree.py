"""Pieces of trees print as the SQL that they stand for, in the dialect of each engine."""

import pytest

from sottovoce.plans.tables import sql_tree as tree


def printed(node, dialect="duckdb"):
    return node.sql(dialect=dialect)


def test_columns_tables_and_names():
    assert printed(tree.column("s0")) == "s0"
    assert printed(tree.table("factor_0")) == "factor_0"
    assert printed(tree.alias(tree.total_of(tree.column("z0")), "t0")) == "SUM(z0) AS t0"


def test_sums_and_products_join_all_parts_in_order():
    parts = [tree.column(name) for name in "abc"]
    assert printed(tree.times(parts)) == "a * b * c"
    parts = [tree.column(name) for name in "abc"]
    assert printed(tree.plus(parts)) == "a + b + c"


@pytest.mark.parametrize("value", [0.1, 1e-300, -2.5, 123456789.123])
def test_a_double_keeps_every_digit_in_every_dialect(value):
    for dialect in ("duckdb", "spark"):
        text = printed(tree.double(value), dialect)
        assert "AS DOUBLE" in text
        assert repr(abs(value)) in text
        assert ("-" in text.replace("e-", "")) == (value < 0)


def test_text_is_quoted_so_that_it_stays_text():
    assert printed(tree.literal("it's; drop table x")) == "'it''s; drop table x'"
    assert printed(tree.literal(3)) == "CAST(3.0 AS DOUBLE)"


@pytest.mark.parametrize("sign", ["=", "<>", "<", "<=", ">", ">="])
def test_a_comparison_is_written_with_its_sign(sign):
    node = tree.comparison(sign)(this=tree.column("p0"), expression=tree.number(1))
    assert printed(node) == f"p0 {sign} 1"
