"""The plan of marginals: what it refuses, what devices send, and what the answers list.

What CALM shares with other methods (price, sums, messages) is in
tests/lab/baselines/marginals/test_baseline_marginals.py, for all methods at once.
"""

import numpy as np
import pytest
from matplotlib.figure import Figure

import sottovoce as sv
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.engine import memory
from sottovoce.errors import BudgetError, DomainError, NoDataError, ParameterError
from sottovoce.lab.populations.records import as_columns, movielens_like, record_domain
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.tasks.question import Address
from sottovoce.wire import codec

FIVE = record_domain((2,) * 5)
POPULATION = movielens_like(1 << 12, 5)


def planned(epsilon=1.5, **settings):
    return sv.Task("joint", Marginals(FIVE, **{"users": 4096, "order": 2, **settings}), epsilon)


def test_a_device_is_charged_once_for_the_whole_epsilon():
    client = sv.Client(planned(), ":memory:")
    client.answer(dict.fromkeys(FIVE, 1))
    assert [entry.epsilon for entry in client.ledger.entries()] == [1.5]
    with pytest.raises(BudgetError):
        client.answer(dict.fromkeys(FIVE, 1))
    assert client.ledger.spent == 1.5


def test_messages_of_devices_give_the_answer():
    task = planned()
    people = [dict(zip(FIVE, row, strict=True)) for row in POPULATION[:60].tolist()]
    messages = [sv.Client(task, ":memory:").answer(record) for record in people]
    answers = memory.answer(task, messages)
    assert answers.users == 60
    assert len(answers["a0"].labels) == 2


@pytest.mark.parametrize(
    "record",
    [
        {"a0": 1},
        dict.fromkeys(FIVE, 2),
        dict.fromkeys(FIVE, float("nan")),
        [0, 0, 0, 0, 0],
    ],
)
def test_a_record_outside_the_domain_is_answered_and_charged_as_any_other(record):
    task = planned()
    with pytest.raises(DomainError):
        task.plan.domain.indices([record])
    client = sv.Client(task, ":memory:")
    inside = sv.Client(task, ":memory:").answer(dict.fromkeys(FIVE, 0))
    assert len(client.answer(record)) == len(inside)
    assert client.ledger.spent == task.epsilon


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("users", 0),
        ("users", 1.5),
        ("users", (1 << 53) + 1),
        ("order", 0),
        ("order", 6),
        ("order", True),
        ("threshold", 0.5),
        ("view_size", -1),
        ("view_size", 6),
    ],
)
def test_an_impossible_setting_is_refused_by_its_name(name, setting):
    with pytest.raises(ParameterError, match=f"`{name}`"):
        Marginals(FIVE, **{name: setting})


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_an_impossible_threshold_of_the_published_method_is_refused(threshold):
    with pytest.raises(ParameterError, match="`threshold`"):
        Marginals(FIVE, method="calm", threshold=threshold)


def test_documents_of_the_published_method_are_read_as_they_are_written():
    """They state their threshold, and their views follow from it: 65 pairs do not contain all."""
    plan = Marginals(record_domain((2,) * 16), 1 << 16, 3, method="calm")
    content = codec.document(sv.Task("old", plan, 1.0))
    assert content["plan"]["threshold"] == "0.001"
    assert "view_size" not in content["plan"]
    assert len(content["opening"]["ask"]["members"]["columns"]) == 65
    assert codec.task(codec.parse(codec.canonical(content))).plan == plan


def test_documents_state_neither_threshold_nor_the_default_view_size():
    assert set(codec.document(planned())["plan"]) == {"kind", "users", "order", "method"}
    asked = planned(view_size=3)
    assert codec.document(asked)["plan"]["view_size"] == 3
    assert {len(view) for view in asked.opening.ask.members.columns} == {3}


def test_the_map_of_all_pairs_is_drawn_into_the_axes_of_a_caller():
    answers = sv.simulate(planned(), as_columns(POPULATION), seed=1)
    figure = Figure()
    axes = figure.subplots()
    assert answers.heat(ax=axes) is figure
    assert len(axes.images) == 1
    truth = np.zeros((5, 5))
    assert answers.heat(truth=truth, ax=axes) is figure
    assert {panel.get_title(loc="left") for panel in figure.axes} >= {"estimated", "really"}


