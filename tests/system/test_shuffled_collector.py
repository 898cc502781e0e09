"""A real collector behind hops that are played by the test: keys, tokens, canaries, batch, answer.

The hops seal, mix and deliver with the functions of the wire; everything goes over HTTP.
"""

import json
import secrets
import signal
import subprocess
import sys
import threading
import time
from base64 import b64decode, urlsafe_b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from collector.people import Clock, text
from collector.running import client, running, until
from collector.sending import held
from collector.shuffled import (
    Chain,
    base64url,
    envelopes_of,
    fingerprint_of,
    plain_message,
    shuffled,
    shuffled_for,
)
from sottovoce.cli.main import commands
from sottovoce.collector import access, batches, key_files
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.base64url import text_of
from sottovoce.engine import memory
from sottovoce.wire import seal, tokens
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import read_signed_keys, verify_keys
from sottovoce.wire.shuffled_message import seal_context

VALUES = [3, 3, 5, 8, 13, 13, 13, 21, 34, 55]
CANARIES = 6
OCTETS = {"content-type": "application/octet-stream"}


@pytest.fixture
def door():
    """The door of the first hop: it takes messages and remembers them."""

    class Door(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            taken = [b64decode(message) for message in body["reports"]]
            self.server.inbox += taken
            receipt = {"accepted": len(taken), "duplicates": 0, "refused": []}
            content = json.dumps(receipt).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        server.inbox = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def issued(folder):
    """Tokens of an operator, an analyst, and of everybody who takes part."""
    store = SqliteStore(folder / "collector.db")
    now = int(time.time())
    made = {
        scope: access.issue(store, scope, now, batch=access.TokenBatch(count))
        for scope, count in (("operator", 1), ("analyst", 1), ("enrolment", len(VALUES)))
    }
    store.close()
    return made


def bearing(token):
    return {"authorization": f"Bearer {token}"}


def from_base64url(written):
    return urlsafe_b64decode(written + "=" * (-len(written) % 4))


def push_keys(people, chain, task):
    address = f"/v1/tasks/{task.name}/rounds/0"
    for signed in chain.statements(task):
        body = signed.to_dict()
        hop = body.pop("hop")
        answer = people.put(f"{address}/keys/{hop}", json=body)
        assert answer.status_code == 201, answer.text
    listed = people.get(f"{address}/key-set").json()["keys"]
    public_keys = [key.public_key for key in read_signed_keys(listed)]
    for hop, signature in enumerate(chain.set_signatures(task, task.opening, public_keys)):
        body = {"signature": base64url(signature)}
        answer = people.put(f"{address}/key-set/{hop}", json=body)
        assert answer.status_code == 201, answer.text


def verified_keys(people, task):
    """The keys as a device fetches and checks them."""
    answer = people.get(f"/v1/tasks/{task.name}/rounds/0/keys")
    assert answer.status_code == 200, answer.text
    signing_keys = task.shuffle.signing_keys
    listed = read_signed_keys(answer.json()["keys"])
    keys = verify_keys(fingerprint_of(task), 0, listed, signing_keys)
    signatures = [from_base64url(signature) for signature in answer.json()["set_signatures"]]
    KeySet.of(fingerprint_of(task), task.opening, keys).verify_all(signatures, signing_keys[:-1])
    return keys


def bought_token(people, task, key, enrolment_token):
    pending = tokens.blind(key, fingerprint_of(task))
    body = {"token": enrolment_token, "blinded": base64url(pending.blinded)}
    answer = people.post(f"/v1/tasks/{task.name}/tokens", json=body)
    assert answer.status_code == 200, answer.text
    return tokens.finalize(pending, from_base64url(answer.json()["blind_signature"]))


def test_a_shuffled_collection_from_keys_to_answer(tmp_path, door):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    chain = Chain.of(2, f"http://127.0.0.1:{door.server_port}")
    issuer = key_files.make_issuer(folder).public_key
    task = shuffled(
        key=key_files.public_signing_key(folder),
        hops=chain.hops,
        users=len(VALUES),
        issuer=text_of(issuer.data),
    )
    made = issued(folder)
    with running(folder, "--rate", "0") as server, client(server) as people:
        headers = bearing(made["operator"][0])
        published = people.post("/v1/tasks", content=text(task), headers=headers)
        assert published.status_code == 201, published.text
        keys_address = f"/v1/tasks/{task.name}/rounds/0/keys"
        assert people.get(keys_address).json()["code"] == "not-ready"
        push_keys(people, chain, task)
        keys = verified_keys(people, task)
        context = seal_context(task, task.opening, fingerprint_of(task))
        reports = []
        for value, enrolment_token in zip(VALUES, made["enrolment"], strict=True):
            token = bought_token(people, task, issuer, enrolment_token)
            reports.append(envelopes_of(task, value))
            message = plain_message(task, reports[-1], token.to_bytes())
            door.inbox.append(seal.seal(message, keys, context))
        direct = people.post(
            f"/v1/tasks/{task.name}/reports", json={"reports": ["AAAA"], "tokens": []}
        )
        assert direct.json()["refused"][0]["code"] == "not-shuffled"

        arguments = ["task", "canaries", task.name, "--data", folder, "--count", CANARIES, "--json"]
        sent = CliRunner().invoke(commands, [str(argument) for argument in arguments])
        assert sent.exit_code == 0, sent.output
        assert json.loads(sent.stdout)["sent"] == CANARIES
        assert len(door.inbox) == len(VALUES) + CANARIES
        assert len({len(message) for message in door.inbox}) == 1

        forged = plain_message(task, envelopes_of(task, 99), secrets.token_bytes(288))
        door.inbox.append(seal.seal(forged, keys, context))
        mixed = chain.mix(task, door.inbox)
        for number, body in chain.parts(task, mixed, in_part=5).items():
            path = f"/v1/tasks/{task.name}/rounds/0/batch/{number}"
            receipt = people.put(path, content=body, headers=OCTETS)
            assert receipt.status_code == 201, receipt.text
        assert receipt.json()["complete"]
        until(lambda: people.get(f"/v1/tasks/{task.name}/round").json()["state"] == "finished")

        analyst = bearing(made["analyst"][0])
        answer = people.get(f"/v1/tasks/{task.name}/answer", headers=analyst).json()
        expected = memory.answer(task, reports).to_dict()
        assert [row["estimate"] for row in answer["rows"]] == [
            row["estimate"] for row in expected["rows"]
        ]
        assert [row["low"] for row in answer["rows"]] == [row["low"] for row in expected["rows"]]
        assert answer["users"] == len(VALUES)
        guarantee = answer["guarantee"]
        assert (guarantee["users"], guarantee["fakes"], guarantee["hops"]) == (len(VALUES), 0, 2)
        assert 0 < guarantee["central"] <= guarantee["local"] == 1.0

        status = people.get(f"/v1/tasks/{task.name}/status", headers=analyst).json()
        line = status["rounds"][0]["shuffle"]
        assert (line["canaries"], line["canaries_found"]) == (CANARIES, CANARIES)
        assert status["refused"] == {"not-shuffled": 1, "token-unknown": 1}
        metrics = people.get("/metrics").text
        assert f'sottovoce_canaries_found{{round="0",task="{task.name}"}} {CANARIES}.0' in metrics
        assert server.stop() == 0
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert not any(message in kept for message in mixed), "no sealed message is left"


def delivered(folder, chain, values=VALUES):
    """A collector's folder with a complete batch that nobody has opened."""
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, Clock())
    task = shuffled_for(collector, chain)
    collector.create(text(task), toml=False)
    chain.push(collector, task)
    for number, body in chain.batch(collector, task, values).items():
        batches.receive(store, collector.find(task.name), (0, number), body)
    store.close()
    return task


