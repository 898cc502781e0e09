"""All tests of a round: what alarms, what does not, and what the result may contain."""

import json
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from integrity.collections import collection
from sottovoce.core.plausibility import FALSE_ALARM
from sottovoce.engine.memory import MemoryCollected, ReportBatch, batches_of
from sottovoce.integrity import examine as examine_module
from sottovoce.integrity.examine import examine
from sottovoce.lab import crowd
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.lab.batches import with_fakes
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.tasks.question import Address
from tasks.toys import shuffle


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
    assert [test.name for test in integrity.tests] == ["cells", "misfit"]
    assert not integrity.alarm
    assert integrity.share is None
    ((address, batch),) = honest.items()
    top = np.full(400, int(batch.reports.max()))
    both = {address: ReportBatch(np.concatenate([batch.reports, top]))}
    poisoned = examine(task.plan, MemoryCollected(task).after(task.opening, both), 0)
    assert poisoned.alarms == ("cells", "misfit")
    assert poisoned.share > 0.05


def with_searched_seeds(task, honest, share=0.1):
    """The same reports, and some at every address that put six values into one bucket."""
    rng = SeededRng(3)
    batches = {}
    for address, batch in honest.items():
        mechanism = task.opening.question(address).mechanism
        values = np.arange(6) * (mechanism.size // 6)
        wanted = np.tile(values, (round(share * len(batch.reports)), 1))
        false = mechanism.draw_supporting(wanted, 300, rng)
        batches[address] = ReportBatch(np.concatenate([batch.reports, false]))
    return MemoryCollected(task).after(task.opening, batches)


def test_seeds_of_joint_tables_are_pooled_over_all_views():
    """No view alone has enough reports: seeds of all views have one law, and are tested as one."""
    names = ("a", "b", "c", "d")
    plan = sv.Marginals({name: range(16) for name in names}, users=1_000_000)
    task = sv.Task("tables", plan, epsilon=2.0)
    held = np.random.default_rng(1).integers(0, 16, (4_000, 4))
    honest = report_batches(task.opening, held, SeededRng(1))
    assert len(honest) == 6
    assert examine(plan, MemoryCollected(task).after(task.opening, honest), 0).alarms == ()
    poisoned = with_searched_seeds(task, honest, share=0.05)
    assert "seed spectrum" in examine(plan, poisoned, 0).alarms
    single = {Address(0, 0): poisoned.batches[Address(0, 0)]}
    alone = examine(plan, MemoryCollected(task).after(task.opening, single), 0)
    assert "seed spectrum" not in alone.alarms


def test_layers_of_a_table_share_their_seeds():
    """A table has many small layers of several mechanisms; copied seeds show across them."""
    task = sv.Task("table", sv.Table({"a": range(256), "b": range(16)}), epsilon=2.0)
    values = np.random.default_rng(1).integers(0, 256, 3_000)
    indices = task.plan.domain.indices({"a": values, "b": values % 16})
    honest = report_batches(task.opening, indices, SeededRng(1))
    assert len(honest) > 10
    clean = examine(task.plan, MemoryCollected(task).after(task.opening, honest), 0)
    assert clean.alarms == ()
    seeded = [address for address in honest if task.opening.question(address).mechanism.has_seed]
    wide = [address for address in seeded if honest[address].reports["seed"].size > 20]
    copied = honest[wide[0]].reports.copy()
    copied["seed"][:5] = copied["seed"][5:10]
    batches = honest | {wide[0]: ReportBatch(copied)}
    copies = examine(task.plan, MemoryCollected(task).after(task.opening, batches), 0)
    assert copies.alarms == ("equal seeds",)


def test_fakes_of_shufflers_are_not_taken_for_attackers():
    """Unary rows: fakes have another law of ones, so that the test must know how many they are."""
    plan = sv.Histogram([str(number) for number in range(16)], "oue")
    task = sv.Task("shuffled", plan, 2.0, shuffle=shuffle(2.0, 3_000, hops=2))
    honest = report_batches(task.opening, np.arange(6_000) % 16, SeededRng(1))
    mixed = with_fakes(honest, task.opening, task.fakes, SeededRng(2))
    collected = MemoryCollected(task).after(task.opening, mixed)
    assert collected.fakes(0) == task.fakes
    assert examine(plan, collected, 0).alarms == ()
    without = sv.Task("plain", plan, 2.0)
    wrong = MemoryCollected(without).after(without.opening, mixed)
    assert examine(plan, wrong, 0).alarms == ("weights",), "the broken twin forgets the fakes"


MECHANISMS = ("grr", "sue", "oue", "the", "blh", "olh", "affine", "rmp", "hadamard", "subset")


def test_a_mechanism_has_as_many_tests_as_the_page_says():
    """Tests of seeds and reports share their level among all pools, the others among addresses."""
    counts = {}
    for kind in MECHANISMS:
        labels = [str(number) for number in range(64)]
        task = sv.Task("count", sv.Histogram(labels, kind), 2.0)
        messages = crowd.messages(task, labels * 160, rng=SeededRng(1))
        batches = batches_of(task, task.opening, messages)
        collected = MemoryCollected(task).after(task.opening, batches)
        counts[kind] = len(examine(task.plan, collected, 0).tests)
    print(counts)
    most = max(counts.values())
    rounds = 1000
    page = (Path(__file__).parents[2] / "docs" / "integrity.md").read_text(encoding="utf-8")
    number = {4: "four", 5: "five", 6: "six"}[most]
    for text in (page, examine_module.__doc__):
        words = " ".join(text.split())
        assert f"at most {number} " in words
        assert f"with a probability of at most {rounds * most * FALSE_ALARM:g}." in words
