"""Dropped messages: fewer people answer, and the shares stay what they are."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.dropped_messages import DroppedMessages
from tasks.toys import shuffle

LABELS = ["a", "b", "c"]
HONEST = ["a"] * 6000 + ["b"] * 2000


def test_a_random_share_is_missing_and_nothing_else_changes():
    """A quarter of 8,000 is dropped; the share of "a" stays 3/4, within 5 errors.

    The twin that drops holders of "a" alone would be seen.
    """
    task = sv.Task("letters", sv.Histogram(LABELS), 2.0, shuffle=shuffle(2.0, 500))
    outcome = sv.simulate(task, HONEST, seed=1, attack=DroppedMessages(), share=0.25)
    row = outcome.rows()[0]
    print(outcome.users, "expected", 6000, row)
    assert abs(outcome.users - 6000) < 5 * np.sqrt(8000 * 0.25 * 0.75)
    error = row["error"] / outcome.users
    assert abs(row["share"] - 0.75) < 5 * error
    assert abs(row["share"] - 4000 / 6000) > 5 * error


def test_it_is_the_attack_of_a_shuffler():
    task = sv.Task("letters", sv.Histogram(LABELS), 2.0)
    with pytest.raises(ParameterError, match="the attack 'drop' is a shuffler's"):
        sv.simulate(task, HONEST, attack=DroppedMessages(), share=0.25)
