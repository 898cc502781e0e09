"""A collector with less memory than sealing needs lives, takes reports, says so, and seals later.

Most libraries raise an error where they find no memory.  Those that are loaded then may end their
process instead, which is that of the worker.
"""

import json
import random
import resource
import subprocess
import sys
import time

import msgspec
import pytest

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from system.memory import AT_ONCE, messages
from system.servers import Server, Wire, bearer, open_store

UPLOADS = 50
TOO_LITTLE = 320  # MiB of address space: enough for the server, and not for what seals
_GIVE_UP = 300.0  # seconds


class Limited:
    """A collector under a limit, with a full round that has to be sealed."""

    def __init__(self, folder, limit):
        self.folder = folder
        self._orders = {"memory": limit}
        labels = [str(value) for value in range(16)]
        self.task = sv.Task(
            "memory", sv.Histogram(labels, mechanism="grr"), 1.0, collection=Collection(grace=0)
        )
        store = open_store(folder)
        self.operator = access.issue(store, "operator", int(time.time()))[0]
        store.close()
        self.dice = random.Random(1)
        self.start()

    def start(self):
        self.server = Server(self.folder, orders=self._orders, fresh=True)

    def call(self, method, path, body=None, kind="application/json"):
        wire = Wire(self.server.address)
        try:
            headers = {"authorization": bearer(self.operator), "content_type": kind}
            return wire.request(method, path, body, connection="close", **headers)[:2]
        finally:
            wire.close()

    def publish(self):
        document = codec.canonical(codec.document(self.task)).encode()
        assert self.call("POST", "/v1/tasks", document)[0] == 201

    def upload(self):
        body = msgspec.msgpack.encode({"reports": messages(self.task, self.dice)})
        status, content = self.call(
            "POST", "/v1/tasks/memory/reports", body, kind="application/msgpack"
        )
        assert (status, msgspec.msgpack.decode(content)["accepted"]) == (200, AT_ONCE)

    def close(self):
        assert self.call("POST", "/v1/tasks/memory/close?at_once=true", b"")[0] == 200

    def status(self):
        return json.loads(self.call("GET", "/v1/tasks/memory/status")[1])


@pytest.fixture
def limited(tmp_path):
    made = []

    def make(limit):
        made.append(Limited(tmp_path / str(limit), limit))
        return made[-1]

    yield make
    for one in made:
        one.server.discard()


def wait_until(holds):
    """Wait for what must come; only a collector that never gets there comes to the end of this."""
    until = time.monotonic() + _GIVE_UP
    while not holds():
        assert time.monotonic() < until, "this did not happen"
        time.sleep(0.05)


def test_a_collector_without_memory_to_seal_lives_says_so_and_seals_later(limited):
    collector = limited(TOO_LITTLE)
    collector.publish()
    for _ in range(UPLOADS):
        collector.upload()
    collector.close()
    wait_until(lambda: collector.status()["trouble"])
    assert "memory" in collector.status()["trouble"]
    assert collector.status()["rounds"][0]["state"] == "sealing"
    assert collector.call("GET", "/healthz")[0] == collector.call("GET", "/readyz")[0] == 200
    command = [sys.executable, "-m", "sottovoce", "task", "list", "--data", str(collector.folder)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Warning: memory waits, and is tried again" in listed.stderr

    collector.server.kill()  # and the next one lives as well
    collector.server.discard()
    collector.start()
    failures = 'sottovoce_failures_total{error="UnavailableError"}'
    wait_until(lambda: failures in collector.call("GET", "/metrics")[1].decode())
    assert collector.server.alive

    most = resource.prlimit(collector.server.process.pid, resource.RLIMIT_AS)[1]
    resource.prlimit(collector.server.process.pid, resource.RLIMIT_AS, (most, most))
    wait_until(lambda: collector.status()["state"] == "finished")
    wait_until(lambda: collector.status()["trouble"] == "")  # once the work has reported back
    answer = json.loads(collector.call("GET", "/v1/tasks/memory/answer")[1])
    assert answer["users"] == UPLOADS * AT_ONCE
    assert collector.server.errors() == []
