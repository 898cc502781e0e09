"""Integers: whole numbers between two bounds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.domains.base import DECLINED, Cells, Domain, flat_array, refuse_empty_cells, whole_numbers
from sottovoce.errors import DomainError, ParameterError


@dataclass(frozen=True)
class Integers(Domain, kind="integers"):
    """Whole numbers from ``low`` to ``high``, both included.

    >>> Integers(18, 99).indices([18, 20])
    array([0, 2])
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if type(self.low) is not int or type(self.high) is not int or not self.low < self.high:
            raise ParameterError("a range of integers needs whole numbers low < high")

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(self.low, self.high + 1))

    def indices(self, values: Iterable[Any]) -> Ints:
        held = flat_array(values)
        if not len(held):
            return np.array([], np.int64)
        if held.dtype.kind not in "iu" or int(held.min()) < self.low or int(held.max()) > self.high:
            raise DomainError(f"a value must be a whole number from {self.low} to {self.high}")
        return np.asarray(held.astype(np.int64) - self.low)

    listed = True
    ordered = True
    short_forms = (frozenset({"low", "high"}),)

    @property
    def described(self) -> str:
        return f"a whole number from {self.low:,} to {self.high:,}"

    @property
    def edges(self) -> Floats:
        return np.arange(self.low, self.high + 2, dtype=np.float64) - 0.5

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        refuse_empty_cells(name, cells, f"leave out these people, or count them as {DECLINED!r} (--decline)")
        return whole_numbers(cells, f"column {name!r} must hold whole numbers from {self.low} to {self.high}")
