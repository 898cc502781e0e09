"""The questions of a round are made before reports are checked, and by nobody who is in a hurry."""

import asyncio
import time

import numpy as np
import pytest

import sottovoce as sv
from collector.people import ASKS, honest, once, published
from sottovoce.collector.admission import admit
from sottovoce.collector.preparation import Preparation
from sottovoce.collector.store.base import State
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.web.problems import RequestError

PEOPLE = 3000


@pytest.fixture(scope="module")
def layered():
    """A task of 1,023 layers, and people who answer most of them."""
    table = sv.Table({f"c{number}": range(1, 126) for number in range(5)})
    task = sv.Task("layers", table, 4.0, collection=Collection(minimum=50))
    dice = np.random.default_rng(1)
    values = {f"c{number}": dice.integers(1, 126, PEOPLE) for number in range(5)}
    return task, crowd.messages(task, values, rng=SeededRng(1))


def seconds_to_admit(task, messages):
    started = time.thread_time()
    admitted = admit(task, messages, ())
    assert not admitted.codes
    return time.thread_time() - started


def test_layers_that_are_seen_for_the_first_time_take_no_time_of_the_intake(layered):
    task, messages = layered
    prepared, unprepared = published(task), published(task)
    assert unprepared.asked  # both have read their documents
    prepared.prepare()
    assert prepared.prepared
    first = seconds_to_admit(unprepared, messages)
    again = seconds_to_admit(unprepared, messages)
    ready = seconds_to_admit(prepared, messages)
    assert ready < (first + again) / 2, (ready, first, again)


@pytest.mark.parametrize("shape", list(ASKS))
def test_every_kind_of_round_can_be_prepared_and_admits_the_same(shape):
    task = once(ASKS[shape])
    made = published(task)
    made.prepare()
    assert made.prepared
    sent = honest(task, 20)
    assert admit(made, sent, ()).codes == admit(published(task), sent, ()).codes == {}


def test_a_round_that_takes_no_reports_needs_no_preparation(layered):
    assert published(layered[0], state=State.SEALED).prepared


def test_what_is_prepared_stays_so_when_the_task_moves_on(layered):
    made = published(layered[0])
    made.prepare()
    assert made.after(made.record, made.rounds).prepared


def test_requests_wait_for_a_moment_and_share_one_preparation(layered):
    async def many(task, preparation):
        await asyncio.gather(*(preparation.wait(task) for _ in range(50)))

    task = published(layered[0])
    asyncio.run(many(task, Preparation(patience=60.0)))
    assert task.prepared


def test_who_comes_too_early_is_told_to_come_back(layered):
    async def hurry(task, preparation):
        with pytest.raises(RequestError) as refused:
            await preparation.wait(task)
        assert (refused.value.code, refused.value.retry_after) == ("busy", 1.0)
        while not task.prepared:
            await asyncio.sleep(0.01)
        await preparation.wait(task)

    asyncio.run(hurry(published(layered[0]), Preparation(patience=0.001)))
