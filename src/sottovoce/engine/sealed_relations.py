"""SQL queries over a sealed log that stays on the disk.

Reports are scored part by part into tables of DuckDB, which keeps them in temporary files where its
memory ends.  A query that joins rounds larger than memory adds numbers in another order than
``engine/duckdb.py``: its answers may differ in their last digits.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sottovoce.engine import tables
from sottovoce.engine.duckdb import PEOPLE, everybody_once, public_columns
from sottovoce.engine.files import SPILL_PREFIX, folder_of
from sottovoce.engine.parquet import SealedLog
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.tasks.collected import Columns, Scored
from sottovoce.wire.envelope import ID_BYTES

_ENGINE_SHARE = 2  # the part of the memory that DuckDB may use
_PERSON = "person_high::uhugeint * 18446744073709551616::uhugeint + person_low as person"
_OTHER_THAN_ONCE = (
    "select 1 from owners group by person"
    " having count(*) <> {slots} or count(distinct slot) <> {slots} limit 1"
)


@dataclass(frozen=True, eq=False)
class SealedRelations:
    """The reports of one round as relations over people."""

    log: SealedLog
    memory: int

    @cached_property
    def one_report_each(self) -> bool:
        """Return whether everybody who answered has exactly one report in every slot."""
        slots = len({address.slot for address in self.log.counts})
        with self._engine() as engine:
            self._fill(engine, "owners", map(_owners, self._tables(range(slots))))
            odd = engine.execute(_OTHER_THAN_ONCE.format(slots=slots)).fetchall()
        return not odd

    def select(
        self, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any
    ) -> Columns:
        """Return the columns of a statement over scored reports and public columns."""
        once = self.one_report_each
        with self._engine() as engine:
            for name, scoring in scored.items():
                self._fill(engine, name, self._scores(scoring))
            self._fill(engine, "seen", map(_seen, self._tables([0])))
            people = "seen" if once else everybody_once("seen")
            view = f"select person{public_columns(public)} from {people}"
            engine.execute(f"create temp view {PEOPLE} as {view}")
            result: Columns = engine.execute(statement.sql(dialect="duckdb")).fetchnumpy()
        return result

    def _tables(self, slots: Any) -> Iterator[Any]:
        wanted = [address for address in self.log.counts if address.slot in slots]
        for table in self.log.tables(wanted):
            if "subject" not in table.column_names:
                raise ParameterError(
                    "SQL queries need reports that carry the subject of their person"
                )
            yield table

    def _scores(self, scored: Scored) -> Iterator[Any]:
        """Yield the person and the scores of every report in some slots."""
        import pyarrow

        score = tables.Scores(self.log.asked, scored, ("subject",))
        rows_at_once = max(1, tables.MAX_SCORES_AT_ONCE // max(scored.width, 1))
        for table in self._tables(scored.slots):
            for batch in table.to_batches(max_chunksize=rows_at_once):
                for scores in score([batch]):
                    columns = pyarrow.Table.from_batches([scores])
                    named = {name: columns[name] for name in columns.column_names[1:]}
                    yield pyarrow.table({**_person(columns), **named})

    def _fill(self, engine: Any, name: str, parts: Iterator[Any]) -> None:
        """Make a table of the engine from parts, one after another."""
        first = True
        for part in parts:
            engine.register("part", part)
            others = [column for column in part.column_names if not column.startswith("person_")]
            select = f"select {', '.join([_PERSON, *others])} from part"
            engine.execute(
                f"create temp table {name} as {select}" if first else f"insert into {name} {select}"
            )
            engine.unregister("part")
            first = False

    @contextmanager
    def _engine(self) -> Iterator[Any]:
        import duckdb

        folder = folder_of(self.log.path)
        with TemporaryDirectory(prefix=SPILL_PREFIX, dir=folder) as spill:
            # One thread: sums are added in one order, and have the same digits again.
            config = {
                "threads": 1,
                "memory_limit": f"{self.memory // _ENGINE_SHARE >> 20}MiB",
                "temp_directory": spill,
            }
            try:
                with duckdb.connect(":memory:", config=config) as engine:
                    yield engine
            except duckdb.Error as error:
                raise UnavailableError("the engine could not answer this query") from error


def _person(table: Any) -> dict[str, Any]:
    """Return the subject of every report as two numbers, which the engine joins fast."""
    import pyarrow

    subjects = np.ascontiguousarray(tables.rows(table["subject"], ID_BYTES))
    halves = subjects.view("<u8").reshape(-1, 2)
    return {
        "person_high": pyarrow.array(np.ascontiguousarray(halves[:, 0])),
        "person_low": pyarrow.array(np.ascontiguousarray(halves[:, 1])),
    }


def _owners(table: Any) -> Any:
    import pyarrow

    return pyarrow.table({**_person(table), "slot": table["slot"]})


def _seen(table: Any) -> Any:
    import pyarrow

    public = {"public": table["public"]} if "public" in table.column_names else {}
    return pyarrow.table({**_person(table), **public})
