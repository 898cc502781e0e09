"""What only a server can do to a store: go away, come back, end a session, and let several nodes in
at once.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from collector.store.offers import (
    DIGEST,
    NOW,
    accept,
    bundles,
    messages,
    report_id,
    singles,
    stored,
    task,
    token,
    users,
)
from sottovoce.collector.store.base import State
from sottovoce.collector.store.postgres import PostgresStore
from sottovoce.errors import MissingExtraError, ParameterError, UnavailableError

NUMBERS = count()


@pytest.fixture
def url(postgres_server):
    return postgres_server.create(f"postgres_{next(NUMBERS)}")


@pytest.fixture
def opened(url):
    store = PostgresStore(url)
    store.publish(task(), "opening")
    yield store
    store.close()


@pytest.fixture
def beside(url):
    """A connection of somebody else."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def fail_with(code, beside):
    """Let the server fail with an error of its own when a segment is written."""
    beside.execute(
        "create function fail() returns trigger language plpgsql as"
        f" $$ begin raise exception 'made to fail' using errcode = '{code}'; end $$"
    )
    beside.execute(
        "create trigger fail before insert on segments for each row execute function fail()"
    )


@pytest.mark.parametrize("code", ["40P01", "40001", "53100", "55P03", "57P01"])
def test_an_error_of_the_server_is_unavailable_and_leaves_nothing(opened, beside, code):
    """Deadlock, serialization failure, disk full, lock timeout, shutdown."""
    opened.add_tokens([token("ann")])
    fail_with(code, beside)
    with pytest.raises(UnavailableError):
        accept(opened, singles("a", tokens=["ann"]))
    beside.execute("drop trigger fail on segments")
    assert (users(opened), stored(opened), opened.refusals(DIGEST)) == (0, [], {})
    assert accept(opened, singles("a", tokens=["ann"])) == [["accepted"]]


def test_a_session_ended_in_the_middle_of_accepting_leaves_nothing(opened, beside):
    psycopg = pytest.importorskip("psycopg")
    with ThreadPoolExecutor(1) as pool, psycopg.connect(beside.info.dsn) as blocker:
        blocker.execute("lock table segments in access exclusive mode")
        waiting = pool.submit(accept, opened, singles("ab"))
        wait_until(beside, 1, waiting)
        beside.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where wait_event_type = 'Lock' and datname = current_database()"
        )
        with pytest.raises(UnavailableError):
            waiting.result()
    assert accept(opened, singles("ab")) == [["accepted"] * 2]
    assert users(opened) == 2


@pytest.fixture
def server(postgres_server):
    """The server, running again whatever the test did to it."""
    yield postgres_server
    postgres_server.control("restart", "-m", "immediate")


def test_after_a_restart_of_the_server_the_next_call_reconnects(server, opened, beside):
    psycopg = pytest.importorskip("psycopg")
    accept(opened, singles("ab"))
    with ThreadPoolExecutor(3) as pool, psycopg.connect(beside.info.dsn) as blocker:
        blocker.execute("lock table tasks in access exclusive mode")
        reading = [pool.submit(opened.tasks) for _ in range(3)]
        wait_until(beside, 3, reading[0])
        blocker.commit()  # so that three connections lie idle
    server.control("restart", "-m", "immediate")
    with pytest.raises(UnavailableError):
        opened.check()
    assert stored(opened) == messages("a", "b")


def test_while_the_server_is_down_every_call_is_unavailable(server, opened):
    server.control("stop", "-m", "immediate")
    for _ in range(2):
        with pytest.raises(UnavailableError):
            opened.tasks()
    with pytest.raises(UnavailableError), opened.lease("sealing"):
        raise AssertionError


def test_a_server_that_is_not_there_is_unavailable(tmp_path):
    pytest.importorskip("psycopg")
    with pytest.raises(UnavailableError):
        PostgresStore(f"postgresql:///none?host={tmp_path}")


def test_without_its_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[postgres\]"):
        PostgresStore("postgresql:///any")


def test_a_backup_names_the_tools_of_the_server(opened):
    with pytest.raises(ParameterError, match="pg_dump"):
        opened.backup(Path("copy"))


def test_turning_a_round_waits_for_a_node_that_is_accepting(opened, beside):
    psycopg = pytest.importorskip("psycopg")
    with ThreadPoolExecutor(2) as pool, psycopg.connect(beside.info.dsn) as blocker:
        blocker.execute("lock table segments in access exclusive mode")
        accepting = pool.submit(accept, opened, singles("a"))
        wait_until(beside, 1, accepting)
        turning = pool.submit(opened.turn, DIGEST, 0, State.OPEN, State.CLOSING, NOW)
        wait_until(beside, 2, turning)
        assert not turning.done()
        blocker.rollback()
        assert accepting.result() == [["accepted"]]
        assert turning.result()


def wait_until(beside, number, call):
    """Return when so many sessions wait for a lock, or when the call did not have to."""
    waiters = (
        "select count(*) from pg_stat_activity"
        " where wait_event_type = 'Lock' and datname = current_database()"
    )
    while beside.execute(waiters).fetchone() != (number,) and not call.done():
        pass


def test_nodes_with_overlapping_bundles_and_tokens_never_deadlock(opened, url):
    """Four nodes take the same bundles and tokens in different orders; a deadlock would be an error
    here.
    """
    names = [f"{number:04}" for number in range(1500)]
    opened.add_tokens([token(name) for name in names])
    opened.open_round(DIGEST, 1, "second", NOW)
    nodes = [PostgresStore(url) for _ in range(4)]
    together = threading.Barrier(4)

    def offer(index):
        for first in range(0, len(names), 300):
            order = sorted(
                names[first : first + 300], key=lambda name: report_id(f"{index} {name}")
            )
            parts = [
                pairs(order[part : part + 100], number)
                for number, part in ((0, 0), (1, 100), (0, 200))
            ]
            together.wait()
            try:
                accept(nodes[index], *parts, refused={(DIGEST, "x"): 1, (DIGEST, "y"): 1})
            except UnavailableError:
                together.abort()  # or the others would wait for this one
                raise

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(offer, range(4)))
    assert users(opened) + users(opened, number=1) == len(names)
    assert len(stored(opened)) + len(stored(opened, number=1)) == len(names)
    assert {code: number for code, number in opened.refusals(DIGEST).items() if len(code) == 1} == {
        "x": 20,
        "y": 20,
    }
    for node in nodes:
        node.close()


def pairs(names, number):
    return bundles([[f"{name} a", f"{name} b"] for name in names], tokens=names, number=number)


def test_every_session_waits_for_the_disk(url, beside):
    """Whatever the default of the database is; a trigger notes the setting of the session."""
    database = beside.info.dbname
    beside.execute(f"alter database {database} set synchronous_commit = off")
    store = PostgresStore(url)
    beside.execute("create table noted (setting text)")
    beside.execute(
        "create function note() returns trigger language plpgsql as $$ begin"
        " insert into noted values (current_setting('synchronous_commit')); return new; end $$"
    )
    beside.execute(
        "create trigger note before insert on segments for each row execute function note()"
    )
    store.publish(task(), "opening")
    accept(store, singles("a"))
    store.close()
    assert beside.execute("select * from noted").fetchall() == [("on",)]