def test_where_nobody_was_asked_about_pairs_answers_say_so():
    task = planned(0.2, users=400)
    people = as_columns(POPULATION[:400])
    assert {len(view) for view in task.opening.ask.members.columns} == {1}
    answers = sv.simulate(task, people, seed=1)
    assert np.isnan(answers.information()).sum() == 20
    with pytest.raises(NoDataError, match="no view contains"):
        answers.dependence("a0", "a1")
    with pytest.raises(NoDataError, match="view_size"):
        answers.heat()
    side = answers.views(["a0", "a1"])
    assert side.pairs is None
    assert "Nobody was asked about 10 of the 10 pairs" in side.remarks[-1]
    table = answers.marginal("a0", "a1").estimate
    assert "maximum entropy" in table.steps[-1]
    assert len(answers.synthetic(3)) == 3


def test_more_than_63_attributes_are_asked_about():
    many = {f"a{number}": range(2) for number in range(70)}
    task = sv.Task("wide", Marginals(many, users=1 << 18, order=2, view_size=2), 1.0)
    assert len(task.opening.ask.members) == 70 * 69 // 2
    records = np.zeros((200, 70), np.int64)
    answers = sv.simulate(task, dict(zip(many, records.T, strict=True)), seed=1)
    assert answers.model.fit((3, 69)).table.shape == (2, 2)


def test_attributes_without_a_list_of_values_are_refused():
    with pytest.raises(ParameterError, match="attribute 'a' of `domain`"):
        Marginals(Records(("a",), (Numbers(0, 1, 11),)), 100, 1)


def test_attributes_of_too_many_values_are_refused():
    with pytest.raises(ParameterError, match="attribute 'b' of `domain`"):
        Marginals({"a": range(2), "b": range((1 << 20) + 1)}, 100, 1)


def test_the_document_restores_the_task():
    task = planned()
    again = codec.task(codec.parse(codec.canonical(codec.document(task))))
    assert again == task
    assert again.opening == task.opening


def test_a_document_that_names_a_method_of_the_laboratory_is_refused():
    content = codec.document(planned())
    assert content["plan"]["method"] == "pooled-2"
    content["plan"]["method"] = "inp_ht"
    known = "`method` must be one of pooled, pooled-2, calm, not 'inp_ht'"
    with pytest.raises(ParameterError, match=known):
        codec.task(codec.parse(codec.canonical(content)))


def test_the_answers_list_single_attributes_and_pairs_by_name():
    answers = sv.simulate(planned(), as_columns(POPULATION), seed=1)
    assert len(answers) == 5 + 10
    assert answers["a0 & a3"].labels == ("0 & 0", "0 & 1", "1 & 0", "1 & 1")
    assert answers["a0"].mechanism == "pooled-2"
    single = sv.simulate(planned(order=1), as_columns(POPULATION), seed=1)
    assert set(single) == set(FIVE)


def test_a_table_is_computed_once():
    answers = sv.simulate(planned(), as_columns(POPULATION), seed=1)
    assert answers.table((0, 1)) is answers.table((0, 1))


def test_erased_reports_need_nothing_beside_their_sums():
    task = planned()
    answers = sv.simulate(task, as_columns(POPULATION), seed=1)
    assert answers.kept() is None


@pytest.mark.parametrize("names", [(), ("a9",), ("a1", "a1")])
def test_a_marginal_of_other_attributes_is_refused(names):
    answers = sv.simulate(planned(), as_columns(POPULATION), seed=1)
    with pytest.raises(ParameterError):
        answers.marginal(*names)


def test_every_view_is_answered_by_about_as_many_people():
    task = planned()
    family = task.opening.ask.members
    assert task.opening.question(Address(0, len(family) - 1)).encoding.columns == family.columns[-1]
    counts = np.bincount(task.opening.ask.pick(np.arange(4096, dtype=np.uint64) << np.uint64(52)))
    assert counts.max() - counts.min() <= 1
