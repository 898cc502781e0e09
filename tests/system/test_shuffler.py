"""Two real hop processes between devices and a collector's stand-in."""

import json
import re
from collections import Counter

import pytest
from click.testing import CliRunner

from shuffler.hops import USERS
from sottovoce.cli.main import commands
from sottovoce.wire import codec
from sottovoce.wire.seal import LayerOpener
from sottovoce.wire.shuffled_message import seal_context
from system.chain_of_hops import DEVICE_ADDRESS, HopChain, sent_path
from system.traces import database_values, has_row_numbers, traces

FAKES = 3


@pytest.fixture
def chain(tmp_path):
    made = HopChain(tmp_path, fakes=FAKES)
    for hop in made.hops:
        hop.start(sent=str(sent_path(hop)))
    yield made
    made.close()


def test_a_batch_passes_two_hops_whole_and_leaves_nothing_behind(chain):
    inner, sealed = chain.people(USERS + 2)
    assert chain.send(sealed[:5]) == {"accepted": 5, "duplicates": 0, "refused": []}
    assert chain.states() == ["open", "open"]
    assert not chain.receiver.sent
    chain.hops[0].kill()  # what was acknowledged survives
    chain.hops[0].start(sent=str(sent_path(chain.hops[0])))
    keys = private_keys(chain)
    assert chain.send(sealed[:USERS]) == {"accepted": 3, "duplicates": 5, "refused": []}
    chain.wait_until_erased()
    opened = Counter(chain.receiver.opened())
    assert not Counter(inner[:USERS]) - opened
    assert opened.total() == USERS + 2 * FAKES
    assert len(chain.receiver.batch_hashes()) == 1
    folder = str(chain.hops[1].folder)
    said = CliRunner().invoke(commands, ["shuffle", "status", "--data", folder, "--json"])
    status = json.loads(said.output)
    [line] = status["tasks"][0]["rounds"]
    assert (line["batch"], line["privacy"]["users"]) == (USERS + 2 * FAKES, USERS)
    recorded = [*sealed, *chain.sent_messages(0), *chain.sent_messages(1)]
    assert len(recorded) == (USERS + 2) + (USERS + FAKES) + (USERS + 2 * FAKES)
    for hop in chain.hops:
        database = hop.folder / "shuffler.db"
        log = hop.log.read_bytes()
        assert b"127.0.0.1" not in log
        written = hop.files() + log
        assert traces(database_values(database), written, recorded, DEVICE_ADDRESS) == []
        assert not has_row_numbers(database, "seen")
        lines = [json.loads(line) for line in log.splitlines()]
        assert lines
        assert all(re.fullmatch(r".{10}T\d\d:\d\d\+0000", line["time"]) for line in lines)
        assert not any(line.get("route") == "upload" for line in lines)
    assert_keys_are_gone(chain, keys, recorded)


def private_keys(chain):
    """Return the private keys of a round, as long as it is open."""
    keys = []
    for hop in chain.hops:
        store = hop.store()
        keys.append(store.private_key(chain.fingerprint, 0))
        store.close()
    return keys


def assert_keys_are_gone(chain, keys, recorded):
    """Whoever recorded the messages could open them with the keys, and finds these nowhere."""
    notice = codec.publish(chain.task)
    context = seal_context(notice, notice.opening, chain.fingerprint)
    for number, key in enumerate(keys):
        length = chain.sealed_bytes(number)
        message = next(message for message in recorded if len(message) == length)
        assert LayerOpener(key, context, number).open(message)
        assert not any(key in hop.files() for hop in chain.hops)
    assert private_keys(chain) == [None, None]
