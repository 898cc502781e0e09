"""What a collector keeps: every byte of its folder and of its output, searched for everything it
must not know.
"""

import gzip
import json
import re
import signal
import threading
from base64 import b64encode

import duckdb
import httpx2
import pytest

from collector.people import Clock, counting, numbered, text
from collector.running import client, finish, running
from collector.sending import held
from sottovoce.client.client import Client
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.web.logs import FIELDS
from sottovoce.wire import codec

LABELS = ["Quetzalcoatlus-Enthusiast", "Parasaurolophus-Skeptic", "Archaeopteryx-Agnostic"]
AGENT = "Recognisable-Browser/99.7"
FORWARDED = "203.0.113.7"
TASK = {
    "name": "secret-likings",
    "epsilon": 2.0,
    "plan": {"kind": "histogram", "domain": LABELS},
    "collection": {"minimum": 20, "grace": 0, "enrolment": True},
}


def found(haystacks, needle):
    """Where a text or some bytes occur, in any of the ways in which they might be written down."""
    needle = needle.encode() if isinstance(needle, str) else needle
    forms = {
        needle,
        needle.hex().encode(),
        needle.hex().upper().encode(),
        b64encode(needle).rstrip(b"="),
    }
    return sorted(
        name for name, content in haystacks.items() if any(form in content for form in forms)
    )


