"""What all SQL stores share, below their contract: counters, segments, and rounds.

What the contract promises is in test_control.py; every test runs on every database.
"""

import sqlite3
from contextlib import closing

import pytest

from collector.store.offers import DIGEST, MINUTE, NOW, accept, close_round, singles, task
from sottovoce.collector.store import sql
from sottovoce.collector.store.base import State
from sottovoce.collector.store.sql import (
    SqlStore,
    add_round,
    clear_some_rows,
    count_messages,
    count_users,
)
from sottovoce.errors import ParameterError


class Recorder:
    """A connection that keeps the statements it is given, with their values."""

    def __init__(self):
        self.single, self.many = [], []

    def execute(self, sql, values=()):
        self.single.append((sql, values))
        return self

    rowcount = 1

    def executemany(self, sql, rows):
        self.many.append((sql, list(rows)))


def test_every_store_is_one_and_follows_the_same_statements(round_open):
    assert isinstance(round_open, SqlStore)


def test_counters_are_written_in_one_order_so_that_nodes_never_wait_in_a_circle():
    recorder = Recorder()
    arrived = {"b": 2, "a": 1}
    refused = {("b", "malformed"): 1, ("a", "too-early"): 4, ("a", "malformed"): 3}
    count_messages(recorder, arrived, refused, NOW, shard=7)
    (_, refused_rows), (_, arrived_rows) = recorder.many
    assert refused_rows == [
        ("a", "malformed", 7, 3),
        ("a", "too-early", 7, 4),
        ("b", "malformed", 7, 1),
    ]
    assert arrived_rows == [("a", MINUTE, 7, 1), ("b", MINUTE, 7, 2)]


def test_users_are_added_to_the_counter_of_a_shard():
    recorder = Recorder()
    count_users(recorder, 12, 5, shard=3)
    ((statement, values),) = recorder.single
    assert "users = progress.users + excluded.users" in statement
    assert values == (12, 3, 5)


def test_a_round_is_added_open():
    recorder = Recorder()
    assert add_round(recorder, DIGEST, 1, "questions", NOW)
    ((added, values),) = recorder.single
    assert "'open'" in added
    assert values == (DIGEST, 1, "questions", NOW, NOW)


def test_rows_of_one_round_are_cleared_part_by_part(monkeypatch):
    monkeypatch.setattr(sql, "ROWS_CLEARED", 3)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table blobs (key integer primary key, round, data)")
        rows = [(number % 2, bytes(number)) for number in range(10)]
        connection.executemany("insert into blobs (round, data) values (?, ?)", rows)
        assert [clear_some_rows(connection, "blobs", "data", 1) for _ in range(3)] == [
            *(True, True, False)
        ]
        left = connection.execute("select round, count(*) from blobs group by round").fetchall()
    assert left == [(0, 5)]


def test_counts_of_several_calls_and_minutes_add_up(round_open):
    accept(round_open, singles("ab"), refused={(DIGEST, "malformed"): 2})
    accept(round_open, singles("bc"), refused={(DIGEST, "malformed"): 1}, now=NOW + 60)
    assert round_open.rounds(DIGEST)[0].users == 3
    assert round_open.refusals(DIGEST) == {"malformed": 3}
    assert round_open.arrivals(DIGEST, 0) == [(MINUTE, 2), (MINUTE + 60, 1)]
    assert round_open.arrivals(DIGEST, MINUTE + 1) == [(MINUTE + 60, 1)]


def test_pruning_keeps_what_is_recent(round_open):
    accept(round_open, singles("a"))
    accept(round_open, singles("b"), now=NOW + 600)
    round_open.prune(NOW, MINUTE + 60)
    assert round_open.arrivals(DIGEST, 0) == [(MINUTE + 600, 1)]


def test_segments_come_whole_and_in_order_however_many_there_are(round_open):
    for number in range(70):  # more than are read at once
        accept(round_open, singles([f"user {number}"]))
    pieces = list(round_open.segments(DIGEST, 0))
    assert len(pieces) == 2
    assert b"".join(pieces).count(b"user") == 70


def test_sealing_and_erasing_happen_once(round_open):
    accept(round_open, singles("a"))
    assert not round_open.seal(DIGEST, 0, 1, "checksum", NOW), "it is still open"
    close_round(round_open, sealed=True)
    assert not round_open.seal(DIGEST, 0, 1, "another", NOW)
    assert round_open.erase(DIGEST, 0, NOW)
    assert not round_open.erase(DIGEST, 0, NOW)


def test_a_round_turns_one_way(store):
    store.publish(task(), "opening")
    with pytest.raises(ParameterError, match="`old` and `new` must be"):
        store.turn(DIGEST, 0, State.SEALING, State.OPEN, NOW)
