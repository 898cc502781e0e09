"""The JavaScript client answers joint statistics, and the collector reads and adds up what it
sends.
"""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.engine.memory import batches_of
from sottovoce.wire import codec

USERS, MANY = 12, 100
ORDERS = (1, 2, 3)
PEOPLE = {
    "home": ["flat", "house", "other"],
    "car": ["no", "yes"],
    "rooms": range(1, 5),
    "pet": range(2),
}
HELD = {"home": "other", "car": "yes", "rooms": 2, "pet": 1}
INDICES, OTHERS = (2, 1, 1, 1), (0, 0, 0, 1)


def answered(worker, epsilon, users):
    """Return the tasks and the messages of so many people, by the order of their tables."""
    tasks = {
        order: sv.Task(f"order {order}", sv.Marginals(PEOPLE, 10_000, order), epsilon=epsilon)
        for order in ORDERS
    }
    given = {
        str(order): {"text": codec.canonical(codec.document(task)), "value": HELD, "users": users}
        for order, task in tasks.items()
    }
    messages = worker.messages("answers", given)
    return {order: (task, messages[str(order)]) for order, task in tasks.items()}


@pytest.fixture(scope="module")
def answers(worker):
    return answered(worker, 2.0, USERS)


@pytest.mark.parametrize("order", ORDERS)
def test_the_collector_reads_what_the_client_sends(order, answers):
    task, messages = answers[order]
    batches = batches_of(task, task.opening, messages)
    assert sum(len(batch.reports) for batch in batches.values()) == len(messages) == USERS


def test_the_reports_of_people_who_hardly_lie_support_what_they_hold(worker):
    """At epsilon 20 fewer than one report in 20 is a lie; of 100 more than 80 are true but for a
    chance below 1e-6.
    """
    frank = answered(worker, 20.0, MANY)
    held, other = (
        {order: support(*frank[order], indices) for order in frank} for indices in (INDICES, OTHERS)
    )
    assert all(count > 0.8 * MANY for count in held.values()), held
    assert all(count < 0.8 * MANY for count in other.values()), (
        other
    )  # the same check of what they do not hold


def support(task, messages, indices):
    """Return how many reports are what somebody with these indices sends."""
    found = 0
    for address, batch in batches_of(task, task.opening, messages).items():
        question = task.opening.question(address)
        encoded = question.encoding(np.array([indices]), None)
        found += question.mechanism.count(batch.reports, encoded)[0]
    return found
