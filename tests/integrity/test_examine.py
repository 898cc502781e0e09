"""All tests of a round: what alarms, what does not, and what the result may contain."""

import json

import numpy as np
import pytest

import sottovoce as sv
from integrity.collections import collection
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.integrity.examine import examine
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches


def examined(found):
    return examine(found.collected.task.plan, found.collected, 0)


def test_an_honest_round_passes_all_tests():
    integrity = examined(collection("none"))
    assert {test.name for test in integrity.tests} == {
        "buckets",
        "seed spectrum",
        "equal seeds",
        "co-support",
        "load",
    }
    assert integrity.alarms == ()
    assert integrity.suspects == ()


@pytest.mark.parametrize(("tries", "test"), [("1", "load"), ("1000", "seed spectrum")])
def test_promoted_values_are_named(tries, test):
    found = collection(tries)
    integrity = examined(found)
    assert test in integrity.alarms
    suspected = {int(value) for each in integrity.suspects for value in each.values}
    assert set(np.flatnonzero(found.targets).tolist()) <= suspected


def test_the_result_contains_no_report():
    found = collection("1000")
    text = json.dumps(examined(found).to_dict())
    assert not any(str(seed) in text for seed in found.reports["seed"][:200].tolist())


def test_the_bucket_is_uniform_but_not_without_its_offset():
    """The offset makes the named bucket uniform; taken away, holders of point 0 are seen.

    So the test must look at the bucket as it is named.
    """
    from sottovoce.maths import hashing

    mechanism = collection("none").mechanism
    value = int(hashing.unpermute(np.array([0]), mechanism.bits)[0])
    reports = mechanism.privatize(np.full(4000, value), SeededRng(1))
    assert not any(test.alarm for test in mechanism.plausibility(mechanism.evidence(reports)))
    offsets = hashing.affine_hash(
        reports["seed"], np.zeros(4000, np.uint64), mechanism.bits, mechanism.rank
    )
    shifted = reports.copy()
    shifted["bucket"] ^= offsets
    names = [
        test.name for test in mechanism.plausibility(mechanism.evidence(shifted)) if test.alarm
    ]
    assert names == ["buckets"]


def test_searches_for_long_values_are_examined_group_by_group():
    task = sv.Task("words", sv.HeavyHitters(sv.Bits(24), top=4), epsilon=2.0)
    values = np.random.default_rng(1).choice([5, 77, 123456], 12_000)
    honest = report_batches(task.opening, task.plan.domain.indices(values), SeededRng(1))
    clean = MemoryCollected(task).after(task.opening, honest)
    assert examine(task.plan, clean, 0).alarms == ()
    attack = MaximalGain(task.plan.domain, tuple(range(1000, 1006)), 300)
    false = attack.reports(task.opening, 1_500, SeededRng(2))
    both = {
        address: ReportBatch(np.concatenate([batch.reports, false[address]]))
        for address, batch in honest.items()
    }
    poisoned = MemoryCollected(task).after(task.opening, both)
    assert "seed pairs" in examine(task.plan, poisoned, 0).alarms


def test_numbers_are_examined_by_their_cells():
    task = sv.Task("ages", sv.Distribution(0, 100), epsilon=1.0)
    honest = report_batches(
        task.opening, task.plan.domain.indices(np.full(5000, 40.0)), SeededRng(1)
    )
    clean = MemoryCollected(task).after(task.opening, honest)
    integrity = examine(task.plan, clean, 0)
    assert [test.name for test in integrity.tests] == ["cells"]
    assert not integrity.alarm
    ((address, batch),) = honest.items()
    top = np.full(400, int(batch.reports.max()))
    both = {address: ReportBatch(np.concatenate([batch.reports, top]))}
    assert examine(task.plan, MemoryCollected(task).after(task.opening, both), 0).alarm
