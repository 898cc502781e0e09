"""Columns of text as the tables of people: rows are joined by the column ``uid``.

People are numbered in the order of the first table in which everybody has one record, or in the
order in which they first appear anywhere if there is no such table.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.domains.base import Cells
from sottovoce.errors import DomainError

if TYPE_CHECKING:
    from sottovoce.domains.tables import Tables

UID = "uid"


def columns_of_people(
    domain: "Tables", tables: Mapping[str, Mapping[str, Cells]]
) -> dict[str, Any]:
    """Return what everybody holds as columns, by table where there are several."""
    values: dict[str, dict[str, Any]] = {
        table: {
            name: domain.column(table, name).from_cells(name, cells)
            for name, cells in columns.items()
            if name != UID
        }
        for table, columns in tables.items()
    }
    if any(UID in columns for columns in tables.values()):
        numbers = _numbers_by_uid(domain, tables)
        for place, table in enumerate(domain.names):
            owners = _owners(table, tables[table][UID], numbers)
            if domain.most(place):
                values[table] = {**values[table], UID: owners}
            else:
                values[table] = _sorted_by_person(table, values[table], owners)
    return values if len(domain.names) > 1 else values[domain.names[0]]


def _numbers_by_uid(domain: "Tables", tables: Mapping[str, Mapping[str, Cells]]) -> dict[str, int]:
    """Return the number of every person by uid."""
    single = [name for place, name in enumerate(domain.names) if not domain.most(place)]
    uids = [uid for name in single[:1] or domain.names for uid in tables[name][UID]]
    if None in uids:
        raise DomainError(f"column {UID!r} must not have empty cells")
    numbers = {uid: number for number, uid in enumerate(dict.fromkeys(map(str, uids)))}
    if single and len(numbers) < len(uids):
        raise DomainError(
            f"every {UID} must stand once in table {single[0]!r}: its people have one record each"
        )
    return numbers


def _owners(table: str, uids: Cells, numbers: Mapping[str, int]) -> Ints:
    unknown = sum(uid not in numbers for uid in uids)
    if unknown:
        raise DomainError(
            f"{unknown:,} rows of table {table!r} have a {UID} that the table with one record each "
            "does not have"
        )
    return np.array([numbers[str(uid)] for uid in uids], np.int64)


def _sorted_by_person(
    table: str, columns: Mapping[str, Sequence[Any]], owners: Ints
) -> dict[str, Any]:
    order = np.argsort(owners)
    if not np.array_equal(owners[order], np.arange(len(owners))):
        raise DomainError(f"everybody must have exactly one record in table {table!r}")
    return {name: [column[row] for row in order.tolist()] for name, column in columns.items()}
