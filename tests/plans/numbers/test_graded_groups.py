"""Graded groups: how every group spends the budget, and what a document of them asks."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.plans.numbers.graded_groups import (
    PROBE,
    check_probe,
    graded_question,
    grades,
    group_tallies,
)
from sottovoce.tasks.question import Address
from sottovoce.wire import codec


def spent(epsilon, probe=PROBE):
    return [(grade.epsilon, grade.reports) for grade in grades(epsilon, probe)]


def test_the_groups_of_the_source():
    """ADV-15: epsilon 2 gives six groups of 1, 2, 4, 8, 16 and 32 reports."""
    assert spent(2.0) == [(2.0, 1), (1.0, 2), (0.5, 4), (0.25, 8), (0.125, 16), (0.0625, 32)]
    assert spent(1.5)[-1] == (0.0625, 24)
    assert len(spent(1.5)) == 6
    assert spent(PROBE) == [(PROBE, 1)]


@pytest.mark.parametrize("epsilon", [0.0625, 0.1, 0.3, 1 / 3, 0.7, 1.0, 1.7, 2.5, 3.0, 16.0])
def test_no_group_spends_more_than_the_budget(epsilon):
    for grade in grades(epsilon):
        assert grade.reports * exact.stated(grade.epsilon) <= exact.stated(epsilon)
    ask = graded_question(epsilon, PROBE, 32)
    assert exact.stated(ask.epsilon) <= exact.stated(epsilon)
    assert ask.member_count == len(grades(epsilon))
    halvings = int(np.ceil(np.log2(epsilon / PROBE) - 1e-9))
    assert ask.member_count == halvings + 1


def test_a_report_too_many_is_refused_by_devices():
    """The broken twin: rounding the last number of reports up spends 1.0625 of 1."""
    document = codec.document(sv.Task("age", sv.Distribution(0, 1, 16, defence="graded"), 1.0))
    last = document["opening"]["ask"]["members"][-1]
    assert len(last["parts"]) == 16
    last["parts"].append(last["parts"][0])
    with pytest.raises(ParameterError, match="spends more than the `epsilon`"):
        codec.notice(document)


@pytest.mark.parametrize(
    ("epsilon", "probe", "rule"),
    [
        (1.0, 2.0, "`probe` must be at most the epsilon of the task"),
        (20.0, 1 / 16, "`probe` must be at least epsilon / 256"),
        (1.0, 0.0, "`probe` must be a number above 0"),
    ],
)
def test_probes_that_make_no_sense_are_refused(epsilon, probe, rule):
    with pytest.raises(ParameterError, match=rule):
        grades(epsilon, probe)


def test_a_probe_needs_the_defence():
    with pytest.raises(ParameterError, match="`probe` must be left out"):
        sv.Distribution(0, 1, probe=0.125)
    with pytest.raises(ParameterError, match="`defence` must be one of graded"):
        sv.Mean(0, 1, defence="walls")
    assert check_probe(None, "graded") == PROBE
    assert check_probe(None, None) is None


def test_without_tokens_the_task_says_that_attackers_choose():
    plan = sv.Distribution(0, 1, defence="graded")
    (concern,) = sv.Task("age", plan, 1.0).concerns
    assert "attackers choose their group" in concern
    enrolled = sv.Task("age", plan, 1.0, collection=sv.Collection(enrolment=True))
    assert enrolled.concerns == ()
    assert concern in str(plan.advise(1_000, 1.0))
    assert sv.Task("age", sv.Distribution(0, 1), 1.0).concerns == ()


def test_the_tallies_of_a_group_are_those_of_all_its_slots():
    task = sv.Task("age", sv.Distribution(0, 1, 16, defence="graded", probe=0.25), 1.0)
    seen = {}

    class Watching(sv.Distribution, kind="watching", wire=False):
        def step(self, collected):
            if collected.rounds:
                seen["tallies"] = group_tallies(collected)
                seen["single"] = collected.tally(Address(member=2, slot=3))
            return super().step(collected)

    watched = sv.Task(
        "age", Watching(0, 1, 16, defence="graded", probe=0.25), 1.0, collection=enrolment()
    )
    sv.simulate(watched, np.linspace(0, 1, 300), seed=1)
    assert sorted(seen["tallies"]) == [0, 1, 2]
    assert sum(users for users, _ in seen["tallies"].values()) == 300
    for member, reports in ((0, 1), (1, 2), (2, 4)):
        users, tally = seen["tallies"][member]
        assert tally.users == reports * users
    assert seen["single"].users == seen["tallies"][2][0]
    assert task.opening.ask.slots_of(2) == 4


def enrolment():
    return sv.Collection(enrolment=True)


@pytest.mark.parametrize("plan", [sv.Distribution, sv.Mean])
def test_documents_say_what_the_defence_is(plan):
    task = sv.Task("age", plan(0, 1, defence="graded", probe=0.125), 1.0, collection=enrolment())
    document = codec.document(task)
    assert document["plan"]["defence"] == "graded"
    assert document["plan"]["probe"] == "0.125"
    assert codec.task(codec.parse(codec.canonical(document))) == task
    undefended = codec.document(sv.Task("age", plan(0, 1), 1.0))
    assert not {"defence", "probe"} & set(undefended["plan"])
