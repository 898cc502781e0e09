"""The tables of several services about the same people: one record in each, or a list of them.

Columns are named as in SQL.  What is public travels as it is, beside the randomised reports.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.person_tables import Holdings, Rows
from sottovoce.domains.records import Records
from sottovoce.errors import CodecError, DomainError, NoDataError, ParameterError

PERSON = "uid"  # the only column that tables have in common
LARGEST_PUBLIC = 4096  # bytes of what one person lets everybody see
ORDERED = (Integers, Numbers, Buckets)

_EXACT = 1 << 53  # whole numbers that documents hold as numbers
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True)
class Services(Domain, kind="services"):
    """Named tables, ``Records`` or ``Lists``, and public columns named ``table.column``.

    Of a single table a person's value is its record or list; of several, a mapping from their names.
    """

    names: tuple[str, ...]
    tables: tuple[Domain, ...]
    public: Records | None = None

    def __post_init__(self) -> None:
        if not self.names or len(self.names) != len(self.tables):
            raise ParameterError("services need one table for every name")
        if not all(isinstance(table, (Records, Lists)) for table in self.tables):
            raise ParameterError("a service holds records, or lists of records")
        _check_names(self.names)
        for place in range(len(self.names)):
            kinds = (Categories, *ORDERED)
            if not all(
                isinstance(one, kinds)
                for one in (*self.records(place).attributes, *self._public_kinds)
            ):
                raise ParameterError(
                    "a column holds labels, whole numbers, or numbers in buckets or at points"
                )
            _check_names((*self.records(place).names, *self._public_of(place)))
        for name in self.public.names if self.public else ():
            table = name.partition(".")[0]
            if table not in self.names or isinstance(self.tables[self.names.index(table)], Lists):
                raise ParameterError(
                    "a public column is of a table with one record per person: 'table.column'"
                )
        if (
            sum(map(_longest, self.public.names if self.public else (), self._public_kinds))
            > LARGEST_PUBLIC
        ):
            raise ParameterError(f"public columns take at most {LARGEST_PUBLIC} bytes together")

    @property
    def size(self) -> int:
        raise ParameterError(
            "services are asked about through an encoding: there are too many values"
        )

    def records(self, place: int) -> Records:
        """Return the columns of a table that are not public."""
        table = self.tables[place]
        found = table.records if isinstance(table, Lists) else table
        assert isinstance(found, Records)
        return found

    def most(self, place: int) -> int:
        """Return how many records of a table one person has at the most; 0 where everybody has exactly one."""
        table = self.tables[place]
        return table.most if isinstance(table, Lists) else 0

    def indices(self, values: Iterable[Any]) -> Any:
        """Return the holdings of people: one value each, or tables of columns, where ``uid`` says whose a row is."""
        if isinstance(values, Mapping):
            return self._from_columns({self.names[0]: values} if len(self.names) == 1 else values)
        held = [{self.names[0]: value} if len(self.names) == 1 else value for value in values]
        if not held:
            raise NoDataError("there are no values")
        if not all(isinstance(value, Mapping) and set(value) == set(self.names) for value in held):
            raise DomainError(f"a value has exactly the tables {', '.join(self.names)}")
        tables, seen = [], []
        for place, (name, table) in enumerate(zip(self.names, self.tables, strict=True)):
            column = [value[name] for value in held]
            if self._public_of(place):
                seen.append((place, [self._public_part(place, record) for record in column]))
                column = [self._private_part(place, record) for record in column]
            tables.append(table.indices(column))
        return Holdings(tuple(tables), self._written(seen, len(held)))

    def public_parts(self, indices: Any) -> Sequence[bytes]:
        parts: Sequence[bytes] = indices.public
        return parts

    def check_public(self, text: bytes) -> None:
        """Refuse what is not the public part of some person's value, written as a device writes it."""
        if self.public is None or len(text) > LARGEST_PUBLIC or not self._reads(text):
            raise CodecError(
                "the public part of a report holds every public column, with a value that it can have"
            )

    def _reads(self, text: bytes) -> bool:
        assert self.public is not None
        try:
            content = json.loads(text)
            kinds = zip(self.public.names, self.public.attributes, strict=True)
            columns = {name: [_parsed(kind, content[name])] for name, kind in kinds}
            return self._texts(columns, 1)[0] == text
        except (ValueError, TypeError, KeyError, RecursionError):
            return False

    def random_value(self, rng: Rng) -> Any:
        tables = tuple(table.random_value(rng) for table in self.tables)
        if self.public is None:
            return Holdings(tables)
        places = self.public.random_value(rng)[0]
        kinds = zip(self.public.names, self.public.attributes, places, strict=True)
        return Holdings(
            tables, self._texts({name: [_value(kind, int(at))] for name, kind, at in kinds}, 1)
        )

    @property
    def _public_kinds(self) -> tuple[Domain, ...]:
        return self.public.attributes if self.public else ()

    def _public_of(self, place: int) -> tuple[str, ...]:
        """Return the public columns of a table, without its name."""
        pairs = [name.partition(".") for name in (self.public.names if self.public else ())]
        return tuple(column for table, _, column in pairs if table == self.names[place])

    def _public_part(self, place: int, record: Any) -> dict[str, Any]:
        names = {*self._public_of(place), *self.records(place).names}
        if not isinstance(record, Mapping) or set(record) != names:
            raise DomainError(f"a record has exactly the attributes {', '.join(sorted(names))}")
        return {name: record[name] for name in self._public_of(place)}

    def _private_part(self, place: int, record: Mapping[str, Any]) -> dict[str, Any]:
        return {name: record[name] for name in self.records(place).names}

    def _written(
        self, seen: Sequence[tuple[int, list[dict[str, Any]]]], people: int
    ) -> Sequence[bytes]:
        columns = {
            f"{self.names[place]}.{name}": [record[name] for record in records]
            for place, records in seen
            for name in self._public_of(place)
        }
        return self._texts(columns, people) if columns else ()

    def _texts(self, columns: Mapping[str, Any], people: int) -> list[bytes]:
        """Return everybody's public values as canonical JSON, real numbers as decimal strings; refuses other values."""
        assert self.public is not None
        parts = []
        for name, kind in sorted(zip(self.public.names, self.public.attributes, strict=True)):
            kind.indices(columns[name])
            key = json.dumps(name, ensure_ascii=False)
            parts.append(
                [
                    f"{key}:{json.dumps(_plain(kind, one), ensure_ascii=False)}"
                    for one in columns[name]
                ]
            )
            if len(parts[-1]) != people:
                raise DomainError("the columns of records must have equal lengths")
        return [("{" + ",".join(fields) + "}").encode() for fields in zip(*parts, strict=True)]

    def _from_columns(self, tables: Mapping[str, Any]) -> Holdings:
        if set(tables) != set(self.names) or not all(
            isinstance(one, Mapping) for one in tables.values()
        ):
            raise DomainError(
                f"the tables are {', '.join(self.names)}, each a mapping from its columns"
            )
        for place, name in enumerate(self.names):
            self._check_columns(place, tables[name])
        people = self._people(tables)
        found = tuple(
            self._table(place, tables[name], people) for place, name in enumerate(self.names)
        )
        columns = {
            f"{self.names[place]}.{name}": list(tables[self.names[place]][name])
            for place in range(len(self.names))
            for name in self._public_of(place)
        }
        return Holdings(found, self._texts(columns, people) if columns else ())

    def _people(self, tables: Mapping[str, Mapping[str, Any]]) -> int:
        """Return how many people the tables are about: one for every row where everybody has one."""
        single = [place for place in range(len(self.names)) if not self.most(place)]
        if single:
            return len(tables[self.names[single[0]]][self.records(single[0]).names[0]])
        owners = [_owners(tables[name]) for name in self.names]
        return max((int(one.max()) + 1 for one in owners if len(one)), default=0)

    def _check_columns(self, place: int, columns: Mapping[str, Any]) -> None:
        wanted = {
            *self.records(place).names,
            *self._public_of(place),
            *([PERSON] if self.most(place) else []),
        }
        if set(columns) - ({PERSON} - wanted) != wanted:
            raise DomainError(f"the columns of {self.names[place]} are {', '.join(sorted(wanted))}")

    def _table(self, place: int, columns: Mapping[str, Any], people: int) -> Ints | Rows:
        cells = self.records(place).indices(
            {name: columns[name] for name in self.records(place).names}
        )
        if self.most(place):
            return Rows.of(_owners(columns), cells, people)
        if PERSON in columns and not np.array_equal(_owners(columns), np.arange(people)):
            raise DomainError(
                "where everybody has one record, the rows are in the order of the people, from 0"
            )
        return cells

    @property
    def described(self) -> str:
        return (
            f"a record in each of {len(self.names):,} tables" if len(self.names) > 1 else "a record"
        )

    @property
    def file_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of every table, and ``uid`` where rows must say whose they are."""
        alone = len(self.names) == 1 and not self.most(0)
        return {
            name: (
                *self.records(place).names,
                *self._public_of(place),
                *(() if alone else (PERSON,)),
            )
            for place, name in enumerate(self.names)
        }

    def from_columns(
        self, tables: Mapping[str, Mapping[str, Cells]], separator: str = ";"
    ) -> dict[str, Any]:
        from sottovoce.domains.table_columns import columns_of_people

        return columns_of_people(self, tables)

    def column(self, table: str, name: str) -> Domain:
        """Return the domain of a column, public or not."""
        records = self.records(self.names.index(table))
        private = dict(zip(records.names, records.attributes, strict=True))
        public = (
            dict(zip(self.public.names, self._public_kinds, strict=True)) if self.public else {}
        )
        return public[f"{table}.{name}"] if f"{table}.{name}" in public else private[name]

    def part(self, name: str) -> Domain | None:
        table, _, column = name.partition(".")
        return self.column(table, column)

    def part_indices(self, indices: Holdings, name: str) -> Ints:
        """Return one index per person, or one per record of a table with any number of them."""
        table, _, column = name.partition(".")
        place = self.names.index(table)
        cells: Any = indices.tables[place]
        rows = cells.cells if self.most(place) else cells
        return np.asarray(rows[:, self.records(place).names.index(column)])


def _owners(columns: Mapping[str, Any]) -> Ints:
    owners = np.asarray(columns[PERSON])
    if owners.ndim != 1 or (len(owners) and owners.dtype.kind not in "iu"):
        raise DomainError(f"{PERSON!r} holds the number of a person for every row, from 0")
    return owners.astype(np.int64)


def _check_names(names: Sequence[str]) -> None:
    folded = {str(name).lower() for name in names}
    written = all(isinstance(name, str) and _NAME.fullmatch(name) for name in names)
    if not written or len(folded) < len(names) or PERSON in folded:
        raise ParameterError(
            f"names of tables and columns are letters, digits and _, differ by more than case, and are not {PERSON!r}"
        )


def _longest(name: str, kind: Domain) -> int:
    """Return the bytes that a public column may take."""
    if isinstance(kind, Integers) and max(abs(kind.low), abs(kind.high)) >= _EXACT:
        raise ParameterError("public whole numbers lie between -2^53 and 2^53")
    labels = kind.labels if isinstance(kind, Categories) else ("-1.7976931348623157e+308",)
    return (
        len(name) + 8 + max(len(json.dumps(label, ensure_ascii=False).encode()) for label in labels)
    )


def _plain(kind: Domain, value: Any) -> Any:
    """Return a public value as documents hold it."""
    if isinstance(kind, Categories):
        return kind.labels[int(kind.indices([value])[0])]
    if isinstance(kind, Integers):
        return int(value)
    low, high = kind.low, kind.high  # type: ignore[attr-defined]
    return repr(min(max(float(value), low), high) + 0.0)  # there is one zero


def _value(kind: Domain, index: int) -> Any:
    if isinstance(kind, Categories):
        return kind.labels[index]
    low, high = kind.low, kind.high  # type: ignore[attr-defined]
    return low + index if isinstance(kind, Integers) else low + (high - low) * index / kind.size


def _parsed(kind: Domain, value: Any) -> Any:
    """Return a public value as a person gave it: real numbers are written as strings."""
    return (
        float(value) if isinstance(kind, (Numbers, Buckets)) and isinstance(value, str) else value
    )
