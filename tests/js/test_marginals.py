"""The JavaScript client answers joint statistics by every method, and the collector reads and adds
up what it sends.
"""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.engine.memory import batches_of
from sottovoce.plans.marginals import marginals
from sottovoce.wire import codec

USERS, MANY = 12, 100
IN_THE_LABORATORY = (
    "inp_ht",
    "marg_ht",
    "inp_htcms",
    "inp_em",
)  # methods whose kinds no device reads
METHODS = [method for method in marginals.METHODS if method not in IN_THE_LABORATORY]
PEOPLE = {
    "home": ["flat", "house", "other"],
    "car": ["no", "yes"],
    "rooms": range(1, 5),
    "pet": range(2),
}
HELD = {"home": "other", "car": "yes", "rooms": 2, "pet": 1}
INDICES, OTHERS = (2, 1, 1, 1), (0, 0, 0, 1)
HONEST = [
    method for method in METHODS if not method.endswith("_rr")
]  # whose reports show the truth at a high epsilon


def answered(worker, methods, epsilon, users):
    """Return the tasks and the messages of so many people, by method."""
    tasks = {
        name: sv.Task(name, marginals.Marginals(PEOPLE, 10_000, 2, name), epsilon=epsilon)
        for name in methods
    }
    given = {
        name: {"text": codec.canonical(codec.document(task)), "value": HELD, "users": users}
        for name, task in tasks.items()
    }
    messages = worker.messages("answers", given)
    return {name: (task, messages[name]) for name, task in tasks.items()}


@pytest.fixture(scope="module")
def answers(worker):
    return answered(worker, METHODS, 2.0, USERS)


@pytest.mark.parametrize("method", METHODS)
def test_the_collector_reads_what_the_client_sends(method, answers):
    task, messages = answers[method]
    batches = batches_of(task, task.opening, messages)
    assert sum(len(batch.reports) for batch in batches.values()) == len(messages) == USERS


def test_the_reports_of_people_who_hardly_lie_support_what_they_hold(worker):
    """At epsilon 20 fewer than one report in 20 is a lie; of 100 more than 80 are true but for a
    chance below 1e-6.
    """
    frank = answered(worker, HONEST, 20.0, MANY)
    held, other = (
        {name: support(*frank[name], indices) for name in frank} for indices in (INDICES, OTHERS)
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
