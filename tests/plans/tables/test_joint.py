"""Several tables as one plan: from tables or their settings, with a document that restores it."""

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.table import Table
from sottovoce.wire import codec

USERS = {"columns": {"age": range(100)}, "public": {"os": ["iOS", "Android"]}}
VISITS = {"columns": {"hour": range(24)}, "most": 5, "rows": 2}


def test_tables_or_their_settings_make_the_same_plan():
    stated = Joint({"users": USERS, "visits": VISITS})
    assert stated == Joint({"users": Table(**USERS), "visits": Table(**VISITS)})
    assert stated.domain.names == ("users", "visits")
    assert stated.rows == (1, 2)


def test_rows_may_be_stated_for_all_tables_together():
    joint = Joint({"users": USERS, "visits": VISITS}, rows=(1, 3))
    assert joint.rows == (1, 3)
    with pytest.raises(ParameterError, match="`rows`"):
        Joint({"users": USERS, "visits": VISITS}, rows=(2, 3))


def test_the_document_of_a_task_restores_it():
    task = sv.Task("t", Joint({"users": USERS, "visits": VISITS}, fanout=4), epsilon=2.0)
    restored = codec.task(codec.parse(codec.canonical(codec.document(task))))
    assert restored.plan == task.plan
    assert restored.plan.fanout == 4


def test_the_budget_is_shared_by_all_records_that_are_reported():
    joint = Joint({"users": USERS, "visits": VISITS})
    layout = joint.layout(3.0)
    assert layout.record_epsilon <= 1.0
    assert sum(len(factor.slots) for factor in layout.factors) == 3


@pytest.mark.parametrize("wrong", [None, 3, ["users"]])
def test_what_is_no_table_by_name_is_refused(wrong):
    with pytest.raises(ParameterError, match="`services` must map the name of each table"):
        Joint(wrong)


@pytest.mark.parametrize(
    "services", [{}, None, {"users": ["age"]}, {"users": {**USERS, "fanout": 4}}]
)
def test_a_task_file_states_each_table_with_its_own_settings_alone(services):
    Joint.check_settings({"services": {"users": USERS}})
    with pytest.raises(ParameterError, match="each with some of: columns, most, public, rows"):
        Joint.check_settings({"services": services})
