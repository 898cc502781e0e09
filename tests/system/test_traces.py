"""The search for traces finds each of them where it was planted."""

import os
import sqlite3
import time

import pytest

from system.traces import database_values, has_row_numbers, traces

ADDRESS = "127.0.0.2"
MESSAGE = os.urandom(198)
MINUTE = int(time.time()) // 60 * 60


def found(values=(), written=b""):
    return traces([MINUTE, 7, "text", b"hash", *values], written, [MESSAGE], ADDRESS)


def test_minutes_counters_and_hashes_are_no_traces():
    assert found(written=b"nothing of it") == []


@pytest.mark.parametrize("place", [slice(0, 32), slice(83, 115), slice(-32, None)])
def test_any_end_of_a_ciphertext_is_found(place):
    assert found(written=b"before" + MESSAGE[place] + b"after") == ["a ciphertext is left"]


def test_an_address_is_found_as_text_and_as_bytes():
    expected = ["the address of a device is left"]
    assert found(written=b'{"client": "127.0.0.2"}') == expected
    assert found([b"\x01\x7f\x00\x00\x02"]) == expected


def test_a_second_is_found():
    assert found([MINUTE + 1]) == ["a time finer than a minute is left"]


def test_the_values_and_the_order_of_a_table_are_read(tmp_path):
    path = tmp_path / "file.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table plain (a, b)")
        connection.execute("insert into plain values (1, 'x')")
        connection.execute("create table bare (a primary key) without rowid")
    connection.close()
    assert sorted(map(str, database_values(path))) == ["1", "x"]
    assert has_row_numbers(path, "plain")
    assert not has_row_numbers(path, "bare")
