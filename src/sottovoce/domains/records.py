"""Records: several named attributes of one person.

A question about a record asks for one attribute or for several together, through an encoding.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import bounds, settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain, normalized_labels
from sottovoce.errors import DomainError, NoDataError, ParameterError


@dataclass(frozen=True)
class Records(Domain, kind="records"):
    """Several named attributes of one person; indices are (users, attributes)."""

    names: tuple[str, ...]
    attributes: tuple[Domain, ...]

    def __post_init__(self) -> None:
        names = normalized_labels("names", self.names)
        object.__setattr__(self, "names", names)
        settings.entries("names", names, 1)
        settings.plain_texts("names", names, bounds.MAX_COLUMN_NAME)
        settings.distinct("names", names)
        settings.entries("attributes", self.attributes, len(names), len(names))
        for attribute in self.attributes:
            if not attribute.has_flat_index:
                raise ParameterError(
                    "`attributes` must have values of at most 63 bits, and no parts of their own"
                )

    has_flat_index = False

    @property
    def size(self) -> int:
        raise ParameterError("a question about records needs an encoding that picks attributes")

    @property
    def attribute_count(self) -> int:
        return len(self.attributes)

    def attribute_size(self, column: int) -> int:
        return self.attributes[column].size

    def indices(self, values: Iterable[Any]) -> Ints:
        columns = values if isinstance(values, Mapping) else self._columns(list(values))
        if set(columns) != set(self.names):
            raise self._wrong_attributes()
        pairs = zip(self.names, self.attributes, strict=True)
        indices = [attribute.indices(columns[name]) for name, attribute in pairs]
        if len({len(column) for column in indices}) > 1:
            raise DomainError("the columns of records must have equal lengths")
        return np.stack(indices, axis=1)

    def random_value(self, rng: Rng) -> Ints:
        return np.stack([attribute.random_value(rng) for attribute in self.attributes], axis=1)

    def _columns(self, records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        """Return a list of values per attribute."""
        if not records:
            raise NoDataError("there are no records")
        for record in records:
            if not isinstance(record, Mapping) or set(record) != set(self.names):
                raise self._wrong_attributes()
        return {name: [record[name] for record in records] for name in self.names}

    def _wrong_attributes(self) -> DomainError:
        return DomainError(f"a record must have exactly the attributes {', '.join(self.names)}")

    def statement_facts(self) -> dict[str, Any]:
        return {"count": len(self.names)}

    @property
    def described(self) -> str:
        count = len(self.names)
        return f"one of {count:,} question{'' if count == 1 else 's'}, drawn by a public coin"

    @property
    def file_columns(self) -> dict[str, tuple[str, ...]]:
        return {"": self.names}

    def from_columns(
        self, tables: Mapping[str, Mapping[str, Cells]], separator: str = ";"
    ) -> dict[str, list[Any]]:
        attributes = zip(self.names, self.attributes, strict=True)
        return {
            name: attribute.from_cells(name, tables[""][name], separator)
            for name, attribute in attributes
        }

    def part(self, name: str) -> Domain | None:
        return dict(zip(self.names, self.attributes, strict=True)).get(name)

    def part_indices(self, indices: Ints, name: str) -> Ints:
        return indices[:, self.names.index(name)]
