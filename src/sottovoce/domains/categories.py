"""Categories: named values, such as the browsers that people may use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.domains.base import DECLINED, Cells, Domain, normalized_labels, refuse_empty_cells
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
        settings.flag("declinable", self.declinable)
        labels = normalized_labels("labels", self.labels)
        if self.declinable and DECLINED not in labels:
            labels = (*labels, DECLINED)
        settings.entries("labels", labels, 2)
        settings.distinct("labels", labels)
        if self.declinable and labels[-1] != DECLINED:
            raise ParameterError(f"`labels` must have {DECLINED!r} as the last entry")
        object.__setattr__(self, "labels", labels)

    @property
    def size(self) -> int:
        return len(self.labels)

    def indices(self, values: Iterable[Any]) -> Ints:
        listed = list(values)
        fast = self._looked_up(listed)
        if fast is not None:
            return fast
        return np.array([self._index(value) for value in listed], np.int64)

    def known_indices(self, values: Iterable[Any]) -> list[int]:
        """Return the indices of the values that are labels, in order; others are left out."""
        listed = list(values)
        if not all(isinstance(value, str) for value in listed):
            raise DomainError("an item of this set must be text")
        indices = [self._index_of_label.get(normalize("NFC", value)) for value in listed]
        return [index for index in indices if index is not None]

    @cached_property
    def _index_of_label(self) -> Mapping[Any, int]:
        table: dict[Any, int] = {label: index for index, label in enumerate(self.labels)}
        if self.declinable:
            table[None] = self.size - 1
        return table

    def _looked_up(self, values: list[Any]) -> Ints | None:
        """Return the indices of values spelled like their labels, or nothing if one is not.

        The error of the failed look-up names the value, so it must not travel on.
        """
        try:
            return np.fromiter(map(self._index_of_label.__getitem__, values), np.int64, len(values))
        except (KeyError, TypeError):
            return None

    def _index(self, value: Any) -> int:
        label = normalize("NFC", value) if isinstance(value, str) else value
        if label is not None and not isinstance(label, str):
            raise DomainError("a value of these categories must be text")
        if label not in self._index_of_label:
            raise DomainError(f"a value must be one of the {self.size} categories of the task")
        return self._index_of_label[label]

    listed = True

    @property
    def described(self) -> str:
        declined = " (or prefer not to say)" if self.declinable else ""
        return f"one of {self.size:,} values{declined}"

    @property
    def declined_index(self) -> int | None:
        return self.size - 1 if self.declinable else None

    def statement_facts(self) -> dict[str, Any]:
        return {"count": self.size}

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        if not self.declinable:
            hint = f"leave out these people, or count them as {DECLINED!r} (--decline)"
            refuse_empty_cells(name, cells, hint)
        return list(cells)
