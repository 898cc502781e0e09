"""A real collector whose tokens fix seeds, and devices that reach it without a shuffler."""

import json
import subprocess
import sys

import numpy as np
import pytest

from collector.running import running
from sottovoce.client.client import Client
from sottovoce.client.device import Device
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.transport import CollectorApi
from sottovoce.core.rng import SystemRng
from sottovoce.wire import codec
from sottovoce.wire.token_message import TokenMessage

PEOPLE = 12
TASK = """
name = "height"
epsilon = 1.0
[plan]
kind = "histogram"
domain = {{low = 0, high = 255}}
[collection]
minimum = 2
issuer = "{issuer}"
defence = "seeds"
"""


def sottovoce(*arguments):
    command = [sys.executable, "-m", "sottovoce", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "data"
    issuer = json.loads(sottovoce("token", "issuer", "--data", folder, "--json"))["issuer"]
    file = tmp_path / "height.toml"
    file.write_text(TASK.format(issuer=issuer))
    sottovoce("task", "create", file, "--data", folder)
    enrolled = ["token", "create", "enrolment", "--count", PEOPLE + 1]
    tokens = json.loads(sottovoce(*enrolled, "--data", folder, "--json"))["tokens"]
    return folder, tokens


def forged(device, notice):
    """What a device would send that has a token and chooses its seed."""
    client = Client(notice, device.ledger)
    token = client.blind_token.token()
    message = client.resend()
    mechanism = notice.opening.ask.mechanism
    draw = np.array([token.seed_draw(notice.fingerprint, 0) ^ 1], np.uint64)
    report = mechanism.pack(mechanism.privatize_seeded(np.array([7]), draw, SystemRng()))
    layout = TokenMessage.of(notice.opening, notice.declares, 0)
    data, envelope = layout.split(message)
    return layout.join(data, envelope[:28] + bytes(SystemRng().bytes(16)) + report)


def test_devices_with_tokens_are_counted_and_chosen_seeds_are_not(published, tmp_path):
    folder, tokens = published
    with running(folder) as collector:
        api = CollectorApi(collector.url)
        notice = api.task("height")
        for person, token in enumerate(tokens):
            ledger = DiskLedger(tmp_path / f"ledger{person}")
            device = Device(collector.url, ledger, token=token, delay=0)
            device.answer("height", 100 + person)
            if person == PEOPLE:  # the last one forges its report
                receipt = api.send("height", [forged(device, notice)])
                assert [refusal.code for refusal in receipt.refused] == ["not-asked"]
                assert [refusal.retry for refusal in receipt.refused] == [False]
            sent = device.flush(force=True)
            assert (sent.sent, sent.refused) == (1, 0)
            assert api.send("height", [client_message(device, notice)]).duplicates == 1
    shown = sottovoce("task", "show", "height", "--data", folder)
    assert "nobody can choose it to falsify the result" in shown
    assert "of 10 chosen values it supports 4.2 on average" in shown
    [listed] = json.loads(sottovoce("task", "list", "--data", folder, "--json"))["tasks"]
    assert listed["users"] == PEOPLE + 1


def client_message(device, notice):
    return Client(notice, device.ledger).resend()


def test_the_document_says_what_the_task_file_said(published):
    folder, _ = published
    shown = json.loads(sottovoce("task", "show", "height", "--data", folder, "--json"))
    assert shown["document"]["collection"]["defence"] == "seeds"
    assert shown["statement"]["collector"]["defence"] == "seeds"
    assert codec.notice(shown["document"]).fixes_seeds
