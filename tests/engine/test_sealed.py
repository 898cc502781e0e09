"""A log that stays on the disk gives the digits of reports in memory, part by part."""

import numpy as np
import pytest

import sottovoce as sv
from collector.people import ASKS, digest_of, envelope, honest, once, question
from sottovoce.domains.bits import Bits
from sottovoce.engine import kept_tallies, parquet, tables
from sottovoce.engine.base import drive
from sottovoce.engine.memory import MemoryCollected
from sottovoce.engine.sealed import SealedCollected, tally_all
from sottovoce.errors import MismatchError, NoDataError
from sottovoce.integrity import examine as examining
from sottovoce.integrity.examine import examine
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task

MANY_PARTS = 4_000  # bytes: a log of some hundred reports has several parts
LITTLE = 1 << 17  # bytes: and is sorted in several runs


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parquet, "PART_BYTES", MANY_PARTS)


def both(folder, task, messages):
    """Return what was collected by one round, in memory and in its log."""
    path = folder / f"{task.name}.parquet"
    log = parquet.write(path, messages, task.opening, LITTLE)
    assert path.is_dir()
    batches = parquet.read(path, task.opening, log.checksum)
    sealed = parquet.open_log(path, task.opening, log.checksum)
    return (
        MemoryCollected(task).after(task.opening, batches),
        SealedCollected(task).after(task.opening, sealed),
    )


def test_tallies_and_estimates_have_the_same_digits(tmp_path):
    task = once(ASKS["choice of bundles"])
    memory, sealed = both(tmp_path, task, honest(task, 500))
    assert sealed.report_counts(0) == memory.report_counts(0)
    assert sealed.users(0) == memory.users(0) == 500
    assert sealed.tallies(0) == memory.tallies(0)
    for address in memory.report_counts(0):
        assert np.array_equal(sealed.estimate(address).votes, memory.estimate(address).votes)
        ours = np.concatenate(list(sealed.reports(address)))
        assert np.array_equal(ours, np.concatenate(list(memory.reports(address))))


def test_tallies_that_were_forgotten_are_made_again(tmp_path, monkeypatch):
    task = once(ASKS["choice of bundles"])
    memory, sealed = both(tmp_path, task, honest(task, 400))
    monkeypatch.setattr(tables, "MAX_CELLS_AT_ONCE", 1)
    monkeypatch.setattr(kept_tallies, "MAX_CELLS", 1)
    addresses = list(memory.report_counts(0))
    assert len(addresses) > 2
    for address in [*addresses, *reversed(addresses)]:
        assert sealed.tally(address) == memory.tally(address)
        assert len(sealed.tallied) == 1
    assert sealed.tallies(0) == memory.tallies(0)


def test_few_tallies_are_in_memory_at_once(tmp_path, monkeypatch):
    task = once(ASKS["choice of bundles"])
    memory, sealed = both(tmp_path, task, honest(task, 400))
    monkeypatch.setattr(tables, "MAX_CELLS_AT_ONCE", 1)
    assert sealed.tallies(0) == memory.tallies(0)
    assert tally_all(sealed.logs[0]) == memory.tallies(0)


def test_candidates_and_blocks_are_supported_by_as_many_reports(tmp_path):
    task = Task("words", sv.HeavyHitters(Bits(12), 4, groups=2), 3.0)
    values = np.random.default_rng(2).integers(0, 4096, 3_000)
    memory, sealed = both(tmp_path, task, crowd.messages(task, values, rng=SeededRng(3)))
    address = min(memory.report_counts(0))
    length = task.opening.question(address).mechanism.size.bit_length() - 1
    for among in (np.arange(9), Blocks((0, 1, 3), length - 2)):
        ours, theirs = sealed.estimate(address, among), memory.estimate(address, among)
        assert np.array_equal(ours.votes, theirs.votes)
        assert (ours.noise, ours.law, ours.users) == (theirs.noise, theirs.law, theirs.users)


def test_a_search_finds_the_same(tmp_path):
    task = Task("words", sv.HeavyHitters(Bits(16), 4, groups=2), 4.0)
    values = np.where(np.arange(4_000) % 3, 40_000, np.arange(4_000))
    memory, sealed = both(tmp_path, task, crowd.messages(task, values, rng=SeededRng(3)))
    ours, theirs = (task.plan.step(collected) for collected in (sealed, memory))
    assert ours.to_dict() == theirs.to_dict()


def test_scores_belong_to_the_same_people(tmp_path):
    task = once(question("olh"), declares=("subject",))
    memory, sealed = both(tmp_path, task, honest(task, 300))
    target = np.arange(task.opening.question(Address()).mechanism.size, dtype=float)
    for ours, theirs in zip(
        sealed.scores(Address(), target), memory.scores(Address(), target), strict=True
    ):
        assert np.array_equal(ours, theirs)


def test_erased_rounds_leave_their_sums(tmp_path):
    task = once(question("olh"))
    _, sealed = both(tmp_path, task, honest(task, 300))
    sums = SealedCollected(task).after_erasing(task.opening, tally_all(sealed.logs[0]))
    assert sums.users(0) == 300
    assert sums.tallies(0) == sealed.tallies(0)
    for reading in (lambda: next(sums.reports(Address())), lambda: sums.relations(0)):
        with pytest.raises(NoDataError, match="erased"):
            reading()
    with pytest.raises(NoDataError, match="has no reports"):
        sealed.tally(Address(0, 7))


