"""The interface of a hop: messages, parts, health, and what is refused."""

import hashlib
import os
from base64 import b64decode
from contextlib import closing

import msgspec
import pytest

from collector.people import Clock
from shuffler.hops import (
    USERS,
    messages_path,
    one_hop,
    open_hop,
    people,
    served_hop,
    shuffled_task,
    upload_body,
)
from shuffler.receiver import text_of
from sottovoce.shuffler import wire
from sottovoce.shuffler.app import create_hop
from sottovoce.shuffler.operations import OPERATIONS
from sottovoce.shuffler.store.base import BatchState
from sottovoce.wire.batch_part import BatchPart
from sottovoce.wire.round_keys import new_signing_key

BINARY = {"content-type": "application/octet-stream"}


def problem(answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_messages_are_acknowledged_once_they_are_durable(client, hop, receiver):
    _, sealed = people(receiver, 3)
    answer = client.post(messages_path(receiver), json=upload_body(sealed))
    assert answer.json() == {"accepted": 3, "duplicates": 0, "refused": []}
    assert hop.store.count_inbox(receiver.notice.fingerprint, 0) == 3
    answer = client.post(messages_path(receiver), json=upload_body([sealed[0], b"short"]))
    refused = [{"index": 1, "code": "malformed", "retry": False}]
    assert answer.json() == {"accepted": 0, "duplicates": 1, "refused": refused}


def test_messages_come_as_messagepack_too(client, receiver):
    _, sealed = people(receiver, 2)
    body = msgspec.msgpack.encode(wire.MessageUpload(sealed))
    headers = {"content-type": "application/msgpack"}
    answer = client.post(messages_path(receiver), content=body, headers=headers)
    assert msgspec.msgpack.decode(answer.content)["accepted"] == 2


def test_a_round_that_is_not_known_or_closed_refuses_each_message(client, hop, receiver):
    _, sealed = people(receiver, USERS + 1)
    answer = client.post(messages_path(receiver, 1), json=upload_body(sealed[:1]))
    assert answer.json()["refused"] == [{"index": 0, "code": "too-early", "retry": True}]
    client.post(messages_path(receiver), json=upload_body(sealed[:USERS]))
    hop.advance()
    answer = client.post(messages_path(receiver), json=upload_body(sealed))
    assert answer.json()["duplicates"] == USERS
    assert answer.json()["refused"] == [{"index": USERS, "code": "too-late", "retry": False}]


def test_requests_that_make_no_sense_are_refused(client, receiver):
    path = messages_path(receiver)
    problem(client.post(path.replace(text_of(receiver.notice.fingerprint), "A" * 43), json={}),
            404, "not-found")  # fmt: skip
    problem(client.post(path, json={"reports": []}), 400, "malformed-request")
    problem(client.post(path, json={"reports": ["AA=="], "tokens": []}), 400, "malformed-request")
    problem(client.post(path, content=b"x", headers={"content-type": "text/plain"}), 415,
            "unsupported-media")  # fmt: skip
    problem(client.post(path.replace("/0/", "/99999/"), json={}), 404, "not-found")
    problem(client.post(path.replace("/0/", "/x/"), json={}), 404, "not-found")
    problem(client.put(path.replace("messages", "batch/0"), content=b"", headers=BINARY), 409,
            "conflict")  # fmt: skip
    problem(client.get("/nowhere"), 404, "not-found")


def test_an_address_that_sends_too_much_has_to_wait(hop, receiver):
    from dataclasses import replace

    hop.settings = replace(hop.settings, rate=5)
    _, sealed = people(receiver, 10)
    with served_hop(hop) as client:
        path = messages_path(receiver)
        assert client.post(path, json=upload_body(sealed)).status_code == 200
        problem(client.post(path, json=upload_body(sealed[:2])), 429, "slow-down")
        problem(client.post(path, json=upload_body([*sealed, sealed[0]])), 429, "slow-down")


@pytest.mark.parametrize("root_path", ["", "/mix"])
def test_problems_lead_to_their_row_where_a_proxy_serves_the_hop(tmp_path, root_path):
    hop = open_hop(tmp_path, Clock(), root_path=root_path)
    with closing(hop.store), served_hop(hop) as client:
        for path in ("/v1/nothing", "/v1/tasks/none/rounds/0/messages"):
            refused = client.post(root_path + path, json={"reports": []})
            address, _, anchor = refused.json()["type"].partition("#")
            assert address == f"{root_path}/errors"
            assert f'id="{anchor}"' in client.get(address).text


def test_health_status_and_the_document(client, receiver):
    assert client.get("/healthz").text == "alive\n"
    assert client.get("/readyz").text == "ready\n"
    status = client.get("/v1/tasks").json()
    assert [task["name"] for task in status["tasks"]] == ["count"]
    paths = client.get("/v1/openapi.json").json()["paths"]
    assert set(paths) == {operation.path for operation in OPERATIONS}


def parts_of(hop, receiver, messages, signing, hop_number=0):
    data = b"".join(messages)
    part = BatchPart(
        receiver.notice.fingerprint, 0, hop_number, 0, 1, hashlib.sha256(data).digest(), data
    )
    return part.write(signing.private_key)


@pytest.fixture
def second(hop, receiver):
    """The hop as the second one of a chain; returns the key of the first."""
    first = new_signing_key()
    hops = [
        ("https://mix-a.example.org", first.public_key),
        ("https://mix-b.example.org", hop.signing.public_key),
    ]
    receiver.keys.clear()
    receiver.rounds.clear()
    receiver.publish(shuffled_task(hops, receiver.key))
    receiver.play_hop(0, first)
    hop.add(receiver.document, receiver.url)
    hop.advance()
    return first


def part_path(receiver, number=0, part=0):
    return messages_path(receiver, number).replace("messages", f"batch/{part}")


def test_a_second_hop_takes_signed_parts_and_nothing_from_devices(second, client, hop, receiver):
    length = hop.sealed_bytes(hop.find(text_of(receiver.notice.fingerprint)), 0)
    messages = [os.urandom(length) for _ in range(3)]
    part = parts_of(hop, receiver, messages, second)
    for _ in range(2):  # the same part again is fine
        answer = client.put(part_path(receiver), content=part, headers=BINARY)
        assert answer.json() == {"received": 1, "parts": 1, "complete": True}
    record = hop.store.find_round(receiver.notice.fingerprint, 0)
    assert record.state == BatchState.CLOSING
    other = parts_of(hop, receiver, messages[::-1], second)
    problem(client.put(part_path(receiver), content=other, headers=BINARY), 409, "conflict")
    devices = client.post(messages_path(receiver), json=upload_body(messages))
    problem(devices, 409, "conflict")


def test_parts_that_the_first_hop_did_not_sign_for_this_place_are_refused(
    second, client, hop, receiver
):
    length = hop.sealed_bytes(hop.find(text_of(receiver.notice.fingerprint)), 0)
    message = os.urandom(length)
    path = part_path(receiver)
    stranger = parts_of(hop, receiver, [message], new_signing_key())
    problem(client.put(path, content=stranger, headers=BINARY), 409, "conflict")
    of_other_hop = parts_of(hop, receiver, [message], second, hop_number=1)
    problem(client.put(path, content=of_other_hop, headers=BINARY), 409, "conflict")
    good = parts_of(hop, receiver, [message], second)
    problem(client.put(part_path(receiver, 1), content=good, headers=BINARY), 409, "conflict")
    uneven = parts_of(hop, receiver, [message + b"x"], second)
    problem(client.put(path, content=uneven, headers=BINARY), 400, "malformed-request")
    problem(client.put(path, content=b"x", headers=BINARY), 400, "malformed-request")
    json_headers = {"content-type": "application/json"}
    problem(client.put(path, content=good, headers=json_headers), 415, "unsupported-media")
    assert hop.store.find_round(receiver.notice.fingerprint, 0).state == BatchState.OPEN


def test_no_log_and_no_file_names_an_address(tmp_path, caplog):
    with one_hop(tmp_path / "hop") as (hop, receiver), served_hop(hop) as client:
        caplog.set_level("DEBUG", "sottovoce")
        _, sealed = people(receiver, USERS)
        client.post(messages_path(receiver), json=upload_body(sealed))
        hop.advance()
        on_disk = b"".join(
            path.read_bytes() for path in (tmp_path / "hop").rglob("*") if path.is_file()
        )
    for secret in (b"testclient", *(message[:32] for message in sealed)):
        assert secret not in on_disk
        assert secret.decode("latin-1") not in caplog.text
    assert b64decode(upload_body(sealed)["reports"][0]) == sealed[0]


def test_the_application_is_one_per_shuffler(hop):
    assert create_hop(hop) is not create_hop(hop)
