"""``sottovoce shuffle``: key, add, status, release and abandon."""

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from shuffler.hops import USERS, Clock, open_hop, people, shuffled_task
from shuffler.receiver import Receiver, text_of
from sottovoce.cli import shuffle
from sottovoce.cli.main import commands
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.shuffler.store.base import BatchState, SealedOffer


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path, receiver):
    """A folder with a key, and a task that names it at the collector."""
    key = make_signing_key(tmp_path / "hop")
    hops = [("https://mix-a.example.org", key.public_key)]
    receiver.publish(shuffled_task(hops, receiver.key, collection=None))
    return tmp_path / "hop"


def run(*words, answer=None):
    return CliRunner().invoke(commands, ["shuffle", *map(str, words)], input=answer)


@contextmanager
def at_work(folder):
    hop = open_hop(folder, Clock())
    try:
        yield hop
    finally:
        hop.store.close()


def add(folder, receiver, *words, **rest):
    return run("add", f"{receiver.url}/v1/tasks/count", "--data", folder, *words, **rest)


def test_the_key_is_printed_and_stays(tmp_path):
    first = run("key", "--data", tmp_path / "new")
    assert first.exit_code == 0
    assert len(first.output.strip()) == 43
    again = run("key", "--data", tmp_path / "new", "--json")
    assert json.loads(again.output)["key"] == first.output.strip()
    assert shuffle.command.name == "shuffle"


def test_a_task_is_read_before_it_is_added(folder, receiver):
    refused = add(folder, receiver, answer="n\n")
    assert refused.exit_code == 1
    assert "against everybody" in refused.output
    assert json.loads(run("status", "--data", folder, "--json").output)["tasks"] == []
    added = add(folder, receiver, answer="y\n")
    assert added.exit_code == 0, added.output
    assert text_of(receiver.notice.fingerprint) in added.output
    again = json.loads(add(folder, receiver, "--json").output)
    assert (again["name"], again["new"]) == ("count", False)


def test_a_task_of_other_hops_is_refused(tmp_path, folder, receiver):
    make_signing_key(tmp_path / "other")
    refused = add(tmp_path / "other", receiver, "--yes")
    assert refused.exit_code != 0
    assert "names other hops" in refused.output


def test_a_round_is_released_and_abandoned_by_hand(folder, receiver):
    add(folder, receiver, "--yes")
    name = text_of(receiver.notice.fingerprint)
    with at_work(folder) as hop:
        hop.advance()
        early = run("release", name, "0", "--data", folder)
        assert early.exit_code != 0
        assert "fewer messages" in early.output
        offer = SealedOffer(receiver.notice.fingerprint, 0, people(receiver, USERS)[1])
        hop.store.take([offer])
        assert run("release", name, "0", "--data", folder).exit_code == 0
        hop.advance()
        assert len(receiver.opened()) == USERS
        late = run("abandon", name, "0", "--data", folder, "--yes")
        assert "delivered already" in late.output
        shown = run("status", "--data", folder).output
        assert "erased" in shown
        assert "against everybody" in shown


def test_an_abandoned_round_is_erased(folder, receiver):
    add(folder, receiver, "--yes")
    name = text_of(receiver.notice.fingerprint)
    with at_work(folder) as hop:
        hop.advance()
        assert run("abandon", name, "0", "--data", folder, answer="n\n").exit_code == 1
        done = run("abandon", name, "0", "--data", folder, answer="y\n")
        assert done.exit_code == 0, done.output
        record = hop.store.find_round(receiver.notice.fingerprint, 0)
        assert record.state == BatchState.ABANDONED
