"""Sorting in runs gives what sorting at once gives."""

import numpy as np
import pyarrow
import pytest

from sottovoce.engine import sorting


def reports(count, members=5, tied=True):
    dice = np.random.default_rng(count)
    ids = dice.integers(0, 256, (count, 16), dtype=np.uint8)
    if tied:
        ids[::7, 8:] = 0  # ids that end with zeros, that begin alike, and equal ones
        ids[::13, :8] = ids[0, :8]
        ids[::11] = ids[0]
    return pyarrow.table(
        {
            "id": pyarrow.array([bytes(row) for row in ids], pyarrow.binary(16)),
            "member": pyarrow.array(dice.integers(0, members, count).astype(np.uint32)),
            "slot": pyarrow.array(dice.integers(0, 2, count).astype(np.uint16)),
            "public": pyarrow.array([b"x" * (number % 9) for number in range(count)]),
        }
    )


def keys(table):
    columns = [table[name].to_pylist() for name in ("member", "slot", "id")]
    return list(zip(*columns, strict=True))


def pieces(table, size):
    return [table.slice(start, size) for start in range(0, len(table), size)]


@pytest.mark.parametrize("batch_bytes", [300, 1 << 20])
@pytest.mark.parametrize("members", [1, 5])
@pytest.mark.parametrize("tied", [False, True])
def test_runs_are_merged_in_order(monkeypatch, tmp_path, batch_bytes, members, tied):
    monkeypatch.setattr(sorting, "BATCH_BYTES", batch_bytes)
    table = reports(1_000, members, tied)
    at_once = pyarrow.concat_tables(sorting.sort(pieces(table, 90), tmp_path, 1 << 30))
    merged = list(sorting.sort(pieces(table, 90), tmp_path, 5_000))
    assert len(merged) > 1
    assert keys(at_once) == sorted(keys(table)) == keys(pyarrow.concat_tables(merged))
    lines = [tuple(row.values()) for row in table.to_pylist()]
    assert sorted(lines) == sorted(
        tuple(row.values()) for row in pyarrow.concat_tables(merged).to_pylist()
    )
    assert not list(tmp_path.iterdir())


def test_nothing_sorted_is_nothing(tmp_path):
    assert list(sorting.sort([], tmp_path, 100)) == []


@pytest.mark.parametrize("tied", [False, True])
def test_a_table_by_ids_or_by_addresses(tied):
    table = reports(300, tied=tied)
    assert sorting.by_id(table)["id"].to_pylist() == sorted(table["id"].to_pylist())
    ordered = sorting.by_address(table)
    addresses = list(zip(ordered["member"].to_pylist(), ordered["slot"].to_pylist(), strict=True))
    assert addresses == sorted(addresses)
    chosen = [row["id"] for row in table.to_pylist() if (row["member"], row["slot"]) == (3, 1)]
    moved = [row["id"] for row in ordered.to_pylist() if (row["member"], row["slot"]) == (3, 1)]
    assert moved == chosen, "at one address nothing moves"
    assert sorting.by_address(ordered) is ordered
