"""Questions in SQL on one machine: reports are scored by the compiled kernels, DuckDB joins, groups and adds up."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
    """The reports of a round, and whose each is, as numbers that are alike where subjects are."""

    batches: "Mapping[Address, ReportBatch]"
    owners: Mapping[Address, Ints]
    one_report_each: bool  # in every slot

    @classmethod
    def of(cls, batches: "Mapping[Address, ReportBatch]") -> "ReportsByPerson":
        """Return the reports of some addresses by person."""
        if any(batch.subjects is None for batch in batches.values()):
            raise ParameterError("questions in SQL need reports that carry the subject of their person")
        subjects = [np.asarray(batch.subjects) for batch in batches.values()]
        ends = np.cumsum([len(one) for one in subjects])[:-1]
        whole = np.concatenate(subjects)
        numbers = whole.astype(np.int64) if whole.ndim == 1 else _numbered(whole)
        owners = dict(zip(batches, np.split(numbers, ends), strict=True))
        return cls(batches, owners, _one_report_each(owners))

    def among(self, slots: Sequence[int]) -> list[Address]:
        """Return the addresses of some slots."""
        return [address for address in self.batches if address.slot in slots]

    def select(self, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any) -> Columns:
        """Return what a statement says over the scored reports and the public columns of people."""
        return _select(self, scored, public, statement)


def _select(
    persons: ReportsByPerson, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any
) -> Columns:
    import duckdb

    relations = {name: _scores(persons, one) for name, one in scored.items()}
    try:
        with duckdb.connect(":memory:", config={"threads": 1}) as engine:  # sums in one order: the same digits again
            for name, columns in relations.items():
                engine.register(name, columns)
            engine.register("seen", _seen(persons))
            once = "seen" if persons.one_report_each else "(from seen qualify count(*) over (partition by person) = 1)"
            engine.execute(f"create view {PEOPLE} as select person{_columns(public)} from {once}")
            found: Columns = engine.execute(statement.sql(dialect="duckdb")).fetchnumpy()
    except duckdb.Error as error:
        raise UnavailableError("the engine could not answer this question") from error
    return found


def _scores(persons: ReportsByPerson, one: Scored) -> dict[str, Values]:
    """Return the scores of all reports in some slots, and whose they are."""
    chosen, owners, batches = persons.among(one.slots), persons.owners, persons.batches
    ends = np.cumsum([len(owners[address]) for address in chosen])
    columns: Floats = np.empty((one.width, int(ends[-1]) if len(ends) else 0))

    def fill(place: int) -> None:
        address = chosen[place]
        start = int(ends[place]) - len(owners[address])
        columns[:, start : int(ends[place])] = one.score(address.slot, address.member, batches[address].reports).T

    with ThreadPoolExecutor(_cores()) as pool:
        list(pool.map(fill, range(len(chosen))))
    person = np.concatenate([owners[address] for address in chosen]) if chosen else np.zeros(0, np.int64)
    return {"person": person, **{f"s{at}": column for at, column in enumerate(columns)}}


def _seen(persons: ReportsByPerson) -> dict[str, Values]:
    """Return everybody once, with what they let everybody see."""
    first = persons.among([0])
    person = np.concatenate([persons.owners[address] for address in first])
    texts = [persons.batches[address].public for address in first]
    public = np.concatenate([one for one in texts if one is not None]) if texts and texts[0] is not None else None
    return {"person": person} if public is None else {"person": person, "public": public}


def _columns(public: Mapping[str, bool]) -> str:
    """Return the public columns as the engine reads them from JSON."""
    made = ""
    for at, (name, number) in enumerate(public.items()):
        text = f"json_extract_string(decode(public), '/{name}')"
        made += f", {f'cast({text} as double)' if number else text} as p{at}"
    return made


def _one_report_each(owners: Mapping[Address, Ints]) -> bool:
    slots: dict[int, list[Ints]] = {}
    for address, people in owners.items():
        slots.setdefault(address.slot, []).append(people)
    ranked = [np.sort(np.concatenate(parts)) for parts in slots.values()]
    once = bool((np.diff(ranked[0]) > 0).all())
    return once and all(len(one) == len(ranked[0]) and (one == ranked[0]).all() for one in ranked)


def _numbered(rows: Values) -> Ints:
    """Return one number for every distinct row of 16 bytes."""
    halves: Longs = np.ascontiguousarray(rows).view("<u8").reshape(len(rows), 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    ranked = halves[order]
    new = np.concatenate([[False], (ranked[1:] != ranked[:-1]).any(axis=1)])
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