def everything(folder):
    """Every byte in a folder, by file; Parquet also decoded."""
    made = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            made[path.name] = path.read_bytes()
        if path.suffix == ".parquet":
            with duckdb.connect() as engine:
                rows = engine.execute(f"select * from read_parquet('{path}')").fetchall()
            made[f"{path.name} decoded"] = b"\n".join(
                one if isinstance(one, bytes) else repr(one).encode() for row in rows for one in row
            )
    return made


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A real server that enrolled thirty devices, got their reports, and was stopped; and what they
    sent.
    """
    folder = tmp_path_factory.mktemp("kept")
    store = SqliteStore(folder / "collector.db")
    (operator,) = access.issue(store, "operator", Clock().now)
    store.close()
    headers = {
        "user-agent": AGENT,
        "x-forwarded-for": FORWARDED,
        "forwarded": f"for={FORWARDED}",
        "cookie": "a=SomeCookie",
    }
    with running(folder, "--rate", "0", "--proxies", "127.0.0.1") as server:
        with client(server, headers=headers) as devices, client(server) as people:
            bearing = {"authorization": f"Bearer {operator}"}
            document = people.post("/v1/tasks", json=TASK, headers=bearing)
            assert document.status_code == 201
            wanted = {"scope": "enrolment", "count": 30}
            tokens = people.post("/v1/tokens", json=wanted, headers=bearing).json()["tokens"]
            document = devices.get("/v1/tasks/secret-likings").text
            messages = [
                Client(document, ":memory:", token).answer(LABELS[one % 3])
                for one, token in enumerate(tokens)
            ]
            for one, message in enumerate(messages):
                body = {
                    "reports": [b64encode(message).decode(), "AAAA"],
                    "tokens": [tokens[one], "NoSuchToken"],
                }
                said = devices.post("/v1/tasks/secret-likings/reports", json=body).json()
                assert (said["accepted"], len(said["refused"])) == (1, 1)
            assert devices.get("/v1/nowhere?address=SomeQuery").status_code == 404
            assert (
                devices.post(
                    "/v1/tasks/secret-likings/reports", content=b"SomeBrokenBody"
                ).status_code
                == 400
            )
            open_round = everything(folder)
            finish(people, "secret-likings", operator)
            answer = people.get("/v1/tasks/secret-likings/answer", headers=bearing)
            assert answer.status_code == 200
        assert server.stop() == 0
        said = {"output": server.said.encode(), "log": server.logged.encode()}
    return {
        "open": open_round,
        "sealed": everything(folder),
        "said": said,
        "tokens": [operator, *tokens],
        "messages": messages,
        "document": document,
    }


def test_no_address_agent_or_cookie_is_kept_or_logged(collection):
    for part in ("open", "sealed", "said"):
        for needle in (
            FORWARDED,
            AGENT,
            "SomeCookie",
            "SomeQuery",
            "SomeBrokenBody",
            "NoSuchToken",
        ):
            assert found(collection[part], needle) == [], (part, needle)
    for part in ("open", "sealed"):
        assert found(collection[part], "127.0.0.1") == []
    assert b"127.0.0.1" not in collection["said"]["log"]


def test_no_token_is_kept_or_logged(collection):
    for part in ("open", "sealed", "said"):
        assert not any(found(collection[part], token) for token in collection["tokens"])


def test_no_report_is_in_the_log_and_no_id_of_one(collection):
    for message in collection["messages"]:
        assert found(collection["said"], message[28:44]) == []
        assert found(collection["said"], message) == []


def test_reports_and_ids_are_where_they_belong(collection):
    """The search above is worth nothing if it would not find what is there."""
    message = collection["messages"][0]
    assert found(collection["open"], message[28:44])
    assert "round-00000.parquet decoded" in found(collection["sealed"], message[28:44])
    hashed = access.hashed(collection["tokens"][0])
    assert found(collection["sealed"], hashed) == ["collector.db"]


def test_true_values_are_nowhere_but_in_the_public_document(collection):
    """Labels stand in the document of the task and its rounds, and as often as there are copies of
    it.
    """
    document = codec.canonical(codec.parse(collection["document"])).encode()
    for part in ("open", "sealed"):
        for name, content in collection[part].items():
            for label in LABELS:
                beside = content.replace(document, b"")
                pieces = re.sub(rb'"labels":\[[^\]]*\]', b"", beside)  # of a page that SQLite split
                assert label.encode() not in pieces, (part, name)
    assert not any(found(collection["said"], label) for label in LABELS)


def test_nothing_in_the_folder_links_a_token_to_a_report(collection):
    """A sealed report has an id, a member, a slot and a payload; claims have hashes in the order of
    their bytes.
    """
    decoded = collection["sealed"]["round-00000.parquet decoded"]
    for token in collection["tokens"]:
        assert access.hashed(token) not in decoded


def test_every_line_of_the_log_is_json_of_chosen_fields(collection):
    lines = [json.loads(line) for line in collection["said"]["log"].decode().splitlines()]
    assert lines
    for line in lines:
        assert set(line) <= {"time", "level", *FIELDS}


def test_the_search_finds_a_planted_token(collection, tmp_path):
    """A broken twin: a collector that noted a token anywhere would be caught."""
    token = collection["tokens"][1]
    planted = collection["sealed"]
    for content in (
        token.encode(),
        token.encode().hex().encode(),
        b64encode(token.encode()),
        b"x" * 5000 + token.encode(),
    ):
        assert found({**planted, "planted": content}, token) == ["planted"]
    store = SqliteStore(tmp_path / "collector.db")
    store.add_tokens([access.TokenRecord(bytes(32), "analyst", token, 0)])
    store.close()
    assert found(everything(tmp_path), token)
    assert found({"log": json.dumps({"event": token}).encode()}, token) == ["log"]
    assert not found({"log": gzip.compress(b"nothing")}, token)


def test_what_was_acknowledged_before_a_signal_is_there_after_a_restart(tmp_path):
    """Uploads run on four connections when the signal comes; each message holds a value of its
    own.
    """
    task = counting(size=60_000)
    store = SqliteStore(tmp_path / "collector.db")
    (operator,) = access.issue(store, "operator", Clock().now)
    Collector(store, tmp_path, Clock()).create(text(task), toml=False)
    store.close()
    acknowledged, lock = [], threading.Lock()
    enough = threading.Event()

    def upload(server, start):
        with client(server) as device:
            for first in range(start, start + 10_000, 10):
                values = range(first, first + 10)
                body = {"reports": [b64encode(one).decode() for one in numbered(task, *values)]}
                try:
                    answer = device.post("/v1/tasks/count/reports", json=body)
                except httpx2.TransportError:
                    return  # the server has stopped
                if answer.status_code == 200 and answer.json()["accepted"] == 10:
                    with lock:
                        acknowledged.extend(values)
                        if len(acknowledged) > 400:
                            enough.set()

    with running(tmp_path, "--rate", "0") as server:
        threads = [threading.Thread(target=upload, args=(server, 10_000 * one)) for one in range(4)]
        for thread in threads:
            thread.start()
        assert enough.wait(60)
        assert server.stop(signal.SIGTERM) == 0
        for thread in threads:
            thread.join()
    with running(tmp_path, "--rate", "0") as server, client(server) as people:
        finish(people, "count", operator)
        assert server.stop() == 0
    store = SqliteStore(tmp_path / "collector.db")
    counted = held(Collector(store, tmp_path, Clock()), "count")
    store.close()
    assert set(counted.values()) == {1}
    assert set(acknowledged) <= set(counted)
