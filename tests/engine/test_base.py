"""What every engine shares: the loop around a plan, and sorting reports by address."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.engine.base import by_address, drive, estimate_candidates
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address


def test_reports_are_sorted_by_member_and_slot():
    members = np.array([2, 0, 2, 0, 70_000], np.uint32)
    slots = np.array([1, 0, 1, 65_535, 3], np.uint16)
    addressed = by_address(7, members, slots)
    assert [(address, indices.tolist()) for address, indices in addressed] == [
        (Address(7, 0, 0), [1]),
        (Address(7, 0, 65_535), [3]),
        (Address(7, 2, 1), [0, 2]),
        (Address(7, 70_000, 3), [4]),
    ]
    assert by_address(0, members[:0], slots[:0]) == []


class Rounds:
    """What was collected so far, as the numbers of the rounds."""

    def __init__(self, numbers=()):
        self.numbers = numbers


class Counting:
    """A plan that asks three rounds and answers with their numbers."""

    def __init__(self, outcome, asked):
        self.outcome = outcome
        self.asked = asked

    def step(self, collected):
        done = len(collected.numbers)
        return self.asked[done] if done < len(self.asked) else self.outcome


def test_a_plan_is_driven_round_by_round_to_its_outcome():
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), epsilon=1.0)
    outcome = sv.simulate(task, ["cat", "dog"] * 20, seed=1)
    rounds = [task.opening] * 3
    seen = []

    class Named:
        name = "three rounds"
        plan = Counting(outcome, rounds)

    def gather(collected, asked):
        seen.append(asked)
        return Rounds((*collected.numbers, asked.number))

    assert drive(Named, Rounds(), gather).to_dict() == outcome.named("three rounds").to_dict()
    assert seen == rounds


def test_candidates_are_listed_or_blocks_of_prefixes():
    mechanism = Mechanism.kinds["affine_prefix"](epsilon=1.0, size=32)
    reports = mechanism.privatize(np.arange(32).repeat(10), SeededRng(3))
    listed = estimate_candidates(mechanism, reports, np.arange(8, 16))
    blocks = estimate_candidates(mechanism, reports, Blocks((1,), 3))
    assert len(listed.totals) == len(blocks.totals) == 8


def test_only_a_pure_mechanism_estimates_candidates():
    mechanism = Mechanism.kinds["duchi"](epsilon=1.0, size=33)
    reports = mechanism.privatize(np.arange(33), SeededRng(3))
    with pytest.raises(ParameterError, match="pure mechanism"):
        estimate_candidates(mechanism, reports, np.arange(3))
