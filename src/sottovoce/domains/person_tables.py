"""The rows of many people in several tables: one row each in some tables, any number in others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.errors import ParameterError


@dataclass(frozen=True, eq=False, repr=False)  # what people hold is not printed
class Rows:
    """The rows of person i in one table stand at ``cells[starts[i] : starts[i + 1]]``, one column
    per attribute.

    >>> Rows.of(np.array([1, 0, 1]), np.array([[7], [8], [9]]), 3).sizes
    array([1, 2, 0])
    """

    starts: Ints
    cells: Ints

    @classmethod
    def of(cls, owners: Ints, cells: Ints, people: int) -> "Rows":
        """Return the rows of so many people, numbered from 0; ``owners`` says whose each row is."""
        owners = np.asarray(owners)
        known = not len(owners) or (
            owners.dtype.kind in "iu" and owners.min() >= 0 and owners.max() < people
        )
        if not known or len(owners) != len(cells):
            raise ParameterError(
                "`owners` must name one of the people, numbered from 0, for every row"
            )
        order = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[order], np.arange(people + 1))
        return cls(starts.astype(np.int64), np.asarray(cells, np.int64)[order])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, people: Any) -> "Rows":
        """Return the rows of some people, given as a slice, a mask or numbers."""
        chosen = np.arange(len(self))[people]
        sizes = self.sizes[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        indices = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], sizes)
        return Rows(starts, self.cells[indices])

    @cached_property
    def sizes(self) -> Ints:
        """Return how many rows everybody has."""
        return np.diff(self.starts)


@dataclass(frozen=True, eq=False, repr=False)
class PersonTables:
    """One entry per table: ``(people, attributes)`` where everybody has one row, ``Rows`` where
    they have any number.

    ``public`` holds everybody's public columns, one JSON text each; it is empty if there are none.
    """

    tables: tuple[Ints | Rows, ...]
    public: Sequence[bytes] = ()

    def __post_init__(self) -> None:
        if len({len(table) for table in self.tables}) != 1:
            raise ParameterError("`tables` must all be about the same people")
        if self.public and len(self.public) != len(self):
            raise ParameterError("`public` must be about the same people as `tables`")

    def __len__(self) -> int:
        return len(self.tables[0])

    def __getitem__(self, people: Any) -> "PersonTables":
        chosen = np.arange(len(self))[people]
        public = tuple(self.public[person] for person in chosen) if self.public else ()
        return PersonTables(tuple(table[chosen] for table in self.tables), public)
