"""Runs of report ids: they are merged, replaced, missing and written again, and no report counts
twice.
"""

import errno
import threading

import pytest

from collector.store.offers import (
    DIGEST,
    NOW,
    accept,
    bundles,
    close_round,
    messages,
    report_id,
    singles,
    stored,
    task,
    users,
)
from collector.store.places import Place
from sottovoce.collector.store import id_runs
from sottovoce.collector.store.base import State
from sottovoce.collector.store.schema import STEPS
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.store.sorted_ids import SortedIds
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import StateError, UnavailableError

CALLS, EACH = 60, 5
NAMES = [[f"{call} {number}" for number in range(EACH)] for call in range(CALLS)]
ALL = [name for names in NAMES for name in names]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    opened = SqliteStore(path, 5.0)
    opened.publish(task(), "opening")
    yield opened
    opened.close()


def fill(store):
    for names in NAMES:
        assert accept(store, singles(names)) == [["accepted"] * EACH]


def fill_slowly(store):
    """As ``fill``, but so that all merges keep up: what is in runs is no accident."""
    for names in NAMES:
        accept(store, singles(names))
        join_merges()


def join_merges():
    for thread in threading.enumerate():
        if thread.name == "ids":
            thread.join()


def wait_for_merges(store):
    join_merges()
    accept(store, singles(ALL[:1]))


def files(path):
    return sorted(path.parent.glob("store.db.*.ids"))


def rows(path, query):
    return Place("sqlite", str(path)).rows(query)


def named(path):
    """The files that count, by their names in the database."""
    names = [name for (name,) in rows(path, "select name from id_runs")]
    return sorted(path.with_name(f"store.db.{name}.ids") for name in names)


def run_ids(path):
    """All ids in the files that count."""
    parts = [SortedIds.mapped(file).to_bytes() for file in named(path)]
    return [part[start : start + 16] for part in parts for start in range(0, len(part), 16)]


def check_whole(store, names=ALL):
    """All of the names are here once, and none of them counts again."""
    assert accept(store, singles(names)) == [["duplicate"] * len(names)]
    assert stored(store) == messages(*([name] for name in names))
    assert users(store) == len(names)


def test_runs_hold_the_rows_up_to_a_key_and_nothing_else(store, path):
    fill_slowly(store)
    store.close()
    ((last_key,),) = rows(path, "select max(last_key) from id_runs")
    covered = rows(path, f"select ids from new_ids where key <= {last_key}")
    expected = sorted(ids[start : start + 16] for (ids,) in covered for start in range(0, 80, 16))
    assert sorted(run_ids(path)) == expected
    assert len(expected) > len(ALL) / 2
    assert named(path) == files(path)
    assert len(files(path)) < 6


def test_a_store_that_starts_knows_what_the_one_before_it_took(store, path):
    fill(store)
    store.close()
    again = SqliteStore(path)
    check_whole(again)
    assert accept(again, singles(["new", ALL[3]])) == [["accepted", "duplicate"]]
    again.close()


def test_a_store_that_starts_sorts_all_rows_together(store, path, monkeypatch):
    """One by one, a hundred thousand rows of single ids held up all writers for seconds."""
    monkeypatch.setattr(id_runs, "RECENT_IDS", 1 << 17)  # nothing is merged into runs
    fill(store)
    store.close()
    assert not files(path)
    merges = []
    together = SortedIds.together
    monkeypatch.setattr(
        SortedIds, "together", lambda parts: merges.append(len(parts)) or together(parts)
    )
    again = SqliteStore(path)
    check_whole(again)
    close_round(again)
    assert accept(again, singles(["late", ALL[3]])) == [["too-late", "duplicate"]]
    again.close()
    assert len(merges) < CALLS / 10


def test_stores_of_several_processes_know_what_each_other_took(store, path):
    other = SqliteStore(path)
    for index, names in enumerate(NAMES):
        taking, replayed = (store, other) if index % 2 else (other, store)
        assert accept(taking, singles(names)) == [["accepted"] * EACH]
        assert accept(replayed, singles(names)) == [["duplicate"] * EACH]
    check_whole(other)
    other.close()


@pytest.mark.parametrize("damage", ["removed", "cut short"])
def test_a_run_that_is_missing_is_written_again(store, path, damage):
    fill(store)
    store.close()
    assert files(path)
    for file in files(path):
        if damage == "removed":
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:-16])
    again = SqliteStore(path)
    check_whole(again)
    again.close()
    assert len(run_ids(path)) > len(ALL) / 2


def test_a_process_that_runs_on_while_runs_are_written_again_forgets_nothing(store, path):
    """Another process that finds a file missing lets no run of the round count."""
    fill(store)
    wait_for_merges(store)
    assert files(path)
    for file in files(path):
        file.unlink()
    with Place("sqlite", str(path)).raw() as other:
        other.execute("delete from id_runs")
    check_whole(store)
    assert accept(store, singles(["more"])) == [["accepted"]]
    check_whole(store, [*ALL, "more"])


