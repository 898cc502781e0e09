"""What is done with a table of a log's reports, without Spark."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.engine import parquet, tables
from sottovoce.errors import MismatchError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task

pyarrow = pytest.importorskip("pyarrow", reason="the spark extra is not installed")
pyarrow_parquet = pytest.importorskip("pyarrow.parquet")


def changed(table, name, entries, kind=None):
    return table.set_column(table.column_names.index(name), name, pyarrow.array(entries, kind))


def test_damaged_parts_are_refused_where_they_are_read(tmp_path):
    task = Task("histogram", sv.Histogram(range(40)), 3.0)
    path, asked = tmp_path / "round.parquet", task.opening
    log = parquet.write(path, crowd.messages(task, np.arange(40), rng=SeededRng(8)), asked)
    table = pyarrow_parquet.read_table(path)
    ((_, chosen, reports),) = tables.pieces(table.slice(3, 20), asked)
    assert np.array_equal(reports, parquet.read(path, asked, log.checksum)[Address()].reports[3:23])
    assert chosen.tolist() == list(range(20))
    payloads = (
        [bytes(asked.width + 1)] * 40,
        [None] * 40,
        [b""] * 40,
        [b"\xff" * asked.width] * 40,
    )
    for bad in (
        *(changed(table, "payload", entries) for entries in payloads),
        changed(table, "slot", [1] * 40),
    ):
        with pytest.raises(MismatchError):
            list(tables.pieces(bad, asked))


def test_small_batches_are_put_together_and_empty_ones_left_out():
    batches = [
        pyarrow.RecordBatch.from_pydict({"n": list(range(size))}) for size in (3, 0, 2, 4, 0)
    ]
    assert [len(table) for table in tables.tables(batches)] == [9]
    assert [len(table) for table in tables.tables(batches, 5)] == [5, 4]
    assert list(tables.tables(batches[1:2])) == []
