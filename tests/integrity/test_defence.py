"""What a defence does about alarms."""

from dataclasses import replace

import numpy as np

import sottovoce as sv
from integrity.collections import collection
from sottovoce.core.plausibility import FALSE_ALARM
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.integrity import examine
from sottovoce.integrity.defence import seed_filter, suspected
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches


def found_in(collected):
    return examine.tested(collected.task.plan, collected, 0)


def test_there_is_no_filter_without_an_alarm_of_the_seeds():
    for name in ("none", "1"):
        collected = collection(name).collected
        assert seed_filter(collected, 0, found_in(collected)) is None


def test_the_filter_says_what_it_did():
    collected = collection("1000").collected
    filtered = seed_filter(collected, 0, found_in(collected))
    (kept,) = filtered.kept.values()
    assert filtered.step == f"seed filter: {np.count_nonzero(~kept):,} reports left out"


def test_suspects_stay_suspects_after_the_filter():
    found = collection("1000")
    suspects = suspected(found.collected, found_in(found.collected))
    (here,) = suspects.values()
    targets = set(np.flatnonzero(found.targets).tolist())
    assert targets <= set(here.candidates.values[here.suspects].tolist())


SIZES = (100, 200, 400, 1000, 2000, 4000, 8000, 16_000)  # no two of which have hashes of one law


def survey(false_count):
    """A survey of questions with hashes of different laws; the first has searched seeds."""
    questions = {f"question {size}": range(size) for size in SIZES}
    task = sv.Task("many", sv.Survey(questions, mechanism="affine"), epsilon=2.0)
    held = {name: np.arange(8_000) % len(values) for name, values in questions.items()}
    batches = report_batches(task.opening, task.plan.domain.indices(held), SeededRng(1))
    address = min(batches)
    mechanism = task.opening.question(address).mechanism
    wanted = np.tile(np.arange(0, 96, 16), (false_count, 1))
    false = mechanism.draw_supporting(wanted, 300, SeededRng(3))
    batches[address] = ReportBatch(np.concatenate([batches[address].reports, false]))
    return MemoryCollected(task).after(task.opening, batches)


def test_what_would_alarm_alone_but_not_among_several_pools_is_not_filtered():
    """Tests share the probability of a false alarm: with 156 false reports one of eight pools has a
    p-value below it, and the round does not alarm.
    """
    for false_count, loud in ((100, False), (156, False), (300, True)):
        collected = survey(false_count)
        found = found_in(collected)
        assert len(found.pools) == len(SIZES)
        spectra = found.tests["seed spectrum"]
        assert any(test.alarm for test in spectra) == loud
        assert (min(test.p_value for test in spectra) <= FALSE_ALARM) == (false_count > 100)
        assert (seed_filter(collected, 0, found) is not None) == loud


def test_the_filter_follows_the_tests_of_the_round_and_makes_none_of_its_own():
    collected = collection("1000").collected
    found = found_in(collected)
    assert seed_filter(collected, 0, replace(found, searched=set())) is None
