"""Mixing a shuffled batch on a real cluster: everything is there once, duplicates and what does not
open are not.
"""

import hashlib
import os
from collections import Counter

import pytest

from sottovoce.shuffler.opening import LayerKey
from sottovoce.shuffler.spark import mix_on_spark
from sottovoce.wire.round_keys import new_round_key
from sottovoce.wire.seal import SealContext, seal

pyarrow = pytest.importorskip("pyarrow", reason="the spark extra is not installed")
pyarrow_parquet = pytest.importorskip("pyarrow.parquet")

CONTEXT = SealContext(b"d" * 32, 0, 0, 20)
COUNT = 300


@pytest.mark.papers
@pytest.mark.spark
def test_a_cluster_mixes_an_inbox_of_several_files(session, tmp_path):
    keys = new_round_key()
    layer = LayerKey(keys.private_key, CONTEXT, 0)
    contents = [number.to_bytes(20) for number in range(COUNT)]
    sealed = [seal(content, [keys.public_key], CONTEXT) for content in contents]
    broken, fakes = os.urandom(68), [os.urandom(20) for _ in range(7)]
    for number in range(2):
        piece = pyarrow.table({"sealed": [*sealed[number::2], sealed[0], broken]})
        pyarrow_parquet.write_table(piece, tmp_path / f"inbox-{number}.parquet")
    paths = sorted(tmp_path.glob("*.parquet"))
    result = mix_on_spark(session, paths, layer, fakes, tmp_path / "batch")
    again = mix_on_spark(session, paths, layer, (), tmp_path / "again")
    data = (tmp_path / "batch").read_bytes()
    mixed = [data[start : start + 20] for start in range(0, len(data), 20)]
    assert Counter(mixed) == Counter(contents + fakes)
    assert (result.batch.messages, result.batch.dropped) == (COUNT + 7, 1)
    assert result.batch.hash == hashlib.sha256(data).digest()
    assert result.unreadable == (hashlib.sha256(broken).digest(),)
    other = (tmp_path / "again").read_bytes()
    orders = [[message for message in mixed if message in set(contents)]]
    orders.append([other[start : start + 20] for start in range(0, len(other), 20)])
    assert sorted(orders[0]) == sorted(orders[1]) == contents
    assert orders[0] != orders[1]
    assert contents not in orders
    assert again.batch.messages == COUNT
