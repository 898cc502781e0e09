"""Bits: values of a fixed number of bits, such as identifiers, hashes and addresses.

Choose it for whole numbers that are too many to list, up to 2^480 of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain, refuse_empty_cells, whole_numbers
from sottovoce.errors import DomainError
from sottovoce.maths.hashing import MAX_INTEGER_BITS, indices_of

MAX_BITS = 480


@dataclass(frozen=True)
class Bits(Domain, kind="bits"):
    """Whole numbers below 2^bits; the first bit is the most significant one.

    >>> Bits(48).indices([0, 255])
    array([  0, 255])
    """

    bits: int

    def __post_init__(self) -> None:
        settings.whole("bits", self.bits, 2, MAX_BITS)

    @property
    def size(self) -> int:
        return 1 << self.bits

    @property
    def value_bits(self) -> int:
        return self.bits

    def indices(self, values: Iterable[Any]) -> Values:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1:
            return self._array_indices(values)
        listed = list(values)
        if not all(_is_whole(value) and 0 <= value < self.size for value in listed):
            raise self._refusal()
        return indices_of([int(value) for value in listed], self.bits)

    def _array_indices(self, numbers: Values) -> Values:
        """Return the indices of an integer array without a loop over its entries."""
        if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >> self.bits):
            raise self._refusal()
        if self.bits <= MAX_INTEGER_BITS:
            return numbers.astype(np.int64)
        rows = np.zeros((len(numbers), -(-self.bits // 32)), np.uint32)
        longs = numbers.astype(np.uint64)
        rows[:, 0] = longs & np.uint64(0xFFFFFFFF)
        rows[:, 1] = longs >> np.uint64(32)
        return rows

    def _refusal(self) -> DomainError:
        return DomainError(f"a value must be a whole number from 0 to 2^{self.bits} - 1")

    def random_value(self, rng: Rng) -> Values:
        return random_bits(self.bits, rng)

    def label(self, number: int) -> str:
        """Return a value as people write it: in hexadecimal."""
        return f"0x{number:0{-(-self.bits // 4)}x}"

    def shown(self, number: int) -> str:
        """Return a value as it may be printed."""
        return self.label(number)

    def possible(self, prefix: int, length: int) -> bool:
        """Return whether some value begins with this prefix of ``length`` bits: always true."""
        return True

    @property
    def endings(self) -> dict[int, float]:
        """Return after how many bits a value may be known whole, and how likely: after all."""
        return {self.bits: 1.0}

    def finished(self, prefixes: Sequence[int], extension: int, length: int) -> Bools:
        """Return which extensions of prefixes to ``length`` bits are whole values, in order."""
        return np.full(len(prefixes) << extension, length == self.bits)

    short_forms = (frozenset({"bits"}),)

    def statement_facts(self) -> dict[str, Any]:
        return {"bits": self.bits}

    @property
    def described(self) -> str:
        return f"a value of {self.bits} bits"

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        refuse_empty_cells(name, cells, "leave out the people who hold nothing")
        numbers = f"whole numbers of {self.bits} bits, 0x before hexadecimal ones"
        rule = f"column {name!r} must hold {numbers}"
        return whole_numbers(cells, rule)

    def counts(self, indices: Values, labels: Iterable[str] | None = None) -> dict[str, int]:
        return counts_of_long_values(indices, self.shown, labels)


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def random_bits(bits: int, rng: Rng) -> Values:
    """Return one uniformly random index of so many bits."""
    drawn = int.from_bytes(bytes(rng.bytes(-(-bits // 8))), "little")
    return indices_of([drawn & ((1 << bits) - 1)], bits)


def counts_of_long_values(
    indices: Values, shown: Callable[[int], str], labels: Iterable[str] | None
) -> dict[str, int]:
    """Return how many people hold each labelled value, or every value that somebody holds."""
    different, totals = np.unique(indices, axis=0, return_counts=True)
    if indices.ndim == 1:
        numbers = different.tolist()
    else:
        numbers = [int.from_bytes(words.tobytes(), "little") for words in different]
    count_of = {
        shown(number): count for number, count in zip(numbers, totals.tolist(), strict=True)
    }
    return count_of if labels is None else {label: count_of.get(label, 0) for label in labels}
