"""One private table as a plan: its settings, and a document that restores it."""

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.table import Table
from sottovoce.plans.tables.table_plan import single_table
from sottovoce.wire import codec

COLUMNS = {"age": range(100), "home": ["flat", "house"]}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"name": "users", "public": {"os": ["iOS", "Android"]}},
        {"most": 5, "rows": 2},
        {"fanout": 10},
    ],
)
def test_the_document_of_a_task_restores_it(settings):
    task = sv.Task("t", Table(COLUMNS, **settings), epsilon=1.0)
    assert codec.task(codec.parse(codec.canonical(codec.document(task)))).plan == task.plan


def test_without_settings_everybody_has_one_record_of_the_table_people():
    plan = Table(COLUMNS)
    assert plan.domain.names == ("people",)
    assert plan.domain.most(0) == 0
    assert (plan.rows, plan.fanout) == ((1,), FANOUT)


def test_columns_or_a_domain_make_the_same_table():
    domain = single_table("people", COLUMNS, None, None)
    assert Table(domain=domain) == Table(COLUMNS)


def test_several_tables_are_a_joint():
    joint = sv.Joint({"a": Table(COLUMNS), "b": Table(COLUMNS)})
    with pytest.raises(ParameterError, match="`domain` must hold one table"):
        Table(domain=joint.domain)
