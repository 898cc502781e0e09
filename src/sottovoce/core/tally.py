"""Tallies: integer sums over reports, which is all that most estimates need.

Tallies add.  Shards, batches and days merge in any order to the same integers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.errors import MismatchError, ParameterError


@dataclass(frozen=True, eq=False)
class Tally:
    """Named integer arrays over a number of users.

    ``key`` names the mechanism and its settings: only tallies of the same mechanism add.
    """

    key: str
    users: int
    counts: Mapping[str, Ints]

    def __post_init__(self) -> None:
        if self.users < 0:
            raise ParameterError(f"`users` of a tally must be at least 0, not {self.users}")
        for name, array in self.counts.items():
            if array.dtype != np.int64:
                raise ParameterError(f"`{name}` of a tally must be int64, not {array.dtype}")

    def __add__(self, other: "Tally") -> "Tally":
        if self.key != other.key or self.shape != other.shape:
            raise MismatchError("tallies of different mechanisms do not add")
        merged = {name: array + other.counts[name] for name, array in self.counts.items()}
        return Tally(self.key, self.users + other.users, merged)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return False
        if (self.key, self.users, self.shape) != (other.key, other.users, other.shape):
            return False
        return all(np.array_equal(array, other.counts[name]) for name, array in self.counts.items())

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    @property
    def shape(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every array by name."""
        return {name: array.shape for name, array in sorted(self.counts.items())}

    def __getitem__(self, name: str) -> Ints:
        return self.counts[name]
