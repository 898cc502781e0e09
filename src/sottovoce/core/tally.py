"""Sums over reports.  They add: shards, batches and days merge in any order to the same integers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.errors import MismatchError, ParameterError


@dataclass(frozen=True, eq=False)
class Tally:
    """Named integer arrays and the number of users in them, under the key of the mechanism that made them."""

    key: str
    users: int
    counts: Mapping[str, Ints]

    def __post_init__(self) -> None:
        if self.users < 0 or any(array.dtype != np.int64 for array in self.counts.values()):
            raise ParameterError("a tally holds 64-bit integers of a non-negative number of users")

    def __add__(self, other: "Tally") -> "Tally":
        if self.key != other.key or self.shape != other.shape:
            raise MismatchError("tallies of different mechanisms do not add")
        merged = {name: array + other.counts[name] for name, array in self.counts.items()}
        return Tally(self.key, self.users + other.users, merged)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally) or (self.key, self.users, self.shape) != (other.key, other.users, other.shape):
            return False
        return all(np.array_equal(array, other.counts[name]) for name, array in self.counts.items())

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    @property
    def shape(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every array by name."""
        return {name: array.shape for name, array in sorted(self.counts.items())}

    def __getitem__(self, name: str) -> Ints:
        return self.counts[name]
