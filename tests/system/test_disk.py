"""A full disk and a locked database: requests are turned away with a time to come back, and nothing
is lost.
"""

import json
import os
import sqlite3
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from postgres_server import running
from sottovoce.collector import access
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from system.chain import Message, People, chain_task
from system.checks import check
from system.crash import encoded
from system.servers import Server, Wire, bearer, open_store

QUOTA = 400
_GIVE_UP = 60.0  # seconds


@dataclass
class Collection:
    """A server with one published task of one round, and an account of all that was sent to it."""

    folder: Path
    task: Task = field(default_factory=lambda: chain_task(1, QUOTA))
    database: str = ""
    messages: list[Message] = field(default_factory=list)
    documents: dict[int, str] = field(default_factory=dict)

    def start(self):
        store = open_store(self.folder, self.database)
        self.operator = access.issue(store, "operator", int(time.time()))[0]
        store.close()
        self.server = Server(self.folder, self.database)
        self.wire = Wire(self.server.address)
        created = self.call(
            "POST", "/v1/tasks", codec.canonical(codec.document(self.task)).encode()
        )
        assert created[0] == 201, created
        self.documents[0] = codec.canonical(codec.document(self.task.opening))
        self.messages = People(self.task, 5).messages(self.task.opening, QUOTA)

    def call(self, method, path, body=None):
        kind = "application/json"
        return self.wire.request(
            method, path, body, authorization=bearer(self.operator), content_type=kind
        )

    def upload(self, messages):
        """Send messages and note what was acknowledged; returns the status of the response."""
        status, content, headers = self._send(messages)
        while status == 429:  # a collector that has just started prepares its questions
            assert json.loads(content)["retry"]
            time.sleep(0.1)
            status, content, headers = self._send(messages)
        if status == 200:
            outcome = json.loads(content)
            assert outcome["accepted"] + outcome["duplicates"] == len(messages), outcome
            for one in messages:
                one.acknowledged = True
        else:
            problem = json.loads(content)
            assert (status, problem["code"], problem["retry"]) == (503, "unavailable", True)
            assert int(headers["retry-after"]) >= 1
        return status

    def _send(self, messages):
        body = encoded(messages, packed=False)
        return self.call("POST", "/v1/tasks/chain/reports", body)

    def ready(self):
        status, _, headers = self.call("GET", "/readyz")
        assert status == 200 or int(headers["retry-after"]) >= 1
        return status

    def state(self):
        return json.loads(self.call("GET", "/v1/tasks/chain/status")[1])["rounds"][0]["state"]

    def failures(self):
        lines = self.call("GET", "/metrics")[1].decode().splitlines()
        return sum(
            float(one.split()[-1])
            for one in lines
            if one.startswith("sottovoce_") and "fail" in one
        )

    def finish(self):
        """Wait for the answer, stop the server, and return everything that is wrong."""
        wait_until(lambda: self.call("GET", "/v1/tasks/chain/answer")[0] == 200)
        answer = self.call("GET", "/v1/tasks/chain/answer")[1]
        self.stop()
        return check(self, answer) + self.server.errors()

    def try_to_fill(self, batches):
        """Send messages until one upload is turned away; return those that were sent."""
        sent = []
        for batch in batches:
            sent.append(batch)
            if self.upload(batch) == 503:
                break
        return sent

    def stop(self):
        self.wire.close()
        self.server.stop()
        self.server.discard()


def wait_until(holds):
    """Wait for what must come; only a collector that never gets there comes to the end of this."""
    until = time.monotonic() + _GIVE_UP
    while not holds():
        assert time.monotonic() < until, "this did not happen"
        time.sleep(0.02)


@pytest.fixture
def collection(tmp_path):
    made = Collection(tmp_path / "data")
    yield made
    if hasattr(made, "server"):
        made.wire.close()
        made.server.discard()


@pytest.fixture
def small_disk():
    """Mount a disk of some kilobytes; only root may."""
    mounted = []

    def mount(folder, kilobytes):
        folder.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
        if (
            os.geteuid() != 0
            or subprocess.run(command, capture_output=True, check=False).returncode
        ):
            pytest.skip("a small disk cannot be mounted here: that needs root")
        mounted.append(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder):
    """Leave no byte free, and return the file that takes them all."""
    ballast = folder / "ballast"
    handle = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    os.write(handle, bytes(size))
            except OSError:
                continue
    finally:
        os.close(handle)
    return ballast


