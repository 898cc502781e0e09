"""What an executor does with its part of a batch; engine/spark/test_cluster_mixing.py mixes on a
real cluster.
"""

import hashlib
import os

import pytest

from sottovoce.shuffler.opening import LayerKey
from sottovoce.shuffler.spark import KeyedOpening
from sottovoce.wire.round_keys import new_round_key
from sottovoce.wire.seal import SealContext, seal

pyarrow = pytest.importorskip("pyarrow", reason="the spark extra is not installed")

CONTEXT = SealContext(b"d" * 32, 0, 0, 20)
COUNT = 300


@pytest.fixture(scope="module")
def keys():
    return new_round_key()


@pytest.fixture(scope="module")
def layer(keys):
    return LayerKey(keys.private_key, CONTEXT, 0)


@pytest.fixture(scope="module")
def contents():
    return [number.to_bytes(20) for number in range(COUNT)]


@pytest.fixture(scope="module")
def sealed(keys, contents):
    return [seal(content, [keys.public_key], CONTEXT) for content in contents]


def test_an_executor_opens_its_part_and_draws_a_key_for_each_message(layer, sealed, contents):
    broken = os.urandom(68)
    batch = pyarrow.RecordBatch.from_pydict({"sealed": [*sealed, broken]})
    rows = [row for made in KeyedOpening(layer)([batch]) for row in made.to_pylist()]
    assert [row["content"] for row in rows] == [*contents, None]
    assert rows[-1]["unreadable"] == hashlib.sha256(broken).digest()
    assert {row["unreadable"] for row in rows[:-1]} == {None}
    assert len({(row["high"], row["low"]) for row in rows}) == len(rows)
