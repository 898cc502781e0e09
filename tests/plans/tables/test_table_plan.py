"""What all plans for SQL share: settings, declarations, one round, and then a database."""

import pytest

import sottovoce as sv
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.records import Records
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.table_plan import (
    MAX_FANOUT,
    TablePlan,
    columns_of,
    joined_tables,
    single_table,
)

COLUMNS = {"age": range(100), "home": ["flat", "house"]}


def test_columns_are_domains_lists_of_labels_or_ranges():
    records = columns_of({**COLUMNS, "year": Integers(1900, 2030)})
    assert records.names == ("age", "home", "year")
    assert records.attributes[1] == Categories(("flat", "house"))
    assert columns_of(records) is records
    for wrong in ({}, ["age"], None):
        with pytest.raises(ParameterError, match="`columns` must map at least one name"):
            columns_of(wrong)


def test_one_table_is_of_records_or_of_lists_with_public_columns_under_its_name():
    domain = single_table("people", COLUMNS, {"os": ["iOS", "Android"]}, None)
    assert isinstance(domain.tables[0], Records)
    assert domain.public_names == ("people.os",)
    assert isinstance(single_table("visits", COLUMNS, None, 5).tables[0], Lists)


def test_joined_tables_take_the_names_that_they_have_in_the_join():
    users = sv.Table(COLUMNS, public={"os": ["iOS", "Android"]})
    domain = joined_tables({"u": users, "v": sv.Table({"hour": range(24)}, most=3)})
    assert domain.names == ("u", "v")
    assert domain.public_names == ("u.os",)


def test_every_plan_for_sql_is_one_and_says_what_envelopes_carry():
    plain, public = sv.Table(COLUMNS), sv.Table(COLUMNS, public={"os": ["iOS", "Android"]})
    assert isinstance(plain, TablePlan)
    assert plain.answers_sql
    assert (plain.needs, public.needs) == (("subject",), ("subject", "public"))


def test_rows_are_people_or_records():
    joint = sv.Joint({"u": sv.Table(COLUMNS), "v": sv.Table({"hour": range(24)}, most=3)})
    assert (joint.unit("u.age"), joint.unit("v.hour")) == ("people", "records")


def test_many_tables_on_one_budget_are_a_concern():
    tables = {name: sv.Table({"a": range(4)}) for name in "xyz"}
    assert sv.Joint({name: tables[name] for name in "xy"}).concerns(1.0) == ()
    (concern,) = sv.Joint(tables).concerns(1.0)
    assert "3 records of 3 tables" in concern


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fanout": 1}, "`fanout` must"),
        ({"fanout": MAX_FANOUT + 1}, "`fanout` must"),
        ({"fanout": "large"}, "`fanout` must"),
        ({"rows": 2}, "`rows` must be between 1 and `most`"),
        ({"rows": 6, "most": 5}, "`rows` must be between 1 and `most`"),
        ({"rows": 0, "most": 5}, "`rows` must be between 1 and `most`"),
        ({"rows": (1, 1)}, "`rows` must hold one number"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(settings, said):
    with pytest.raises(ParameterError, match=said):
        sv.Table(COLUMNS, **settings)


def test_the_fanout_can_be_chosen_for_the_longest_column():
    assert 2 <= sv.Table(COLUMNS, fanout="auto").fanout <= MAX_FANOUT
