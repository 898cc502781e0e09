"""Two real hop processes between devices and a collector's stand-in."""

import json
from collections import Counter

import pytest
from click.testing import CliRunner

from shuffler.hops import USERS
from sottovoce.cli.main import commands
from system.chain_of_hops import HopChain

FAKES = 3


@pytest.fixture
def chain(tmp_path):
    made = HopChain(tmp_path, fakes=FAKES)
    made.start()
    yield made
    made.close()


def test_a_batch_passes_two_hops_whole_and_leaves_nothing_behind(chain):
    inner, sealed = chain.people(USERS + 2)
    assert chain.send(sealed[:5]) == {"accepted": 5, "duplicates": 0, "refused": []}
    assert chain.states() == ["open", "open"]
    assert not chain.receiver.sent
    chain.hops[0].kill()  # what was acknowledged survives
    chain.hops[0].start()
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
    for hop in chain.hops:
        left = hop.files()
        assert b"127.0.0.1" not in hop.log.read_bytes()
        for message in sealed:
            assert message[:32] not in left
            assert message[-32:] not in left
        for message in chain.receiver.batches[0]:
            assert message[:32] not in left
