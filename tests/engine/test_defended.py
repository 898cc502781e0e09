"""Defended answers: raw without an alarm, corrected and named with one."""

import numpy as np
import pytest

import sottovoce as sv
from integrity.collections import collection
from sottovoce.answers.answer import Answer
from sottovoce.engine.defended import defended
from sottovoce.engine.memory import MemoryCollected, defended_outcome, drive
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.tasks.question import Address


def test_without_an_alarm_the_corrected_answer_is_the_raw_answer_bit_for_bit():
    collected = collection("none").collected
    raw = collected.task.plan.step(collected)
    assert defended(collected) is collected
    assert defended_outcome(collected, raw) is raw


def test_a_drive_with_a_defence_equals_one_without_where_nothing_alarms():
    collected = collection("none").collected
    raw, defended_answer = (
        drive(collected.task, lambda asked: collected.batches, defence=defence)
        for defence in ("none", "auto")
    )
    assert raw.to_dict() == defended_answer.to_dict()


@pytest.mark.parametrize("tries", ["1", "1000"])
def test_corrections_are_named_and_the_raw_estimate_is_kept(tries):
    found = collection(tries)
    collected = found.collected
    raw = collected.estimate(Address())
    estimate = defended(collected, replicates=2).estimate(Address())
    np.testing.assert_array_equal(estimate.raw.votes, raw.votes)
    expected = ["load EMF"] if tries == "1" else ["seed filter", "load EMF"]
    assert [step.partition(":")[0] for step in estimate.steps] == expected
    gain = (estimate.frequencies - found.truth)[found.targets].sum()
    raw_gain = (raw.frequencies - found.truth)[found.targets].sum()
    print(estimate.steps, f"gain {gain:.3f}, raw {raw_gain:.3f}")
    assert abs(gain) < 0.2 * raw_gain


def test_the_front_door_takes_a_defence():
    from sottovoce.lab.crowd import messages
    from sottovoce.lab.seeded import SeededRng

    task = sv.Task("pets", sv.Histogram(["cat", "dog", "fish", "bird"]), epsilon=1.0)
    sent = messages(task, ["cat"] * 200 + ["dog"] * 100, rng=SeededRng(1))
    raw, careful = sv.answer(task, sent), sv.answer(task, sent, defence="auto")
    assert isinstance(careful, Answer)
    assert raw.rows() == careful.rows()
    with pytest.raises(ParameterError, match="`defence` must be one of"):
        sv.answer(task, sent, defence="yes")


def test_a_defence_needs_reports():
    found = collection("1")
    sums = {Address(): found.collected.tally(Address())}
    erased = MemoryCollected(found.collected.task).after_erasing(found.collected.rounds[0], sums)
    with pytest.raises(NoDataError, match="erased"):
        defended(erased)
