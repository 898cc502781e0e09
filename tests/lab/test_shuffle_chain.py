"""A small crowd of devices through real hops and a real collector: the answer of the same reports.

``scripts/shuffle_chain.py`` does the same with 100,000 people.
"""

import pytest

from sottovoce.errors import UnavailableError
from sottovoce.lab.hop_processes import HopPlace
from sottovoce.lab.shuffle_chain import (
    SIZE,
    ChainSettings,
    answer_all,
    is_unshuffled_answer,
    running_chain,
)
from sottovoce.shuffler.store.base import BatchState

pytest.importorskip("cryptography", reason="sealing needs the extra `sealed`")

PEOPLE = 300
PATIENCE = 120.0  # seconds
MEBIBYTE = 1 << 20


def test_the_answer_is_bit_for_bit_that_of_the_same_reports_unshuffled(tmp_path):
    values = [number % SIZE for number in range(PEOPLE)]
    with running_chain(tmp_path, ChainSettings(PEOPLE)) as chain:
        before = [server.cpu_seconds for server in chain.hops]
        reports = answer_all(chain, values, processes=1)
        answer = chain.answer(PATIENCE)
        states = [place.state(chain.task) for place in chain.places]
        after = [server.cpu_seconds for server in chain.hops]
        sizes = [server.peak_bytes for server in chain.hops]
    assert len(set(reports)) == PEOPLE
    assert is_unshuffled_answer(chain.task, reports, answer)
    assert states[0] == BatchState.ERASED
    assert all(later > earlier for later, earlier in zip(after, before, strict=True))
    assert all(20 * MEBIBYTE < size < 400 * MEBIBYTE for size in sizes)
    replaced = [*reports[:-1], reports[0]]
    assert not is_unshuffled_answer(chain.task, replaced, answer), "the check can fail"
    assert not is_unshuffled_answer(chain.task, reports[1:], answer)


def test_a_hop_that_does_not_start_is_said_with_its_log(tmp_path):
    place = HopPlace.new(tmp_path)
    with (
        pytest.raises(UnavailableError, match=r"did not start: see .*hop\.log"),
        place.served("--mix-bytes", "1"),
    ):
        pass
    assert "mix-bytes" in (tmp_path / "hop.log").read_text()
