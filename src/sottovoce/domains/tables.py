"""Tables about the same people: in each, everybody has one record, or a list of records.

Columns are named as in SQL.  Public columns travel in clear, beside the randomised reports.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain, TableLimit
from sottovoce.domains.lists import Lists
from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.domains.records import Records
from sottovoce.errors import CodecError, DomainError, NoDataError, ParameterError

PERSON = "uid"  # the only column that tables have in common
MAX_PUBLIC = 4096  # bytes of one person's public columns

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True)
class Tables(Domain, kind="services"):
    """Named tables, ``Records`` or ``Lists``, and public columns named ``table.column``.

    With a single table a person's value is its record or list; with several, a mapping from their
    names.
    """

    names: tuple[str, ...]
    tables: tuple[Domain, ...]
    public: Records | None = None

    def __post_init__(self) -> None:
        if not self.names or len(self.names) != len(self.tables):
            raise ParameterError("`tables` must hold one table for each of `names`")
        if not all(isinstance(table, (Records, Lists)) for table in self.tables):
            raise ParameterError("`tables` must hold records, or lists of records")
        _check_names(self.names)
        _check_kinds(self.public_kinds)
        for table in range(len(self.names)):
            _check_kinds(self.records(table).attributes)
            _check_names((*self.records(table).names, *self.public_columns(table)))
        self._check_public_names()
        if self.public_bytes > MAX_PUBLIC:
            raise ParameterError(f"`public` columns must take at most {MAX_PUBLIC} bytes together")

    def _check_public_names(self) -> None:
        single = {name for index, name in enumerate(self.names) if not self.most(index)}
        for name in self.public_names:
            if name.partition(".")[0] not in single:
                raise ParameterError(
                    "`public` columns must be named 'table.column' "
                    "after a table with one record per person"
                )

    has_flat_index = False

    @property
    def size(self) -> int:
        raise ParameterError("tables have no size: people answer about them through an encoding")

    @property
    def public_names(self) -> tuple[str, ...]:
        """Return the public columns as 'table.column'."""
        return self.public.names if self.public else ()

    @cached_property
    def public_bytes(self) -> int:
        """Return the most bytes that the public part of one report takes."""
        return sum(map(_max_bytes, self.public_names, self.public_kinds))

    @property
    def public_kinds(self) -> tuple[Domain, ...]:
        """Return the domains of the public columns."""
        return self.public.attributes if self.public else ()

    def public_columns(self, table: int) -> tuple[str, ...]:
        """Return the public columns of a table, without its name."""
        return self._public_of_table.get(self.names[table], ())

    @cached_property
    def _public_of_table(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for full_name in self.public_names:
            table, _, column = full_name.partition(".")
            found[table] = (*found.get(table, ()), column)
        return found

    def records(self, table: int) -> Records:
        """Return the columns of a table that people keep to themselves."""
        kind = self.tables[table]
        records = kind.records if isinstance(kind, Lists) else kind
        assert isinstance(records, Records)
        return records

    def most(self, table: int) -> int:
        """Return the largest number of records of a table that count.

        0 where everybody has exactly one.
        """
        kind = self.tables[table]
        return kind.most if isinstance(kind, Lists) else 0

    def indices(self, values: Iterable[Any]) -> Any:
        """Return people's tables from one value each, or from columns, where ``uid`` says whose a
        row is.
        """
        if isinstance(values, Mapping):
            return self._from_columns({self.names[0]: values} if len(self.names) == 1 else values)
        people = [{self.names[0]: value} if len(self.names) == 1 else value for value in values]
        if not people:
            raise NoDataError("there are no values")
        if not all(
            isinstance(value, Mapping) and set(value) == set(self.names) for value in people
        ):
            raise DomainError(f"a value has exactly the tables {', '.join(self.names)}")
        tables = []
        public: dict[str, list[Any]] = {}
        for index, (name, kind) in enumerate(zip(self.names, self.tables, strict=True)):
            records = [value[name] for value in people]
            if self.public_columns(index):
                self._check_records(index, records)
                for column in self.public_columns(index):
                    public[f"{name}.{column}"] = [record[column] for record in records]
                records = [self._private_part(index, record) for record in records]
            tables.append(kind.indices(records))
        return PersonTables(tuple(tables), self._texts(public, len(people)) if public else ())

    def public_parts(self, indices: Any) -> Sequence[bytes]:
        parts: Sequence[bytes] = indices.public
        return parts

    def with_public_part(self, indices: Any, value: Any) -> Any:
        if self.public is None:
            return indices
        tables = {self.names[0]: value} if len(self.names) == 1 else value
        pairs = [name.partition(".") for name in self.public_names]
        columns = {f"{table}.{name}": [tables[table][name]] for table, _, name in pairs}
        return PersonTables(indices.tables, self._texts(columns, 1))

    def check_public(self, text: bytes) -> None:
        """Refuse what is not the public part of a possible value, written as a device writes it."""
        if self.public is None or len(text) > MAX_PUBLIC or not self._is_canonical(text):
            raise CodecError(
                "the public part of a report must hold a possible value for every public column"
            )

    def _is_canonical(self, text: bytes) -> bool:
        try:
            content = json.loads(text)
            kinds = zip(self.public_names, self.public_kinds, strict=True)
            columns = {name: [kind.from_public(content[name])] for name, kind in kinds}
            return self._texts(columns, 1)[0] == text
        except (ValueError, TypeError, KeyError, RecursionError):
            return False

    def random_value(self, rng: Rng) -> Any:
        tables = tuple(table.random_value(rng) for table in self.tables)
        if self.public is None:
            return PersonTables(tables)
        drawn = self.public.random_value(rng)[0]
        kinds = zip(self.public_names, self.public_kinds, drawn, strict=True)
        columns = {name: [kind.value_at(int(index))] for name, kind, index in kinds}
        return PersonTables(tables, self._texts(columns, 1))

    def _check_records(self, table: int, records: Sequence[Any]) -> None:
        names = {*self.public_columns(table), *self.records(table).names}
        if not all(isinstance(record, Mapping) and set(record) == names for record in records):
            raise DomainError(f"a record has exactly the attributes {', '.join(sorted(names))}")

    def _private_part(self, table: int, record: Mapping[str, Any]) -> dict[str, Any]:
        return {name: record[name] for name in self.records(table).names}

    def _texts(self, columns: Mapping[str, Any], people: int) -> list[bytes]:
        """Return everybody's public values as canonical JSON, real numbers as decimal strings.

        Refuses other values.
        """
        parts = []
        for name, kind in sorted(zip(self.public_names, self.public_kinds, strict=True)):
            kind.indices(columns[name])  # refuses impossible values
            if len(columns[name]) != people:
                raise DomainError("the columns of records must have equal lengths")
            key = json.dumps(name, ensure_ascii=False)
            values = (
                json.dumps(kind.public_value(value), ensure_ascii=False) for value in columns[name]
            )
            parts.append([f"{key}:{value}" for value in values])
        return [("{" + ",".join(fields) + "}").encode() for fields in zip(*parts, strict=True)]

    def _from_columns(self, tables: Mapping[str, Any]) -> PersonTables:
        by_column = all(isinstance(columns, Mapping) for columns in tables.values())
        if set(tables) != set(self.names) or not by_column:
            raise DomainError(
                f"the tables are {', '.join(self.names)}, each a mapping from its columns"
            )
        for index, name in enumerate(self.names):
            self._check_columns(index, tables[name])
        people = self._people(tables)
        indexed = tuple(
            self._table(index, tables[name], people) for index, name in enumerate(self.names)
        )
        public: dict[str, list[Any]] = {}
        for full_name in self.public_names:
            table, _, column = full_name.partition(".")
            public[full_name] = list(tables[table][column])
        return PersonTables(indexed, self._texts(public, people) if public else ())

    def _people(self, tables: Mapping[str, Mapping[str, Any]]) -> int:
        """Return the number of people: one per row of a table with one record each."""
        single = [index for index in range(len(self.names)) if not self.most(index)]
        if single:
            return len(tables[self.names[single[0]]][self.records(single[0]).names[0]])
        owners = [_owners(tables[name]) for name in self.names]
        return max((int(each.max()) + 1 for each in owners if len(each)), default=0)

    def _check_columns(self, table: int, columns: Mapping[str, Any]) -> None:
        needed = {*self.records(table).names, *self.public_columns(table)}
        allowed = needed | {PERSON}
        if self.most(table):
            needed = allowed
        if not needed <= set(columns) <= allowed:
            raise DomainError(f"the columns of {self.names[table]} are {', '.join(sorted(needed))}")

    def _table(self, table: int, columns: Mapping[str, Any], people: int) -> Ints | Rows:
        records = self.records(table)
        cells = records.indices({name: columns[name] for name in records.names})
        if self.most(table):
            return Rows.of(_owners(columns), cells, people)
        if PERSON in columns and not np.array_equal(_owners(columns), np.arange(people)):
            raise DomainError(f"{PERSON!r} must count from 0 in a table with one record per person")
        return cells

    @property
    def described(self) -> str:
        return (
            f"a record in each of {len(self.names):,} tables" if len(self.names) > 1 else "a record"
        )

    def statement_facts(self) -> dict[str, Any]:
        return {"names": list(self.names)}

    @property
    def table_limits(self) -> tuple[TableLimit, ...]:
        limits = (TableLimit(name, self.most(index)) for index, name in enumerate(self.names))
        return tuple(limits)

    @property
    def file_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of every table, and ``uid`` where rows must say whose they are."""
        alone = len(self.names) == 1 and not self.most(0)
        return {
            name: (
                *self.records(place).names,
                *self.public_columns(place),
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
        public = dict(zip(self.public.names, self.public_kinds, strict=True)) if self.public else {}
        return public[f"{table}.{name}"] if f"{table}.{name}" in public else private[name]

    def part(self, name: str) -> Domain | None:
        table, _, column = name.partition(".")
        return self.column(table, column)

    def part_indices(self, indices: PersonTables, name: str) -> Ints:
        """Return one index per person, or one per record of a table with any number of them."""
        table, _, column = name.partition(".")
        place = self.names.index(table)
        cells: Any = indices.tables[place]
        rows = cells.cells if self.most(place) else cells
        return np.asarray(rows[:, self.records(place).names.index(column)])


def _owners(columns: Mapping[str, Any]) -> Ints:
    owners = np.asarray(columns[PERSON])
    if owners.ndim != 1 or (len(owners) and owners.dtype.kind not in "iu"):
        raise DomainError(f"{PERSON!r} must hold the number of a person, from 0, for every row")
    return owners.astype(np.int64)


def _check_names(names: Sequence[str]) -> None:
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise ParameterError("names of tables and columns must consist of letters, digits and _")
    folded = {name.lower() for name in names}
    if len(folded) < len(names):
        raise ParameterError("names of tables and columns must differ by more than case")
    if PERSON in folded:
        raise ParameterError(f"no table or column may be named {PERSON!r}: tables are joined on it")


def _check_kinds(kinds: Sequence[Domain]) -> None:
    if any(kind.value_type is None for kind in kinds):
        raise ParameterError(
            "a column must hold labels, dates, whole numbers, or numbers in buckets or at points"
        )


def _max_bytes(name: str, kind: Domain) -> int:
    """Return the bytes that a public column may take, with its name and what stands between."""
    return len(name) + 8 + kind.max_public_bytes
