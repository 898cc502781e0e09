"""A crowd's messages are what its devices would send."""

from functools import partial

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core import coin
from sottovoce.engine.memory import batches_of
from sottovoce.errors import DomainError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.wire import codec
from sottovoce.wire.envelope import VERSION_2
from sottovoce.wire.shuffled_message import MessageFormat

SURVEY = sv.Task("both", sv.Survey({"pet": ["cat", "dog"], "age": range(100)}), epsilon=1.0)


def test_every_person_sends_one_message_that_decodes():
    people = {"pet": ["cat", "dog"] * 200, "age": list(range(100)) * 4}
    messages = crowd.messages(SURVEY, people, rng=SeededRng(3))
    assert len(messages) == len(set(messages)) == 400
    assert len({len(message) for message in messages}) == 1
    answers = sv.answer(SURVEY, messages)
    assert sum(answer.estimate.users for answer in answers.values()) == 400


def test_the_reports_are_those_of_the_mechanism():
    """The same bytes give the same reports: GRR's two draws per person, then the ids."""
    task = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"], "grr"), epsilon=1.0)
    values = np.arange(50) % 3
    labels = [task.plan.domain.labels[value] for value in values]
    made = crowd.messages(task, labels, rng=SeededRng(5))
    expected = task.opening.ask.privatize(values, SeededRng(5))
    assert batches_of(task, task.opening, made)[Address()].reports.tolist() == expected.tolist()


def test_a_stranger_in_the_crowd_is_refused():
    with pytest.raises(DomainError):
        crowd.messages(SURVEY, {"pet": ["bird"], "age": [3]})


def test_a_bundle_is_one_message_with_a_report_in_every_slot_under_one_subject():
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), epsilon=2.0, declares=("subject",))
    half = Question(
        sv.Task("half", sv.Histogram(["cat", "dog"]), epsilon=1.0).opening.ask.mechanism
    )
    asked = Round(0, Bundle((half, half)))
    messages = crowd.messages(task, ["cat", "dog", "dog"], asked)
    assert len(messages) == 3
    first, second = batches_of(task, asked, messages).values()
    assert len(first.reports) == len(second.reports) == 3
    assert sorted(map(bytes, first.subjects)) == sorted(map(bytes, second.subjects))
    assert len(set(map(bytes, first.subjects))) == 3


def test_messages_of_a_shuffled_task_are_what_the_collector_finds_under_the_last_layer():
    hop = Hop("https://mix.example.org", "A" * 43)
    shuffle = Shuffle((hop,), "A" * 43, 100, 0, 1.0, 1.0, 1e-9)
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), epsilon=1.0, shuffle=shuffle)
    messages = crowd.messages(task, ["cat", "dog", "dog"])
    expected = MessageFormat.of(task, task.opening).message_bytes
    assert {len(message) for message in messages} == {expected}
    assert {message[0] for message in messages} == {VERSION_2.number}


def test_tokens_deal_the_questions_and_the_groups():
    """The addresses are those that a device with the token computes, of liars as of others."""
    collection = sv.Collection(enrolment=True)
    task = sv.Task(
        "age", sv.Distribution(0, 1, 8, defence="graded", probe=0.25), 1.0, collection=collection
    )
    tokens = [f"token {number}" for number in range(60)]
    digest = codec.digest(codec.document(task))
    dealt = [
        len(
            task.opening.addresses(partial(coin.choice_coin, coin.enrolled_bytes(token, digest), 0))
        )
        for token in tokens
    ]
    assert set(dealt) == {1, 2, 4}

    def always_last(question, count, rng):
        return np.full(count, question.mechanism.outputs - 1)

    honest = crowd.messages(task, np.full(60, 0.5), rng=SeededRng(1), tokens=tokens)
    false = crowd.false_messages(task, always_last, SeededRng(1), tokens=tokens)
    envelope_bytes = min(map(len, honest))
    for messages in (honest, false):
        assert [len(message) // envelope_bytes for message in messages] == dealt
    for address, batch in batches_of(task, task.opening, false).items():
        last = task.opening.question(address).mechanism.outputs - 1
        assert (batch.reports == last).all()
