"""A small crowd of devices through real hops and a real collector: the answer of the same reports.

``scripts/shuffle_chain.py`` does the same with 100,000 people.
"""

import pytest

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