def test_a_file_that_a_crash_left_is_removed(store, path):
    left = [path.with_name(f"store.db.{name}.ids") for name in ("1-0123", "7-4567")]
    for file in left:
        file.write_bytes(bytes(32))
    fill(store)
    store.prune(NOW, 0)
    assert not any(file.exists() for file in left)
    check_whole(store)


def test_a_call_that_fails_leaves_no_id_behind(store):
    """Or reports that were never stored would be taken for duplicates."""
    opened = OpenedPart(DIGEST, 0, part=7, messages=5, unopened=0)
    for names in NAMES[:9]:
        with pytest.raises(StateError):
            store.accept([singles(names)], {}, NOW, opened)
        assert accept(store, singles(names)) == [["accepted"] * EACH]


def test_offers_of_one_call_know_each_other(store):
    given = accept(store, singles("ab"), bundles(["bc", "de"]), singles("ef"))
    assert given == [["accepted"] * 2, ["conflicting", "accepted"], ["duplicate", "accepted"]]


def test_sealing_moves_the_ids_and_leaves_no_order(store, path):
    fill(store)
    close_round(store, sealed=True)
    for table in ("new_ids", "id_runs"):
        assert rows(path, f"select * from {table}") == []
    assert files(path) == []
    seen = [name for (name,) in rows(path, "select id from seen")]
    assert seen == sorted(map(report_id, ALL))
    assert accept(store, singles(ALL)) == [["duplicate"] * len(ALL)]
    assert accept(store, singles(["new"])) == [["too-late"]]


def test_sealing_removes_the_file_of_a_merge_that_was_cut_off(store, path):
    """A worker at the door died; the others went on, and nobody has pruned since."""
    fill_slowly(store)
    left = path.with_name("store.db.1-00ff.ids")
    left.write_bytes(bytes(160))
    close_round(store, sealed=True)
    assert files(path) == []


def test_a_sealed_round_whose_runs_are_gone_but_named_is_read_and_cleared(store, path):
    """A crash came after the files had been removed and before their names were."""
    fill(store)
    close_round(store, sealed=True)
    with Place("sqlite", str(path)).raw() as crashed:
        crashed.execute("insert into id_runs values ('1-00ff', 1, 60, 300)")
    assert accept(store, singles(ALL)) == [["duplicate"] * len(ALL)]
    with Place("sqlite", str(path)).raw() as crashed:
        crashed.execute("insert or ignore into id_runs values ('1-00ff', 1, 60, 300)")
    store.clear_sealed()
    assert rows(path, "select * from id_runs") == []


def test_ids_in_a_row_are_sorted(store, path):
    """The payloads of the same call have another order: nothing ties a report to its claim."""
    accept(store, singles(ALL[:9]))
    ((ids,),) = rows(path, "select ids from new_ids")
    assert ids == b"".join(sorted(map(report_id, ALL[:9])))


@pytest.mark.parametrize("moved", [0, 7, len(ALL)])
def test_ids_that_a_crash_has_moved_in_part_are_moved_by_pruning(store, path, moved):
    fill(store)
    close_round(store)
    store.close()
    with Place("sqlite", str(path)).raw() as crashed:
        crashed.execute("update rounds set state = 'sealed'")
        crashed.execute("delete from segments")
        for name in ALL[:moved]:
            crashed.execute("insert into seen values (1, ?)", (report_id(name),))
        if moved == len(ALL):
            crashed.execute("delete from new_ids where key < 9")
    again = SqliteStore(path)
    assert accept(again, singles(ALL)) == [["duplicate"] * len(ALL)]
    again.prune(NOW, 0)
    assert rows(path, "select count(*) from seen") == [(len(ALL),)]
    assert rows(path, "select count(*) from new_ids") == [(0,)]
    assert files(path) == []
    assert accept(again, singles(ALL)) == [["duplicate"] * len(ALL)]
    again.close()


def test_ids_that_a_crash_left_of_an_erased_round_are_forgotten(store, path):
    """Not moved, and with its runs: the worst case."""
    fill(store)
    close_round(store)
    store.close()
    with Place("sqlite", str(path)).raw() as crashed:
        crashed.execute("update rounds set state = 'sealed', erased = 5")
        crashed.execute("delete from segments")
        crashed.execute("insert into seen values (1, ?)", (report_id(ALL[0]),))
    again = SqliteStore(path)
    assert accept(again, singles(ALL)) == [["too-late"] * len(ALL)]
    again.prune(NOW, 0)
    again.close()
    for table in ("seen", "new_ids", "id_runs"):
        assert rows(path, f"select * from {table}") == []
    assert files(path) == []


