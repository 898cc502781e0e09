"""Integers: whole numbers between two bounds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core import settings
from sottovoce.domains.base import (
    DECLINED,
    Cells,
    Domain,
    NumberCells,
    ValueType,
    flat_array,
    refuse_empty_cells,
    whole_numbers,
)
from sottovoce.domains.real_range import MAX_REAL_BYTES
from sottovoce.errors import DomainError, ParameterError

_EXACT = 1 << 53  # whole numbers that documents hold as numbers


@dataclass(frozen=True)
class Integers(Domain, kind="integers"):
    """Whole numbers from ``low`` to ``high``, both included.

    >>> Integers(18, 99).indices([18, 20])
    array([0, 2])
    """

    declinable: ClassVar[bool] = False  # no number can stand for not wanting to say

    low: int
    high: int

    def __post_init__(self) -> None:
        settings.whole("low", self.low)
        settings.whole("high", self.high, self.low + 1)

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def labels(self) -> tuple[str, ...]:
        """Return every number as text."""
        return tuple(str(number) for number in range(self.low, self.high + 1))

    def indices(self, values: Iterable[Any]) -> Ints:
        numbers = flat_array(values)
        if not len(numbers):
            return np.array([], np.int64)
        if numbers.dtype.kind not in "iu" or not self._covers(numbers):
            raise DomainError(f"a value must be a whole number from {self.low} to {self.high}")
        return np.asarray(numbers.astype(np.int64) - self.low)

    def known_indices(self, values: Iterable[Any]) -> list[int]:
        """Return the indices of the numbers within the bounds, in order; others are left out."""
        listed = list(values)
        if not all(type(value) is int or isinstance(value, np.integer) for value in listed):
            raise DomainError("an item of this set must be a whole number")
        return [int(value) - self.low for value in listed if self.low <= value <= self.high]

    def _covers(self, numbers: Any) -> bool:
        return int(numbers.min()) >= self.low and int(numbers.max()) <= self.high

    listed = True
    ordered = True
    binnable = True
    short_forms = (frozenset({"low", "high"}),)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def described(self) -> str:
        return f"a whole number from {self.low:,} to {self.high:,}"

    @property
    def value_type(self) -> ValueType:
        return "number"

    def number_cells(self) -> NumberCells:
        numbers = np.arange(self.low, self.high + 1, dtype=np.float64)
        return NumberCells(numbers, numbers, numbers)

    def compared_values(self) -> Ints:
        return np.arange(self.low, self.high + 1)  # exactly, however large

    @property
    def max_public_bytes(self) -> int:
        if max(abs(self.low), abs(self.high)) >= _EXACT:
            raise ParameterError("public whole numbers lie between -2^53 and 2^53")
        return MAX_REAL_BYTES

    def public_value(self, value: Any) -> int:
        return int(value)

    def label_at(self, index: int) -> str:
        return str(self.low + index)

    def value_at(self, index: int) -> int:
        return self.low + index

    def statement_facts(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    @property
    def edges(self) -> Floats:
        return np.arange(self.low, self.high + 2, dtype=np.float64) - 0.5

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        refuse_empty_cells(
            name, cells, f"leave out these people, or count them as {DECLINED!r} (--decline)"
        )
        return whole_numbers(
            cells, f"column {name!r} must hold whole numbers from {self.low} to {self.high}"
        )
