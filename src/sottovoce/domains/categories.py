"""Categories: named values, such as the browsers people may use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.domains.base import DECLINED, Cells, Domain, checked_label, refuse_empty_cells
from sottovoce.errors import DomainError, ParameterError


@dataclass(frozen=True)
class Categories(Domain, kind="categories"):
    """Named values; with ``declinable`` the last one stands for not wanting to say.

    >>> Categories(("cat", "dog")).indices(["dog", "cat"])
    array([1, 0])
    """

    labels: tuple[str, ...]
    declinable: bool = False

    def __post_init__(self) -> None:
        labels = tuple(checked_label(label) for label in self.labels)
        if self.declinable and DECLINED not in labels:
            labels = (*labels, DECLINED)
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise ParameterError("categories need at least two labels, all different")
        if self.declinable and labels[-1] != DECLINED:
            raise ParameterError(f"the label {DECLINED!r} is the last one")
        object.__setattr__(self, "labels", labels)

    @property
    def size(self) -> int:
        return len(self.labels)

    def indices(self, values: Iterable[Any]) -> Ints:
        table: dict[Any, int] = {label: index for index, label in enumerate(self.labels)}
        if self.declinable:
            table[None] = self.size - 1
        held = list(values)
        found = self._looked_up(table, held)
        return np.array([self._index(table, value) for value in held], np.int64) if found is None else found

    def _looked_up(self, table: Mapping[Any, int], held: list[Any]) -> Ints | None:
        """Return the indices, or nothing: the error of a failed look-up names the value and must not travel on."""
        try:
            return np.fromiter(map(table.__getitem__, held), np.int64, len(held))
        except (KeyError, TypeError):
            return None

    def _index(self, table: Mapping[Any, int], value: Any) -> int:
        label = normalize("NFC", value) if isinstance(value, str) else value
        if label is not None and not isinstance(label, str):
            raise DomainError("a value of these categories must be text")
        if label not in table:
            raise DomainError(f"a value must be one of the {self.size} categories of the task")
        return table[label]

    listed = True

    @property
    def described(self) -> str:
        declined = " (or prefer not to say)" if self.declinable else ""
        return f"one of {self.size:,} values{declined}"

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        if not self.declinable:
            hint = f"leave out these people, or count them as {DECLINED!r} (--decline)"
            refuse_empty_cells(name, cells, hint)
        return list(cells)
