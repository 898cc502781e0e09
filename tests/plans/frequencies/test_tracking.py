"""A histogram epoch after epoch from the same devices."""

from itertools import chain

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

PLACES = ["home", "office", "road"]


def test_estimates_are_unbiased_in_every_epoch():
    """Real devices over three epochs, a third of which move once: totals within 5 sigma of the
    truth.
    """
    people = 500
    task = sv.Task("where", Tracking(PLACES, 3), epsilon=6.0, distinct=2)
    clients = [Client(task, ":memory:") for _ in range(people)]
    truth, sent = [], []
    for number in range(3):
        held = [PLACES[(place + (number > 1 and place % 3 == 0)) % 2] for place in range(people)]
        asked = Round(number, task.opening.ask)
        sent.append(
            [client.answer(value, asked=asked) for client, value in zip(clients, held, strict=True)]
        )
        truth.append([held.count(place) for place in PLACES])
    answers = sv.answer(task, chain(*sent))
    assert list(answers) == ["epoch 1", "epoch 2", "epoch 3"]
    for answer, counts in zip(answers.values(), truth, strict=True):
        assert answer.labels == tuple(PLACES)
        off = np.abs(answer.estimate.totals - counts)
        assert (off < 5 * answer.estimate.errors).all(), (
            answer.name,
            answer.estimate.totals,
            counts,
        )
        assert answer.estimate.users == people
    assert all(client.ledger.spent == 6.0 for client in clients)


def test_reports_of_one_device_differ_from_epoch_to_epoch_unless_another_mechanism_is_named():
    """The instantaneous round: a collector cannot follow a device by its noise."""
    labels = [f"{place}" for place in range(40)]
    for kind, expected in (("sue", 20), ("oue", 1), ("olh", 1), ("grr", 1)):
        task = sv.Task("where", Tracking(labels, 20, kind), epsilon=4.0, distinct=2)
        client = Client(task, ":memory:")
        sent = {
            client.answer("7", asked=Round(number, task.opening.ask))[44:] for number in range(20)
        }
        assert len(sent) == expected, kind


def test_both_epsilons_are_stated():
    """Permanent: the task's divided by the distinct values.

    Once: that of RAPPOR with 3/4 and 1/4.
    """
    mechanism = sv.Task(
        "where", Tracking(PLACES, 5), epsilon=2 * np.log(9), distinct=2
    ).opening.ask.mechanism
    assert mechanism.epsilon == pytest.approx(np.log(9))
    assert mechanism.epsilon_realised <= mechanism.epsilon
    assert mechanism.epsilon_once == pytest.approx(2 * np.log(0.625 / 0.375))


@pytest.mark.parametrize("distinct", [1, 2, 3, 7, 49, 1000, 65535])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 2.1972245773362196, 10.0])
def test_the_responses_together_never_cost_more_than_the_task(epsilon, distinct):
    task = sv.Task("where", sv.Histogram(PLACES), epsilon, distinct=distinct)
    share = exact.stated(task.response_epsilon)
    assert share * distinct <= exact.stated(epsilon)
    assert task.response_epsilon == pytest.approx(epsilon / distinct, rel=1e-15)
    assert task.opening.epsilon == task.response_epsilon


def test_a_task_without_distinct_values_spends_its_epsilon_on_one_response():
    assert sv.Task("once", sv.Histogram(PLACES), 1.0).response_epsilon == 1.0


def test_tracking_needs_a_task_that_declares_distinct_values():
    with pytest.raises(ParameterError, match="distinct"):
        sv.Task("where", Tracking(PLACES, 3), epsilon=1.0)


@pytest.mark.parametrize("distinct", [0, -1, 65536, True, 2.0, "2"])
def test_an_impossible_number_of_distinct_values_is_refused(distinct):
    with pytest.raises(ParameterError):
        sv.Task("where", Tracking(PLACES, 3), epsilon=1.0, distinct=distinct)


@pytest.mark.parametrize("epochs", [0, -1, 65537, True, 2.0])
def test_an_impossible_number_of_epochs_is_refused(epochs):
    with pytest.raises(ParameterError, match="epochs"):
        Tracking(PLACES, epochs)


def test_a_mechanism_for_numbers_is_refused():
    with pytest.raises(ParameterError):
        sv.Task("where", Tracking(PLACES, 3, "duchi"), epsilon=1.0, distinct=2)


def test_what_was_sealed_may_be_shown_before_the_end():
    task = sv.Task("where", Tracking(PLACES, 3), epsilon=2.0, distinct=1)
    collected = MemoryCollected(task)
    assert task.plan.so_far(collected) is None
    for number in range(2):
        asked = task.plan.step(collected)
        assert asked == Round(number, task.opening.ask)
        messages = [Client(task, ":memory:").answer("home", asked=asked) for _ in range(5)]
        collected = collected.after(asked, batches_of(task, asked, messages))
    assert list(task.plan.so_far(collected)) == ["epoch 1", "epoch 2"]
    assert sv.Histogram(PLACES).so_far(collected) is None


def test_the_document_restores_the_task():
    task = sv.Task("where", Tracking(range(10), 52), epsilon=2.0, distinct=3)
    assert codec.task(codec.parse(codec.canonical(codec.document(task)))) == task
    assert codec.publish(task).distinct == 3


def test_it_can_be_simulated():
    task = sv.Task("where", Tracking(PLACES, 2), epsilon=4.0, distinct=1)
    answers = sv.simulate(task, ["home", "office"] * 2000, seed=3)
    for answer in answers.values():
        assert abs(answer.estimate.totals[0] - 2000) < 5 * answer.estimate.errors[0]
