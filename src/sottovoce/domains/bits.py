"""Values of a fixed number of bits: identifiers, hashes, addresses."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain, refuse_empty_cells, whole_numbers
from sottovoce.errors import DomainError, ParameterError
from sottovoce.maths.hashing import LONGEST as INTEGER
from sottovoce.maths.hashing import indices_of

LONGEST = 480


@dataclass(frozen=True)
class Bits(Domain, kind="bits"):
    """Whole numbers below 2^bits; the first bit is the most significant one.

    >>> Bits(48).indices([0, 255])
    array([  0, 255])
    """

    bits: int

    def __post_init__(self) -> None:
        if type(self.bits) is not int or not 2 <= self.bits <= LONGEST:
            raise ParameterError(f"a value has from 2 to {LONGEST} bits")

    @property
    def size(self) -> int:
        return 1 << self.bits

    def indices(self, values: Iterable[Any]) -> Values:
        held = values if isinstance(values, np.ndarray) else list(values)
        if isinstance(held, np.ndarray) and held.dtype.kind in "iu" and held.ndim == 1:
            return self._numbers(held)
        if not all(_whole(value) and 0 <= value < self.size for value in held):
            raise DomainError(f"a value must be a whole number from 0 to 2^{self.bits} - 1")
        return indices_of([int(value) for value in held], self.bits)

    def _numbers(self, held: Values) -> Values:
        low, high = (int(held.min()), int(held.max())) if len(held) else (0, 0)
        if low < 0 or high >> self.bits:
            raise DomainError(f"a value must be a whole number from 0 to 2^{self.bits} - 1")
        if self.bits <= INTEGER:
            return held.astype(np.int64)
        rows = np.zeros((len(held), -(-self.bits // 32)), np.uint32)
        rows[:, 0], rows[:, 1] = held.astype(np.uint64) & np.uint64(0xFFFFFFFF), held.astype(np.uint64) >> np.uint64(32)
        return rows

    def random_value(self, rng: Rng) -> Values:
        return random_bits(self.bits, rng)

    def label(self, number: int) -> str:
        """Return a value as people write it: in hexadecimal."""
        return f"0x{number:0{-(-self.bits // 4)}x}"

    def shown(self, number: int) -> str:
        """Return a value as it may be printed."""
        return self.label(number)

    def possible(self, prefix: int, length: int) -> bool:
        """Return whether some value begins with this prefix of so many bits: any may."""
        return True

    short_forms = (frozenset({"bits"}),)

    @property
    def described(self) -> str:
        return f"a value of {self.bits} bits"

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        refuse_empty_cells(name, cells, "leave out the people who hold nothing")
        rule = f"column {name!r} must hold whole numbers of {self.bits} bits, 0x before hexadecimal ones"
        return whole_numbers(cells, rule)

    def counts(self, indices: Values, labels: Iterable[str] | None = None) -> dict[str, int]:
        return counts_of_long_values(indices, self.shown, labels)


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def random_bits(bits: int, rng: Rng) -> Values:
    """Return one uniformly random index of so many bits."""
    return indices_of([int.from_bytes(bytes(rng.bytes(-(-bits // 8))), "little") & ((1 << bits) - 1)], bits)


def counts_of_long_values(indices: Values, shown: Callable[[int], str], labels: Iterable[str] | None) -> dict[str, int]:
    """Return how many people hold each labelled value, or every value that somebody holds."""
    different, totals = np.unique(indices, axis=0, return_counts=True)
    if indices.ndim == 1:
        numbers = different.tolist()
    else:
        numbers = [int.from_bytes(words.tobytes(), "little") for words in different]
    count_of = {shown(number): count for number, count in zip(numbers, totals.tolist(), strict=True)}
    return count_of if labels is None else {label: count_of.get(label, 0) for label in labels}
