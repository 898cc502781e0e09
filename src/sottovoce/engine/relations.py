"""Questions in SQL on one machine: reports are scored by the compiled kernels, DuckDB joins, groups and adds up."""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import Floats, Ints, Longs, Values
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.task import Address, Columns, Scored

if TYPE_CHECKING:
    from sottovoce.engine.local import Shelf

PEOPLE = "people"


def persons(shelves: "Mapping[Address, Shelf]") -> dict[Address, Ints]:
    """Return whose each report is, as numbers that are alike where subjects are."""
    if any(shelf.subjects is None for shelf in shelves.values()):
        raise ParameterError("questions in SQL need reports that carry the subject of their person")
    subjects = [np.asarray(shelf.subjects) for shelf in shelves.values()]
    ends = np.cumsum([len(one) for one in subjects])[:-1]
    whole = np.concatenate(subjects)
    numbers = whole.astype(np.int64) if whole.ndim == 1 else _numbered(whole)
    return dict(zip(shelves, np.split(numbers, ends), strict=True))


def select(
    shelves: "Mapping[Address, Shelf]",
    owners: Mapping[Address, Ints],
    scored: Mapping[str, Scored],
    public: Mapping[str, bool],
    statement: Any,
) -> Columns:
    """Return what a statement says over the scored reports and the public columns of people."""
    import duckdb

    relations = {name: _scores(shelves, owners, one) for name, one in scored.items()}
    try:
        with duckdb.connect(":memory:") as engine:
            for name, columns in relations.items():
                engine.register(name, columns)
            engine.register("seen", _seen(shelves, owners))
            engine.execute(f"create view {PEOPLE} as select person{_columns(public)} from seen")
            found: Columns = engine.execute(statement.sql(dialect="duckdb")).fetchnumpy()
    except duckdb.Error as error:
        raise UnavailableError("the engine could not answer this question") from error
    return found


def _scores(shelves: "Mapping[Address, Shelf]", owners: Mapping[Address, Ints], one: Scored) -> dict[str, Values]:
    """Return the scores of all reports in some slots, and whose they are."""
    chosen = [address for address in shelves if address.slot in one.slots]
    ends = np.cumsum([len(owners[address]) for address in chosen])
    columns: Floats = np.empty((one.width, int(ends[-1]) if len(ends) else 0))

    def fill(place: int) -> None:
        address = chosen[place]
        start = int(ends[place]) - len(owners[address])
        columns[:, start : int(ends[place])] = one.score(address.slot, address.member, shelves[address].reports).T

    with ThreadPoolExecutor(_cores()) as pool:
        list(pool.map(fill, range(len(chosen))))
    person = np.concatenate([owners[address] for address in chosen]) if chosen else np.zeros(0, np.int64)
    return {"person": person, **{f"s{at}": column for at, column in enumerate(columns)}}


def _seen(shelves: "Mapping[Address, Shelf]", owners: Mapping[Address, Ints]) -> dict[str, Values]:
    """Return everybody once, with what they let everybody see."""
    first = [address for address in shelves if address.slot == 0]
    person = np.concatenate([owners[address] for address in first])
    texts = [shelves[address].public for address in first]
    public = np.concatenate([one for one in texts if one is not None]) if texts and texts[0] is not None else None
    return {"person": person} if public is None else {"person": person, "public": public}


def _columns(public: Mapping[str, bool]) -> str:
    """Return the public columns as the engine reads them from JSON."""
    made = ""
    for at, (name, number) in enumerate(public.items()):
        text = f"json_extract_string(decode(public), '/{name}')"
        made += f", {f'cast({text} as double)' if number else text} as p{at}"
    return made


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
