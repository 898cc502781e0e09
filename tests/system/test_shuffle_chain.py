"""The shuffle model whole: real devices, two real hops and a real collector, by their commands.

Nothing is played by the test: operators use the command line, devices the public class.
"""

import json
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pytest

import sottovoce as sv
from collector.running import running, until
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.errors import StateError

pytest.importorskip("cryptography", reason="sealing needs the extra `sealed`")

PEOPLE = 40
FAKES = 30
TASK = """
name = "browser"
epsilon = 4.0

[plan]
kind = "histogram"
domain = ["chrome", "firefox", "safari", "other"]

[shuffle]
hops = [{hops}]
users = {people}
fakes = {fakes}
delta = "1e-6"

[collection]
quota = {people}
minimum = {people}
grace = 0
issuer = "{issuer}"
"""


def command(*words):
    """What a command of the operator prints."""
    line = [sys.executable, "-m", "sottovoce", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as door:
        return door.getsockname()[1]


@contextmanager
def hop(folder, port):
    """A hop in a process of its own."""
    words = ("shuffle", "serve", "--data", folder, "--port", port, "--rate", 0, "--json")
    line = [sys.executable, "-m", "sottovoce", *map(str, words)]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(line, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert json.loads(process.stdout.readline())["url"]
            yield
        finally:
            process.kill()


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The answer of a task whose messages passed two hops, and the addresses of everybody."""
    place = tmp_path_factory.mktemp("chain")
    ports = [free_port(), free_port()]
    folders = [place / "a", place / "b"]
    keys = [command("shuffle", "key", "--data", folder).strip() for folder in folders]
    hops = [f'"http://127.0.0.1:{port}#{key}"' for port, key in zip(ports, keys, strict=True)]
    data = place / "collector"
    issuer = command("token", "issuer", "--data", data).strip()
    written = place / "browser.toml"
    written.write_text(TASK.format(hops=", ".join(hops), people=PEOPLE, fakes=FAKES, issuer=issuer))
    said = command("task", "create", written, "--data", data)
    enrolment = command("token", "create", "enrolment", "--count", PEOPLE, "--data", data, "--json")
    with ExitStack() as stack:
        server = stack.enter_context(running(data, "--rate", "0"))
        for folder, port in zip(folders, ports, strict=True):
            stack.enter_context(hop(folder, port))
            command("shuffle", "add", f"{server.url}/v1/tasks/browser", "--data", folder, "--yes")
        answer(server.url, json.loads(enrolment)["tokens"])
        until(lambda: "finished" in command("task", "list", "--data", data, "--json"))
        yield said, json.loads(command("answer", "browser", "--data", data, "--json"))


def answer(url, tokens):
    """Let one device a person answer: most of them chrome."""
    first = sv.Device(url, sv.Ledger(":memory:"), token=tokens[0], delay=0.0)
    until(lambda: is_open(first))
    first.flush()
    for number, token in enumerate(tokens[1:]):
        device = sv.Device(url, sv.Ledger(":memory:"), token=token, delay=0.0)
        device.answer("browser", "firefox" if number % 4 == 0 else "chrome")
        assert device.flush().sent == 1


def is_open(device):
    """Return whether a device could answer: the keys of the round are there."""
    try:
        device.answer("browser", "chrome")
    except StateError:
        return False
    return True


def test_people_are_counted_without_the_fakes(collected):
    _, outcome = collected
    assert outcome["users"] == PEOPLE
    rows = {row["value"]: row for row in outcome["rows"]}
    assert sum(row["estimate"] for row in rows.values()) == pytest.approx(PEOPLE)
    for value, held in (("chrome", 30), ("firefox", 10), ("safari", 0), ("other", 0)):
        error = rows[value]["error"]
        assert abs(rows[value]["estimate"] - held) < 5 * error, value


def test_the_answer_states_all_three_epsilons_at_the_number_of_people(collected):
    _, outcome = collected
    task = sv.Task("x", sv.Histogram(["chrome", "firefox", "safari", "other"]), epsilon=4.0)
    expected = ShuffledGuarantee.of(task.opening.ask.blanket, PEOPLE, FAKES, 1e-6)
    assert outcome["guarantee"] == {
        **expected.to_dict(),
        "users": PEOPLE,
        "hops": 2,
        "fakes": FAKES,
    }


def test_the_operator_sees_the_promise_before_anybody_is_asked(collected):
    said, _ = collected
    assert "Against the collector alone: epsilon 3.28, except with probability 1e-06." in said
    assert "Against everybody, the hops included: epsilon 4." in said
    assert "more than once" not in said, "blind tokens allow one report each"
