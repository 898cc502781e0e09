"""Duplicated messages: each id is counted once, so that nothing is gained."""

import numpy as np

import sottovoce as sv
from sottovoce.lab import crowd
from sottovoce.lab.attacks.duplicated_messages import DuplicatedMessages
from tasks.toys import shuffle

LABELS = ["a", "b", "c"]
HONEST = ["a"] * 3000 + ["b"] * 1000


def test_copies_change_no_number_of_people():
    task = sv.Task("letters", sv.Histogram(LABELS), 2.0, shuffle=shuffle(2.0, 500))
    outcome = sv.simulate(task, HONEST, seed=1, attack=DuplicatedMessages(), share=0.5)
    assert outcome.users == 4000
    for row, truth in zip(outcome.rows(), (3000, 1000, 0), strict=True):
        assert abs(row["estimate"] - truth) < 5 * row["error"]


def test_the_collector_counts_a_message_once():
    """The same with real messages: what the simulation relies on."""
    task = sv.Task("letters", sv.Histogram(LABELS), 4.0)
    messages = crowd.messages(task, list("aab" * 10))
    once, twice = sv.answer(task, messages), sv.answer(task, messages + messages[:15])
    assert twice.users == once.users == 30
    np.testing.assert_array_equal(once.estimate.votes, twice.estimate.votes)
