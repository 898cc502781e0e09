"""Guarantees of shuffled tasks: at the number of people who took part, never a fake more."""

from dataclasses import replace

import pytest

from collector.people import counting, published
from collector.shuffled import Chain, shuffled
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.collector import guarantees
from sottovoce.collector.store.base import State

CHAIN = Chain.of(2)


def sealed(task, users):
    state = published(task, state=State.SEALED)
    return state.after(state.record, [replace(state.last, users=users)])


def guarantee(published):
    return guarantees.round_guarantee(published, published.last)


def test_people_count_and_the_fakes_of_one_hop_hide_them():
    task = shuffled(hops=CHAIN.hops, users=50, fakes=100)
    promise = guarantee(sealed(task, 1_200))
    account = ShuffledGuarantee.of(task.opening.ask.blanket, 1_000, 100, task.shuffle.delta)
    assert promise == account
    assert promise.central < task.shuffle.central, "more people than promised hide better"


def test_more_people_hide_better():
    task = shuffled(users=50)
    few = guarantee(sealed(task, 100))
    many = guarantee(sealed(task, 10_000))
    assert many.central < few.central


@pytest.mark.parametrize("state", [State.OPEN, State.CLOSING, State.SEALING])
def test_before_a_round_is_sealed_there_is_only_the_document(state):
    assert guarantee(published(shuffled(), state=state)) is None


def test_other_tasks_promise_nothing_of_the_kind():
    assert guarantee(sealed(counting(), 100)) is None
    assert guarantee(sealed(shuffled(fakes=10), 10)) is None, "fakes alone"
