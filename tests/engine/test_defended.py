"""Defended answers: raw without an alarm, corrected and named with one."""

import numpy as np
import pytest

import sottovoce as sv
from collector import poisoning
from integrity.collections import collection
from sottovoce.answers.answer import Answer
from sottovoce.engine import parquet
from sottovoce.engine.defended import defended, defended_sample
from sottovoce.engine.memory import MemoryCollected, defended_outcome, drive
from sottovoce.engine.sealed import SealedCollected
from sottovoce.errors import NoDataError, ParameterError, UnavailableError
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


def sealed_and_read(path, task, messages):
    """What a log holds, to be read part by part, and in memory."""
    log = parquet.write(path, messages, task.opening)
    sealed = parquet.open_log(path, task.opening, log.checksum)
    batches = parquet.read(path, task.opening, log.checksum)
    return (
        SealedCollected(task).after(task.opening, sealed),
        MemoryCollected(task).after(task.opening, batches),
    )


def test_the_sample_of_a_log_is_corrected_for_all_people(tmp_path):
    """A sample of all gives the digits of reports in memory, and a quarter larger errors."""
    task = poisoning.survey()
    messages = poisoning.honest(task) + poisoning.false(task)
    sealed, memory = sealed_and_read(tmp_path / "log.parquet", task, messages)
    whole = defended(memory).estimate(Address())
    same = defended_sample(sealed, len(messages)).estimate(Address())
    np.testing.assert_array_equal(same.votes, whole.votes)
    np.testing.assert_array_equal(same.errors, whole.errors)

    quarter = defended_sample(sealed, len(messages) // 4)
    estimate = quarter.estimate(Address())
    assert estimate.steps[0] == "sample: 875 of 3,500 reports"
    np.testing.assert_array_equal(estimate.raw.votes, sealed.estimate(Address()).votes)
    assert estimate.population == quarter.users(0)
    assert abs(estimate.population - whole.population) < 0.05 * whole.population
    targets = list(poisoning.TARGETS)
    gain, raw_gain = (made.frequencies[targets].sum() for made in (estimate, estimate.raw))
    ratio = estimate.errors.mean() / whole.errors.mean()
    print(f"gain {gain:.3f}, raw {raw_gain:.3f}; errors {ratio:.2f} times as large")
    assert abs(gain) < 0.4 * raw_gain
    assert ratio > 1.5, "a sample that were taken for everybody would have half the error"


def test_plans_that_look_at_every_report_are_told_how_much_memory_that_needs(tmp_path):
    task = poisoning.survey()
    messages = poisoning.honest(task) + poisoning.false(task)
    sealed, _ = sealed_and_read(tmp_path / "log.parquet", task, messages)
    kept = defended_sample(sealed, 1000)
    for look in (kept.tally, kept.reports):
        with pytest.raises(UnavailableError, match="start it with --memory 2MB"):
            look(Address())


def test_the_sample_of_an_honest_log_is_not_looked_at(tmp_path):
    task = poisoning.survey()
    sealed, _ = sealed_and_read(tmp_path / "log.parquet", task, poisoning.honest(task))
    assert defended_sample(sealed, 1000) is sealed
