"""What only a file can do to a store: fill up, be locked, be damaged, be copied, and keep what was
erased.
"""

import resource
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from collector.store.child import start
from collector.store.offers import (
    DIGEST,
    NOW,
    accept,
    bundle_data,
    close_round,
    messages,
    report_id,
    singles,
    stored,
    task,
    users,
)
from collector.store.places import Place
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import ParameterError, UnavailableError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def connections(monkeypatch):
    """All connections that stores have opened, the first of each being its writer."""
    opened, connect = [], sqlite3.connect

    def watched(*arguments, **settings):
        opened.append(connect(*arguments, **settings))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", watched)
    return opened


@pytest.fixture
def opened(path, connections):
    store = SqliteStore(path, 0.2)
    store.publish(task(), "opening")
    yield store
    store.close()


def fill(store, limit=1000):
    """Accept until the store cannot, and return the names that were acknowledged."""
    names = []
    for number in range(limit):
        chunk = [f"{number} {one}" for one in range(50)]
        try:
            accept(store, singles(chunk))
        except UnavailableError:
            return names
        names += chunk
    raise AssertionError("it never filled up")


def check_whole(store, names):
    """All that was acknowledged is there, nothing else, and the store goes on."""
    assert stored(store) == messages(*([name] for name in names))
    assert users(store) == len(names) == store.arrivals(DIGEST, 0)[0][1]
    chunk = [f"{len(names) // 50} {one}" for one in range(50)]
    assert accept(store, singles(chunk), singles(names)) == [
        ["accepted"] * 50,
        ["duplicate"] * len(names),
    ]


def test_a_full_database_refuses_and_recovers(opened, connections):
    writer = connections[0]
    writer.execute("pragma max_page_count = 60").fetchall()
    names = fill(opened)
    with pytest.raises(UnavailableError, match="full"):
        accept(opened, singles([f"more {one}" for one in range(10**4)]))
    writer.execute("pragma max_page_count = 100000").fetchall()
    check_whole(opened, names)


