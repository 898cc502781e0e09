"""Records: several named attributes of one person."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain, checked_label
from sottovoce.errors import DomainError, NoDataError, ParameterError


@dataclass(frozen=True)
class Records(Domain, kind="records"):
    """Several named attributes of one person; indices are (users, attributes)."""

    names: tuple[str, ...]
    attributes: tuple[Domain, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(checked_label(name) for name in self.names))
        if not self.names or len(self.names) != len(self.attributes) or len(set(self.names)) < len(self.names):
            raise ParameterError("records need one domain for every name, and all names different")

    @property
    def size(self) -> int:
        raise ParameterError("records are asked one attribute at a time: the question needs an encoding")

    def indices(self, values: Iterable[Any]) -> Ints:
        columns = values if isinstance(values, Mapping) else self._columns(list(values))
        if set(columns) != set(self.names):
            raise DomainError(f"a record has exactly the attributes {', '.join(self.names)}")
        pairs = zip(self.names, self.attributes, strict=True)
        found = [attribute.indices(columns[name]) for name, attribute in pairs]
        if len({len(column) for column in found}) > 1:
            raise DomainError("the columns of records must have equal lengths")
        return np.stack(found, axis=1)

    def random_value(self, rng: Rng) -> Ints:
        return np.stack([attribute.random_value(rng) for attribute in self.attributes], axis=1)

    def _columns(self, records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        if not records:
            raise NoDataError("there are no records")
        if not all(isinstance(record, Mapping) and set(record) == set(self.names) for record in records):
            raise DomainError(f"a record has exactly the attributes {', '.join(self.names)}")
        return {name: [record[name] for record in records] for name in self.names}

    @property
    def described(self) -> str:
        count = len(self.names)
        return f"one of {count:,} question{'' if count == 1 else 's'}, drawn by a public coin"

    @property
    def file_columns(self) -> dict[str, tuple[str, ...]]:
        return {"": self.names}

    def from_columns(self, tables: Mapping[str, Mapping[str, Cells]], separator: str = ";") -> dict[str, list[Any]]:
        attributes = zip(self.names, self.attributes, strict=True)
        return {name: attribute.from_cells(name, tables[""][name], separator) for name, attribute in attributes}

    def part(self, name: str) -> Domain | None:
        return dict(zip(self.names, self.attributes, strict=True)).get(name)

    def part_indices(self, indices: Ints, name: str) -> Ints:
        return indices[:, self.names.index(name)]