def test_a_full_disk_turns_uploads_away_and_loses_nothing(collection, small_disk):
    small_disk(collection.folder, 4096)
    collection.start()
    batches = [collection.messages[start : start + 20] for start in range(0, QUOTA, 20)]
    assert [collection.upload(batch) for batch in batches[:5]] == [200] * 5
    ballast = fill(collection.folder)
    wait_until(
        lambda: collection.ready() == 503
    )  # the last page of the journal may still have room for a small write
    turned_away = [batch for batch in batches[5:15] if collection.upload(batch) == 503]
    assert turned_away
    assert collection.call("GET", "/healthz")[0] == 200, "alive, but not ready"
    assert collection.upload(batches[0]) in (200, 503)  # a replay

    ballast.unlink()
    wait_until(lambda: collection.ready() == 200)
    assert [collection.upload(batch) for batch in (*turned_away, *batches)] == [200] * (
        len(turned_away) + len(batches)
    )
    assert collection.finish() == []


def test_a_server_that_dies_on_a_full_disk_has_lost_nothing(collection, small_disk):
    small_disk(collection.folder, 4096)
    collection.start()
    batches = [collection.messages[start : start + 20] for start in range(0, QUOTA, 20)]
    assert collection.upload(batches[0]) == 200
    ballast = fill(collection.folder)
    for batch in batches[1:]:
        collection.upload(batch)
    collection.wire.close()
    collection.server.kill()
    collection.server.discard()

    ballast.unlink()
    collection.server = Server(collection.folder)
    collection.wire = Wire(collection.server.address)
    assert [collection.upload(batch) for batch in batches] == [200] * len(batches)
    assert collection.finish() == []


def test_a_round_that_cannot_be_sealed_waits_and_is_sealed_later(collection, small_disk):
    small_disk(collection.folder / "sealed", 256)
    collection.start()
    ballast = fill(collection.folder / "sealed")
    assert collection.upload(collection.messages) == 200
    wait_until(lambda: collection.state() == "sealing")
    before = collection.failures()
    wait_until(lambda: collection.failures() >= before + 2)
    assert collection.state() == "sealing", "tried again and again, and still there"
    assert collection.upload(collection.messages) == 200, "a replay is acknowledged meanwhile"

    ballast.unlink()
    wait_until(lambda: collection.state() == "sealed")
    assert collection.finish() == []


def test_a_database_locked_by_another_process_turns_uploads_away_until_it_is_free(collection):
    collection.start()
    assert collection.upload(collection.messages[:100]) == 200
    other = sqlite3.connect(collection.folder / "collector.db", isolation_level=None)
    other.execute("begin immediate")
    statuses = []
    second = Wire(collection.server.address)
    asking = threading.Thread(target=lambda: statuses.append(second.request("GET", "/readyz")[0]))
    asking.start()
    assert collection.upload(collection.messages[100:200]) == 503
    asking.join()
    second.close()
    assert statuses == [503]
    other.execute("rollback")
    other.close()
    assert collection.ready() == 200
    assert collection.upload(collection.messages[100:]) == 200
    assert collection.finish() == []


@pytest.fixture
def small_server(collection):
    """A database server on a disk of its own, with the collector beside it.

    It does not start again by itself: that would make room for its journal on the full disk.
    """
    with running(megabytes=96) as server:
        with psycopg.connect(server.url(), autocommit=True) as book:
            book.execute("alter system set restart_after_crash = off")
            book.execute("select pg_reload_conf()")
        collection.database = server.create("full")
        collection.start()
        yield server


def use_up_journal(server):
    """Let the database server need a new file for its journal, which ends it on a full disk."""
    with suppress(psycopg.OperationalError), psycopg.connect(server.url(), autocommit=True) as book:
        while True:
            # Only the journal grows by this: a table would find the disk full before it.
            book.execute("select pg_logical_emit_message(true, 'filling', 'x')")
            book.execute("select pg_switch_wal()")


@pytest.mark.parametrize("journal", [False, True], ids=["for tables", "for the journal"])
def test_a_full_disk_under_the_database_server_turns_uploads_away_and_loses_nothing(
    collection, small_server, journal
):
    batches = [collection.messages[start : start + 20] for start in range(0, QUOTA, 20)]
    assert [collection.upload(batch) for batch in batches[:5]] == [200] * 5
    ballast = fill(small_server.folder / "data")
    if journal:
        use_up_journal(small_server)
    sent = collection.try_to_fill(batches[5:])
    assert not all(message.acknowledged for batch in sent for message in batch)
    assert collection.call("GET", "/healthz")[0] == 200, "alive"
    assert not journal or collection.ready() == 503, "and not ready, if nothing can be written"

    ballast.unlink()

    def is_ready_again():
        if not small_server.runs():  # it gives up, sooner or later, if it cannot write its journal
            small_server.control("start")
        return collection.ready() == 200

    wait_until(is_ready_again)
    assert [collection.upload(batch) for batch in batches] == [200] * len(batches)
    assert collection.finish() == []
