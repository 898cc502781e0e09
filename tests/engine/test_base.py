"""What every engine shares: the loop around a plan, sorting reports, people among fakes."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.fake_count import FakeCount
from sottovoce.engine.base import (
    by_address,
    drive,
    estimate_candidates,
    fakes_among,
    people_among,
)
from sottovoce.engine.memory import MemoryCollected
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.batches import with_fakes
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from tasks.toys import shuffle


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
        shuffle = None
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


SURVEY = sv.Survey({"pet": ["cat", "dog"], "age": range(8)})


def shuffled(plan, fakes):
    return sv.Task("pets", plan, 3.0, shuffle=shuffle(3.0, fakes))


def test_fakes_are_not_people():
    assert people_among(150, 50) == 100
    assert people_among(0, 50) == 0  # nothing has arrived yet
    with pytest.raises(NoDataError, match="a round has 50 messages, and the shufflers of its task"):
        people_among(50, 50)


def test_the_fakes_of_a_group_follow_from_the_coins_of_people_and_fakes():
    asked = shuffled(SURVEY, 5).opening
    people, fakes = (asked.ask.coin_share(0), asked.ask.fake_share(0))
    assert people == 0.5
    assert fakes < 0.5
    odds = fakes * (1 - people) / (people * (1 - fakes))
    assert fakes_among(asked, Address(0, 0), 6, 8, 5) == FakeCount.among(6, 8, 5, odds)
    whole = shuffled(sv.Histogram(range(4)), 5).opening
    assert fakes_among(whole, Address(), 13, 8, 5) == FakeCount(5.0)


def test_estimates_are_of_people_whatever_the_source():
    """From reports, from the sums of erased ones, and for candidates: the same numbers."""
    task = shuffled(SURVEY, 4_000)
    values = task.plan.domain.indices([{"pet": "cat", "age": 2}] * 900)
    rng = SeededRng(3)
    batches = report_batches(task.opening, values, rng)
    batches = with_fakes(batches, task.opening, task.fakes, rng)
    collected = MemoryCollected(task).after(task.opening, batches)
    assert collected.users(0) == 900
    assert collected.fakes(0) == 4_000
    erased = MemoryCollected(task).after_erasing(task.opening, collected.tallies(0))
    assert erased.users(0) == 900
    for member in (0, 1):
        address = Address(0, member)
        estimate = collected.estimate(address)
        reports = collected.report_counts(0)[address]
        count = fakes_among(task.opening, address, reports, 900, 4_000)
        assert estimate.users == round(reports - count.mean)
        assert estimate.population == 900
        again = erased.estimate(address)
        assert np.array_equal(again.votes, estimate.votes)
        assert np.array_equal(again.variance, estimate.variance)
        among = collected.estimate(address, np.array([1, 0]))
        assert among.votes == pytest.approx(estimate.votes[[1, 0]], rel=1e-12)
        assert among.variance == pytest.approx(estimate.variance[[1, 0]], rel=1e-12)


def test_an_outcome_is_finished_with_the_name_and_the_guarantee_of_its_task():
    task = shuffled(sv.Histogram(["a", "b"]), 40)
    outcome = sv.simulate(task, ["a"] * 90, seed=1)
    assert outcome.name == "pets"
    assert outcome.users == 90
    assert outcome.guarantee.shuffled.users == (90,)
    assert outcome.guarantee.shuffled.blankets == (task.opening.ask.blanket,)