def test_a_backup_needs_no_runs(store, path, tmp_path):
    """The copy has many more ids than fit into memory, in no run."""
    fill(store)
    assert len(ALL) > id_runs.MAX_BEHIND * id_runs.RECENT_IDS
    (tmp_path / "elsewhere").mkdir()
    store.backup(tmp_path / "elsewhere" / "copy.db")
    copy = SqliteStore(tmp_path / "elsewhere" / "copy.db")
    check_whole(copy)
    copy.close()
    assert list((tmp_path / "elsewhere").glob("copy.db.*.ids"))
    check_whole(store)


def test_an_open_round_of_version_0_1_is_read_right(path):
    """Its ids are in ``seen``: they are known, and sealing puts the new ones beside them."""
    before = SqliteStore(path, steps=STEPS)
    before.publish(task(), "opening")
    before.close()
    with Place("sqlite", str(path)).raw() as older:
        for name in "ab":
            older.execute("insert into seen values (1, ?)", (report_id(name),))
        older.execute("drop table new_ids")
        older.execute("drop table id_runs")
        older.execute("update version set number = number - 1")
    store = SqliteStore(path)
    assert accept(store, singles("abc")) == [["duplicate", "duplicate", "accepted"]]
    assert accept(store, bundles(["ab", "bd"])) == [["duplicate", "conflicting"]]
    close_round(store, sealed=True)
    assert accept(store, singles("abcd")) == [[*["duplicate"] * 3, "too-late"]]
    store.close()
    assert rows(path, "select count(*) from seen") == [(3,)]


def test_a_run_that_is_removed_while_the_store_is_open_is_written_again(store, path):
    """Whoever reads the run says so once, and looks for missing runs when it is asked again."""
    fill_slowly(store)
    for file in files(path):
        file.unlink()
    later = NOW + 10 * id_runs.IDLE_SECONDS  # when the store has forgotten the round
    with pytest.raises(UnavailableError, match="cannot be read"):
        accept(store, singles(["later"]), now=later)
    assert accept(store, singles(["later"]), now=later) == [["accepted"]]
    check_whole(store, [*ALL, "later"])
    join_merges()
    assert named(path) == files(path)


def test_merges_go_on_when_runs_were_removed(store, path):
    """The process that has a run in memory reads on, and its next merge misses the file."""
    fill_slowly(store)
    wait_for_merges(store)
    for file in files(path):
        file.unlink()
    later = [f"later {number}" for number in range(len(ALL))]
    for name in later:
        assert accept(store, singles([name])) == [["accepted"]]
        join_merges()
    assert named(path) == files(path)
    check_whole(store, [*ALL, *later])


def test_a_disk_that_takes_no_run_takes_reports_all_the_same(store, path, monkeypatch, caplog):
    def full(*given):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as broken:
        broken.setattr(id_runs, "write", full)
        fill(store)
        check_whole(store)
        store.close()
        assert files(path) == []
    assert "not merged" in caplog.text
    again = SqliteStore(path)
    check_whole(again)
    again.close()
    assert files(path)


def test_a_want_of_memory_forgets_no_id(store, monkeypatch):
    """Parts are merged in memory now and then; whichever merge fails, nothing counts twice."""
    together = SortedIds.together
    lacking = threading.Event()

    def sometimes(parts):
        if lacking.is_set() and threading.current_thread() is threading.main_thread():
            raise MemoryError
        return together(parts)

    monkeypatch.setattr(SortedIds, "together", sometimes)
    failed = 0
    for names in NAMES:
        lacking.set()
        try:
            accept(store, singles(names))
        except MemoryError:
            failed += 1
            lacking.clear()
            assert accept(store, singles(names)) == [["accepted"] * EACH]
    assert failed > 5
    monkeypatch.undo()
    check_whole(store)


def test_a_round_that_is_idle_is_forgotten_and_read_again(store):
    fill(store)
    accept(store, singles(["later"]), now=NOW + 10 * id_runs.IDLE_SECONDS)
    check_whole(store, [*ALL, "later"])


def test_ids_are_erased_in_parts_while_others_write(store, path, monkeypatch):
    monkeypatch.setattr("sottovoce.collector.store.sql.IDS_CLEARED", 20)
    fill(store)
    store.open_round(DIGEST, 1, "second", NOW)
    close_round(store, sealed=True)
    done = threading.Event()
    verdicts = []

    def write():
        while not done.is_set():
            verdicts.extend(accept(store, singles([f"second {len(verdicts)}"], number=1))[0])

    thread = threading.Thread(target=write)
    thread.start()
    assert store.erase(DIGEST, 0, NOW)
    done.set()
    thread.join()
    assert set(verdicts) == {"accepted"}
    assert rows(path, "select count(*) from seen where round = 1") == [(0,)]
    assert store.rounds(DIGEST)[0].state is State.SEALED
    assert accept(store, singles(ALL[:3])) == [["too-late"] * 3]