def test_a_disk_that_writes_no_more_refuses_and_recovers(path):
    """In a process of its own, since the limit is for all files of a process."""
    done = subprocess.run(
        [sys.executable, "-m", "collector.store.test_sqlite", str(path)],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0


def on_a_full_disk(path):
    """Let no file grow beyond its present size, fill up, lift the limit, and go on with the same
    connection.
    """
    store = SqliteStore(path, 0.2)
    store.publish(task(), "opening")
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    names = fill(store)
    with pytest.raises(UnavailableError):
        accept(store, singles([f"more {one}" for one in range(10**4)]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
    check_whole(store, names)
    store.check()
    store.close()


def test_a_database_locked_by_another_process_is_unavailable_and_still_read(opened, path):
    accept(opened, singles("a"))
    with start(Place("sqlite", str(path)), "sleep_in_transaction") as child:
        assert child.stdout.readline() == "locked\n"
        for attempt in (opened.check, lambda: accept(opened, singles("b"))):
            with pytest.raises(UnavailableError, match="locked"):
                attempt()
        assert stored(opened) == messages("a")
        child.kill()
    assert accept(opened, singles("ab")) == [["duplicate", "accepted"]]


def test_a_writer_that_does_not_end_makes_others_unavailable(opened, connections):
    entered, leave = threading.Event(), threading.Event()

    def stay(statement):
        entered.set()
        leave.wait()

    writer = connections[0]
    writer.set_trace_callback(stay)
    thread = threading.Thread(target=opened.check)
    thread.start()
    entered.wait()
    with pytest.raises(UnavailableError, match="busy"):
        opened.check()
    leave.set()
    thread.join()
    opened.check()


def test_other_threads_run_while_the_database_works(opened):
    """The interpreter's lock is let go while SQLite inserts: a call makes few statements, and many
    turns pass.
    """
    turns, stop = [], threading.Event()

    def count():
        while not stop.wait(0.0001):
            turns.append(None)

    offer = singles([f"user {one}" for one in range(100_000)])
    thread = threading.Thread(target=count)
    sys.setswitchinterval(60)  # nobody is made to let go: only who waits does
    try:
        thread.start()
        turns.clear()
        opened.accept([offer], {}, NOW)
        assert len(turns) > 20
    finally:
        sys.setswitchinterval(0.005)
        stop.set()
        thread.join()


@pytest.mark.parametrize("content", [b"not a database" * 1000, None], ids=["damaged", "no folder"])
def test_a_file_that_cannot_be_opened_is_unavailable(path, content):
    if content is None:
        path = path / "folder" / "store.db"
    else:
        path.write_bytes(content)
    with pytest.raises(UnavailableError):
        SqliteStore(path)


@pytest.mark.usefixtures("opened")
def test_an_acknowledged_report_is_synced(connections):
    writer = connections[0]
    assert writer.execute("pragma synchronous").fetchone() == (2,)
    assert writer.execute("pragma journal_mode").fetchone() == ("wal",)


def anywhere(path, needle):
    """Whether bytes are in the database or in any file beside it."""
    return any(needle in one.read_bytes() for one in path.parent.iterdir())


def test_sealed_payloads_are_nowhere_in_the_files(opened, path):
    """Found before, so that finding nothing afterwards means something; the ids stay until they are
    erased.
    """
    names = [f"secret {one}" for one in range(300)]
    accept(opened, singles(names))
    accept(opened, singles(["one more"]))
    assert anywhere(path, bundle_data(["secret 7"]))
    close_round(opened, sealed=True)
    for name in [*names, "one more"]:
        assert not anywhere(path, bundle_data([name]))
    assert anywhere(path, report_id("secret 7"))
    assert accept(opened, singles(names[:5])) == [["duplicate"] * 5]
    opened.erase(DIGEST, 0, NOW)
    opened.prune(NOW, 0)
    assert not anywhere(path, report_id("secret 7"))


def test_a_reader_in_the_way_of_sealing_only_delays_the_overwriting(opened, path):
    accept(opened, singles(["secret"]))
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("begin")
        reader.execute("select * from segments").fetchall()
        close_round(opened, sealed=True)
        reader.rollback()
    opened.prune(NOW, 0)
    assert not anywhere(path, bundle_data(["secret"]))


def test_pruning_erases_what_a_crash_left_of_a_sealed_round(opened, path):
    """A process may die after a round is sealed and before all payloads are erased."""
    accept(opened, singles(["kept until now"]))
    close_round(opened, sealed=True)
    with closing(sqlite3.connect(path)) as crashed:
        ((key,),) = crashed.execute("select key from rounds").fetchall()
        for number in range(3):
            secret = f"secret {number}".encode()
            crashed.execute("insert into segments (round, data) values (?, ?)", (key, secret))
        crashed.commit()
    assert anywhere(path, b"secret 1")
    opened.prune(NOW, 0)
    assert not anywhere(path, b"secret 1")


def test_a_backup_is_a_store_of_the_same_content(opened, tmp_path):
    accept(opened, singles("ab"))
    opened.backup(tmp_path / "copy.db")
    accept(opened, singles("c"))
    copy = SqliteStore(tmp_path / "copy.db")
    assert stored(copy) == messages("a", "b")
    assert copy.tasks() == opened.tasks()
    assert accept(copy, singles("abc")) == [["duplicate", "duplicate", "accepted"]]
    copy.close()


def test_a_backup_while_reports_come_in_holds_whole_calls(opened, tmp_path):
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            accept(opened, singles([f"{number} {one}" for one in range(10)]))
            number += 1

    thread = threading.Thread(target=write)
    thread.start()
    for number in range(5):
        opened.backup(tmp_path / f"copy {number}.db")
    stop.set()
    thread.join()
    for number in range(5):
        copy = SqliteStore(tmp_path / f"copy {number}.db")
        assert len(stored(copy)) == users(copy)
        assert users(copy) % 10 == 0
        copy.close()


def test_a_backup_overwrites_nothing_and_leaves_nothing_half_done(opened, tmp_path):
    (tmp_path / "copy.db").write_text("precious")
    with pytest.raises(ParameterError):
        opened.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "precious"
    with pytest.raises(UnavailableError):
        opened.backup(tmp_path / "no folder" / "copy.db")
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.usefixtures("opened")
def test_claims_have_no_order_of_arrival_and_no_link_to_reports(path):
    """The columns are all there is: no row number, no time, no round, no id."""
    place = Place("sqlite", str(path))
    assert [row[1] for row in place.rows("pragma table_info(claims)")] == ["task", "epoch", "hash"]
    with pytest.raises(sqlite3.OperationalError, match="rowid"):
        place.rows("select rowid from claims")


if __name__ == "__main__":
    on_a_full_disk(Path(sys.argv[1]))
