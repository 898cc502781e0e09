"""Batches of several kinds of senders: appended, with fakes, and with subjects of attackers."""

import numpy as np

import sottovoce as sv
from sottovoce.engine.memory import ReportBatch
from sottovoce.lab.batches import beside, false_batches, with_fakes
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.question import Address
from tasks.toys import shuffle

FIRST, SECOND = Address(0, 0, 0), Address(0, 1, 0)
NEXT_SLOT = Address(0, 0, 1)


def test_batches_are_appended_by_address():
    mixed = beside(
        {FIRST: ReportBatch(np.array([1, 2]))},
        {FIRST: ReportBatch(np.array([3])), SECOND: ReportBatch(np.array([4]))},
    )
    assert {address: batch.reports.tolist() for address, batch in mixed.items()} == {
        FIRST: [1, 2, 3],
        SECOND: [4],
    }


def test_fakes_are_added_only_where_a_task_has_them():
    task = sv.Task("letters", sv.Histogram(["a", "b"]), 1.0, shuffle=shuffle(1.0, 7))
    honest = {FIRST: ReportBatch(np.array([0, 1, 1]))}
    assert with_fakes(honest, task.opening, 0, SeededRng(1)) is honest
    assert len(with_fakes(honest, task.opening, 7, SeededRng(1))[FIRST].reports) == 10


def test_attackers_have_subjects_of_their_own_one_report_in_every_slot():
    honest = {FIRST: ReportBatch(np.zeros(5, int), np.arange(5))}
    false = {FIRST: np.ones(4), SECOND: np.ones(2), NEXT_SLOT: np.ones(6)}
    batches = false_batches(false, honest, (), SeededRng(1))
    for addresses in ((FIRST, SECOND), (NEXT_SLOT,)):
        subjects = np.concatenate([batches[address].subjects for address in addresses])
        assert sorted(subjects.tolist()) == list(range(5, 11))
    assert all(batch.public is None for batch in batches.values())


def test_attackers_show_what_they_chose_or_copy_honest_people():
    shown = np.array([b"x", b"y", b"y"], object)
    honest = {FIRST: ReportBatch(np.zeros(3, int), np.arange(3), shown)}
    copied = false_batches({FIRST: np.ones(200)}, honest, (), SeededRng(1))[FIRST].public
    assert set(copied.tolist()) <= {b"x", b"y"}
    chosen = false_batches({FIRST: np.ones(9)}, honest, (b"z",), SeededRng(1))[FIRST].public
    assert set(chosen.tolist()) == {b"z"}
