"""What plans look at: blocks of candidates, yes counts, and nothing before the first round."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.tally import Tally
from sottovoce.engine.memory import MemoryCollected
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Blocks, NothingCollected, Scored, yes_counts
from sottovoce.tasks.families.each_item import EachItem
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from tasks.toys import NARROW, OneRound


def test_blocks_list_every_extension_of_every_prefix_in_order():
    blocks = Blocks((5, 2), 2)
    assert len(blocks) == 8
    assert [blocks[index] for index in range(8)] == [20, 21, 22, 23, 8, 9, 10, 11]


def test_before_the_first_round_there_is_nothing_to_look_at():
    nothing = NothingCollected(1.5)
    assert (nothing.epsilon, nothing.rounds, nothing.users(0)) == (1.5, (), 0)
    for method in (
        "tally",
        "tallies",
        "report_counts",
        "estimate",
        "scores",
        "reports",
        "relations",
    ):
        with pytest.raises(ParameterError, match="nothing has been collected yet"):
            getattr(nothing, method)(Address())


def test_members_that_are_alike_are_scored_in_one_call():
    calls = []

    def score(slot, member, reports):
        calls.append(np.array(member).tolist())
        return (10.0 * np.asarray(member) + reports)[:, None]

    scored = Scored((0, 1), 1, score, alike=lambda slot, member: member % 2)
    places = [Address(0, member, slot) for slot in (0, 1) for member in (0, 1, 2)]
    groups = scored.together(places)
    assert groups == [[places[0], places[2]], [places[1]], [places[3], places[5]], [places[4]]]
    found = scored.scores(groups[0], [np.array([1, 2]), np.array([3])])
    assert found.tolist() == [[1.0], [2.0], [23.0]]
    assert scored.scores(groups[1], [np.array([4])]).tolist() == [[14.0]]
    assert calls == [[0, 0, 2], 1]
    assert len(Scored((0, 1), 1, score).together(places)) == len(places)


def collected(ask, sums):
    task = sv.Task("toy", OneRound(), epsilon=1.0)
    return MemoryCollected(task, rounds=(Round(0, ask),), sums=sums)


def test_yes_counts_are_those_of_every_member():
    mechanism = GRR(1.0, 2)
    ask = Choice(EachItem(mechanism, 3))
    sums = {
        Address(0, member): Tally(mechanism.key, users, {"support": np.array([users - yes, yes])})
        for member, users, yes in ((0, 10, 4), (2, 7, 7))
    }
    asked, yes = yes_counts(collected(ask, sums), 0)
    assert asked.tolist() == [10, 0, 7]
    assert yes.tolist() == [4, 0, 7]


def test_yes_is_counted_only_for_questions_of_yes_or_no():
    for ask in (NARROW, Choice((NARROW,))):
        with pytest.raises(ParameterError, match="one mechanism for two values"):
            yes_counts(collected(ask, {}), 0)
