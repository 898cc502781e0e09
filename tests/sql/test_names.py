"""Names of tables and columns: in any case, with or without a table, and refused by rule."""

import pytest

from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.sql.errors import Refusal
from sottovoce.sql.grammar import parsed
from sottovoce.sql.names import Scope
from sottovoce.sql.query import Column

DOMAIN = Tables(
    names=("Users", "visits"),
    tables=(
        Records(("Age", "state"), (Integers(0, 99), Categories(("NY", "WA")))),
        Records(("Age", "hour"), (Integers(0, 9), Integers(0, 23))),
    ),
    public=Records(("Users.os",), (Categories(("iOS", "Android")),)),
)


BOTH = "users AS u JOIN visits USING (uid)"


def scope(tables):
    return Scope.of(DOMAIN, parsed(f"SELECT COUNT(*) FROM {tables}"))


def column(name, tables=BOTH):
    """The column that a condition names."""
    select = parsed(f"SELECT COUNT(*) FROM {tables} WHERE {name} = 1")
    return Scope.of(DOMAIN, select).column(select.args["where"].this.this)


def rule(call, *arguments):
    """The rule that a name breaks."""
    with pytest.raises(Refusal) as refused:
        call(*arguments)
    return refused.value.rule


def test_tables_have_the_names_that_the_query_gives_them_in_lower_case():
    assert scope(BOTH).joined == {"u": 0, "visits": 1}
    assert scope("USERS").joined == {"users": 0}
    assert scope("visits JOIN users AS u ON u.uid = VISITS.uid").joined == {"visits": 1, "u": 0}


def test_columns_are_named_in_any_case_with_or_without_their_table():
    assert column("HOUR") == Column(1, 1)
    assert column("u.age") == Column(0, 0)
    assert column("U.OS") == column("os") == Column(0, 0, "Users.os")


def test_a_column_has_a_label_and_a_domain():
    both = scope(BOTH)
    assert both.label(Column(0, 0)) == "Users.Age"
    assert both.kind(Column(1, 1)) == Integers(0, 23)
    assert both.kind(Column(0, 0, "Users.os")) == Categories(("iOS", "Android"))
    assert "os" not in scope("visits").columns.values(), "a table that is not joined has no columns"


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("age", "ambiguous-column"),
        ("colour", "unknown-column"),
        ("users.age", "unknown-table"),
        ("uid", "uid"),
    ],
)
def test_a_column_that_is_not_clear_is_refused_by_its_rule(name, broken):
    assert rule(column, name) == broken


@pytest.mark.parametrize(
    ("tables", "broken"),
    [
        ("people", "unknown-table"),
        ("users AS a JOIN users AS b USING (uid)", "self-join"),
        ("users AS a JOIN visits AS a USING (uid)", "duplicate-alias"),
        ("users JOIN visits USING (age)", "join-key"),
        ("users JOIN visits ON users.age = visits.age", "join-key"),
        ("users JOIN visits ON visits.uid = visits.uid", "join-key"),
        ("users JOIN visits ON users.uid = others.uid", "unknown-table"),
    ],
)
def test_joins_that_are_not_on_persons_are_refused_by_their_rule(tables, broken):
    assert rule(scope, tables) == broken