def test_of_prefixes_no_sums_remain_because_none_would_answer_again(tmp_path):
    task = once(ASKS["affine_prefix"])
    _, sealed = both(tmp_path, task, honest(task, 300))
    assert tally_all(sealed.logs[0]) == {}


def test_the_tests_of_a_round_say_the_same(tmp_path):
    task = Task("pets", sv.Histogram(range(64), mechanism="olh"), 1.0)
    values = np.arange(3_000) % 64
    memory, sealed = both(tmp_path, task, crowd.messages(task, values, rng=SeededRng(3)))
    ours, theirs = (examine(task.plan, collected, 0) for collected in (sealed, memory))
    assert ours.to_dict() == theirs.to_dict()


def test_of_very_many_reports_a_sample_is_tested(tmp_path, monkeypatch):
    monkeypatch.setattr(examining, "MAX_REPORTS", 1_000)
    task = Task("pets", sv.Histogram(range(64), mechanism="olh"), 1.0)
    values = np.arange(3_001) % 64
    memory, sealed = both(tmp_path, task, crowd.messages(task, values, rng=SeededRng(3)))
    ours, theirs = (examine(task.plan, collected, 0) for collected in (sealed, memory))
    assert ours.to_dict() == theirs.to_dict()
    sampled = {test.name: test.reports for test in ours.tests}
    assert sampled["co-support"] == 751  # one in four
    assert sampled["buckets"] == 3_001


def test_a_task_of_several_rounds_is_driven_from_its_logs(tmp_path):
    task = Task("items", TopItems(range(40), 3), 4.0)
    values = [{number % 5, number % 40} for number in range(3_000)]

    def gathered(collected, asked):
        path = tmp_path / f"{type(collected).__name__}-{asked.number}.parquet"
        messages = crowd.messages(task, values, asked, SeededRng(asked.number))
        log = parquet.write(path, messages, asked)
        read = parquet.read if isinstance(collected, MemoryCollected) else parquet.open_log
        return collected.after(asked, read(path, asked, log.checksum))

    ours = drive(task, SealedCollected(task), gathered)
    assert ours.to_dict() == drive(task, MemoryCollected(task), gathered).to_dict()


def test_a_part_that_is_changed_or_missing_is_refused(tmp_path):
    task = once(question("olh"))
    _, sealed = both(tmp_path, task, honest(task, 500))
    first, second, *_ = [sealed.logs[0].path / part.name for part in sealed.logs[0].parts]
    good = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.raises(MismatchError, match="not the one that was sealed"):
        sealed.tally(Address())
    first.write_bytes(good[:-50])
    with pytest.raises(MismatchError, match="damaged"):
        sealed.tally(Address())
    first.unlink()
    with pytest.raises(NoDataError, match="missing"):
        sealed.tally(Address())
    first.write_bytes(good)
    assert sealed.tally(Address()).users == 500


def test_a_folder_is_a_log_once_it_has_its_list_of_parts(tmp_path):
    task = once(question("olh"))
    messages = honest(task, 500)
    path = tmp_path / "round.parquet"
    log = parquet.write(path, messages, task.opening)
    listed = (path / parquet.SEAL).read_bytes()
    (path / parquet.SEAL).unlink()
    assert not parquet.exists(path)
    with pytest.raises(NoDataError):
        parquet.open_log(path, task.opening, log.checksum)
    again = parquet.write(path, messages[::-1], task.opening, LITTLE)
    assert (again, (path / parquet.SEAL).read_bytes()) == (log, listed)
    assert parquet.checksum_of(path) == log.checksum
    (path / parquet.SEAL).write_bytes(listed.replace(b"part-00001", b"part-00002"))
    with pytest.raises(MismatchError):
        parquet.open_log(path, task.opening, log.checksum)
    parquet.erase(path)
    assert not list(tmp_path.iterdir())
    parquet.erase(path)


def test_a_log_of_one_part_replaces_a_folder(tmp_path, monkeypatch):
    task = once(question("olh"))
    path = tmp_path / "round.parquet"
    parquet.write(path, honest(task, 500), task.opening)
    monkeypatch.setattr(parquet, "PART_BYTES", 1 << 20)
    log = parquet.write(path, honest(task, 5), task.opening)
    assert path.is_file()
    assert (
        SealedCollected(task)
        .after(task.opening, parquet.open_log(path, task.opening, log.checksum))
        .users(0)
        == 5
    )


def test_a_folder_replaces_a_log_of_one_file(tmp_path):
    task = once(question("olh"))
    path = tmp_path / "round.parquet"
    path.write_bytes(b"the log of a round that was never sealed")
    log = parquet.write(path, honest(task, 500), task.opening)
    assert path.is_dir()
    assert sum(len(table) for table in parquet.open_log(path, task.opening, log.checksum).tables())


def test_public_texts_count_for_the_size_of_a_part(tmp_path):
    task = once(question(), declares=("public",))
    messages = [
        envelope(digest_of(task), b"\0", public=b'{"a": "%s"}' % (b"x" * (number % 90)))
        for number in range(400)
    ]
    memory, sealed = both(tmp_path, task, messages)
    texts = [table["public"].to_pylist() for table in sealed.logs[0].tables()]
    sizes = [sum(len(text) + 23 for text in part) for part in texts]
    assert max(sizes) <= MANY_PARTS < max(sizes) + 130
    assert memory.batches[Address()].public.tolist() == [text for part in texts for text in part]
