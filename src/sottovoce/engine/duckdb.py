"""SQL queries on one machine: compiled kernels score reports, DuckDB joins, groups and adds up."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import Floats, Ints, Longs, Values
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.tasks.collected import Columns, Scored
from sottovoce.tasks.question import Address

if TYPE_CHECKING:
    from sottovoce.engine.memory import ReportBatch

PEOPLE = "people"


@dataclass(frozen=True, eq=False)
class ReportsByPerson:
    """The reports of a round with their subjects: equal numbers mean equal subjects."""

    batches: "Mapping[Address, ReportBatch]"
    owners: Mapping[Address, Ints]
    one_report_each: bool  # whether everybody has exactly one report in every slot

    @classmethod
    def of(cls, batches: "Mapping[Address, ReportBatch]") -> "ReportsByPerson":
        """Return the reports of some addresses by person."""
        if any(batch.subjects is None for batch in batches.values()):
            raise ParameterError("SQL queries need reports that carry the subject of their person")
        subjects = [np.asarray(batch.subjects) for batch in batches.values()]
        ends = np.cumsum([len(part) for part in subjects])[:-1]
        joined = np.concatenate(subjects)
        numbers = joined.astype(np.int64) if joined.ndim == 1 else _numbered(joined)
        owners = dict(zip(batches, np.split(numbers, ends), strict=True))
        return cls(batches, owners, _one_report_each(owners))

    def in_slots(self, slots: Sequence[int]) -> list[Address]:
        """Return the addresses of some slots."""
        return [address for address in self.batches if address.slot in slots]

    def select(
        self, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any
    ) -> Columns:
        """Return the columns of a statement over scored reports and public columns."""
        import duckdb

        scores = {name: _scores(self, scoring) for name, scoring in scored.items()}
        people = "seen" if self.one_report_each else everybody_once("seen")
        try:
            with _engine(os.getpid()).cursor() as connection:
                for name, columns in scores.items():
                    connection.register(name, columns)
                connection.register("seen", _seen(self))
                view = f"select person{public_columns(public)} from {people}"
                connection.execute(f"create temp view {PEOPLE} as {view}")
                result: Columns = connection.execute(statement.sql(dialect="duckdb")).fetchnumpy()
        except duckdb.Error as error:
            _engine.cache_clear()  # it may be of no use any more
            raise UnavailableError("the engine could not answer this query") from error
        return result


@cache
def _engine(process: int) -> Any:
    """Return the engine of this process, empty: to start it takes longer than most queries.

    A connection to it is a cursor; what it registers and views goes away with it.
    """
    import duckdb

    # One thread: sums are added in one order, and have the same digits again.
    return duckdb.connect(":memory:", config={"threads": 1})


def _scores(persons: ReportsByPerson, scored: Scored) -> dict[str, Values]:
    """Return the scores of all reports in some slots as columns, and whose they are."""
    groups = scored.together(persons.in_slots(scored.slots))
    owners = [persons.owners[address] for group in groups for address in group]
    counts = [sum(len(persons.owners[address]) for address in group) for group in groups]
    ends = np.cumsum(counts).tolist()
    columns: Floats = np.empty((scored.width, ends[-1] if ends else 0))

    def fill(indices: range) -> None:
        for index in indices:
            start = ends[index] - counts[index]
            reports = [persons.batches[address].reports for address in groups[index]]
            columns[:, start : ends[index]] = scored.scores(groups[index], reports).T

    # Thread i takes groups i, i + n, ...: neighbouring groups have about equally many cells.
    cores = _cores()
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(fill, [range(first, len(groups), cores) for first in range(cores)]))
    named = {f"s{number}": column for number, column in enumerate(columns)}
    return {"person": _concatenated(owners), **named}


def _seen(persons: ReportsByPerson) -> dict[str, Values]:
    """Return everybody with a report in the first slot, and the public part of that report."""
    addresses = persons.in_slots([0])
    columns = {"person": _concatenated([persons.owners[address] for address in addresses])}
    texts = [persons.batches[address].public for address in addresses]
    public = [part for part in texts if part is not None]
    if public:
        columns["public"] = np.concatenate(public)
    return columns


def _concatenated(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def everybody_once(relation: str) -> str:
    """Return the people who occur exactly once in a SQL relation."""
    return f"(from {relation} qualify count(*) over (partition by person) = 1)"


def public_columns(public: Mapping[str, bool]) -> str:
    """Return the public columns p0, p1, ... as SQL over the JSON text, each after a comma."""
    columns = ""
    for number, (name, is_number) in enumerate(public.items()):
        column = f"json_extract_string(decode(public), '/{name}')"
        if is_number:
            column = f"cast({column} as double)"
        columns += f", {column} as p{number}"
    return columns


def _one_report_each(owners: Mapping[Address, Ints]) -> bool:
    """Return whether the same people own the reports of every slot, each of them one."""
    slots: dict[int, list[Ints]] = {}
    for address, people in owners.items():
        slots.setdefault(address.slot, []).append(people)
    first, *others = [np.sort(np.concatenate(parts)) for parts in slots.values()]
    if (np.diff(first) == 0).any():
        return False
    return all(np.array_equal(people, first) for people in others)


def _numbered(rows: Values) -> Ints:
    """Return one number for every distinct row of 16 bytes."""
    halves: Longs = np.ascontiguousarray(rows).view("<u8").reshape(len(rows), 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    ranked = halves[order]
    is_new = np.concatenate([[False], (ranked[1:] != ranked[:-1]).any(axis=1)])
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.cumsum(is_new)
    return numbers


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
