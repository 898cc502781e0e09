"""A collector with its logs in an object store is killed while it seals, and has lost nothing."""

import json
import random
import time

import msgspec
import pytest

import sottovoce as sv
from object_store import object_store
from sottovoce.collector import access
from sottovoce.engine.stored_path import log_folder
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from system.memory import AT_ONCE, messages
from system.servers import Server, Wire, bearer, open_store

pytest.importorskip("moto.server")
_GIVE_UP = 300.0  # seconds


def call(server, operator, method, path, body=None, kind="application/json"):
    wire = Wire(server.address)
    try:
        headers = {"authorization": bearer(operator), "content_type": kind}
        status, content, _ = wire.request(method, path, body, connection="close", **headers)
    finally:
        wire.close()
    assert status < 300, content
    return content


def test_a_collector_is_killed_between_its_log_and_its_seal(tmp_path):
    folder = tmp_path / "data"
    store = open_store(folder)
    operator = access.issue(store, "operator", int(time.time()))[0]
    store.close()
    task = sv.Task(
        "memory",
        sv.Histogram([str(value) for value in range(16)], mechanism="grr"),
        1.0,
        collection=Collection(grace=0),
    )
    with object_store() as logs:
        point = ["seal: log written", 1, str(tmp_path / "passed")]
        server = Server(folder, orders={"point": point}, logs=logs)
        try:
            document = codec.canonical(codec.document(task)).encode()
            call(server, operator, "POST", "/v1/tasks", document)
            dice = random.Random(1)
            for _ in range(3):
                body = msgspec.msgpack.encode({"reports": messages(task, dice)})
                path = "/v1/tasks/memory/reports"
                call(server, operator, "POST", path, body, "application/msgpack")
            call(server, operator, "POST", "/v1/tasks/memory/close?at_once=true", b"")
            assert server.process.wait(timeout=_GIVE_UP) == -9
        finally:
            server.discard()
        assert list(log_folder(logs).iterdir()), "the log is there, and nobody knows of it"
        again = Server(folder, logs=logs)
        try:
            end = time.monotonic() + _GIVE_UP
            while json.loads(call(again, operator, "GET", "/v1/tasks/memory/status"))["state"] != (
                "finished"
            ):
                assert time.monotonic() < end, "this did not happen"
                time.sleep(0.05)
            answer = json.loads(call(again, operator, "GET", "/v1/tasks/memory/answer"))
            assert answer["users"] == 3 * AT_ONCE
            assert again.errors() == []
        finally:
            again.stop()
            again.discard()
    assert not (folder / "sealed").exists()