def assert_counted_once(folder, task, values=VALUES):
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, Clock())
    collector.advance()
    digest = collector.find(task.name).digest
    counted = {int(value): int(count) for value, count in zip(*_counts(values), strict=True)}
    assert held(collector, task.name) == counted
    batch = store.batch(digest, 0)
    assert (batch.messages, batch.duplicates, batch.unopened) == (len(values), 0, 0)
    assert store.refusals(digest) == {}
    assert store.private_round_key(digest, 0) is None
    assert collector.answer(task.name).users == len(values)
    store.close()


def _counts(values):
    return np.unique(values, return_counts=True)


# Within a transaction, or between two files: ``collector/test_opening.py`` dies around every call
# of the store in one process, and ``make soak`` kills whole chains at all points.
WITHIN_STEPS = (
    "part: before it commits",
    "seal: log has no name yet",
    "seal: log written",
    "seal: before it commits",
)


@pytest.mark.parametrize("point", WITHIN_STEPS)
def test_a_worker_that_is_killed_within_a_step_loses_and_doubles_nothing(tmp_path, point):
    task = delivered(tmp_path, Chain.of(1))
    count = "2" if point.startswith("part") else "1"
    command = [sys.executable, "-m", "system.shuffled_child", str(tmp_path), point, count]
    child = subprocess.run(command, cwd=Path(__file__).parents[1], check=False)
    assert child.returncode == -signal.SIGKILL
    assert_counted_once(tmp_path, task)


def test_a_server_that_is_killed_goes_on_with_the_batch(tmp_path):
    values = VALUES * 30
    task = delivered(tmp_path, Chain.of(1), values)
    with running(tmp_path) as server:
        time.sleep(0.3)
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    with running(tmp_path) as server, client(server) as people:
        until(lambda: people.get(f"/v1/tasks/{task.name}/round").json()["state"] == "finished")
        assert server.stop() == 0
    assert_counted_once(tmp_path, task, values)
