"""The JavaScript client with its own randomness: its reports follow the law of their mechanism.

The draws are the system's and cannot be seeded; a bound of six standard deviations is left by
chance once in 10^9.
"""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.encodings.sample import Sample
from sottovoce.engine.memory import batches_of
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.itemsets.padding import amplified
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

USERS, VALUE, SIGMAS = 1500, 2, 6
LENGTH = 4
BASKETS = {"short": ["b", "e"], "long": list("abcdefg"), "empty": []}
KINDS = ("grr", "oue", "sue", "the", "olh", "blh", "affine", "hadamard", "subset", "rmp")


def task_of(kind):
    return sv.Task(kind, sv.Histogram(list("abcdefgh"), kind), epsilon=1.5)


@pytest.fixture(scope="module")
def reports(worker):
    """Return the reports of people who all hold one value, by mechanism."""
    given = {
        kind: {"text": codec.canonical(codec.document(task_of(kind))), "value": "c", "users": USERS}
        for kind in KINDS
    }
    sent = worker.messages("answers", given)
    return {
        kind: batches_of(task_of(kind), task_of(kind).opening, sent[kind])[Address()].reports
        for kind in KINDS
    }


def deviations(mechanism, reports):
    """Return how many standard deviations each value's support lies from what p and q say."""
    counts = mechanism.count(reports, np.arange(8))
    chances = np.where(np.arange(8) == VALUE, mechanism.p, mechanism.q)
    return (counts - USERS * chances) / np.sqrt(USERS * chances * (1 - chances))


@pytest.mark.parametrize("kind", KINDS)
def test_reports_follow_the_law_of_their_mechanism(kind, reports):
    found = deviations(task_of(kind).opening.ask.mechanism, reports[kind])
    assert np.abs(found).max() < SIGMAS, found


def test_a_client_that_spends_twice_its_epsilon_would_be_seen(reports):
    found = deviations(Mechanism.kinds["grr"](epsilon=0.75, size=8), reports["grr"])
    assert np.abs(found).max() > SIGMAS, found


def sampling():
    """Return a search among sets, and a round that asks for one item of a set padded to four."""
    task = sv.Task("basket", TopItems(list("abcdefgh"), top=2), epsilon=1.5)
    question = Question(
        Mechanism.kinds["grr"](amplified(1.5, LENGTH) - 1e-9, 8 + LENGTH), Sample(8, LENGTH), 1.5
    )
    return task, Round(1, question)


@pytest.fixture(scope="module")
def sampled(worker):
    """Return the reports of people who all hold one set, by the set's name."""
    task, asked = sampling()
    text = codec.canonical(codec.document(task))
    given = {"text": text, "round": codec.document(asked), "baskets": BASKETS, "users": USERS}
    sent = worker.messages("answerRound", given)
    return {
        name: batches_of(task, asked, messages)[Address(1)].reports
        for name, messages in sent.items()
    }


def sampled_deviations(reports, basket, dummies=LENGTH):
    """Return how many standard deviations each output lies from its chance if so many dummies fill
    a short set.
    """
    mechanism, held = sampling()[1].ask.mechanism, ["abcdefgh".index(item) for item in basket]
    drawn = np.zeros(8 + LENGTH)
    drawn[held] = 1 / max(len(held), LENGTH)
    drawn[8 : 8 + dummies] = (1 - drawn.sum()) / dummies
    chances = mechanism.q + (mechanism.p - mechanism.q) * drawn
    counts = np.bincount(reports, minlength=8 + LENGTH)
    return (counts - USERS * chances) / np.sqrt(USERS * chances * (1 - chances))


@pytest.mark.parametrize("name", BASKETS)
def test_one_element_of_a_padded_set_is_drawn_evenly(name, sampled):
    found = sampled_deviations(sampled[name], BASKETS[name])
    assert np.abs(found).max() < SIGMAS, found


def test_one_dummy_for_all_would_be_seen(sampled):
    found = sampled_deviations(sampled["short"], BASKETS["short"], dummies=1)
    assert np.abs(found).max() > SIGMAS, found
