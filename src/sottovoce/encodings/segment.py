"""A piece of a long value: a prefix for the prefix extending method, a segment or a block for the others."""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Segment(Encoding, kind="segment"):
    """Keep bits ``start`` to ``start + length`` of ``bits``; bit 0 is the first, the most significant."""

    bits: int
    start: int
    length: int

    def __post_init__(self) -> None:
        numbers = (self.bits, self.start, self.length)
        if not all(type(number) is int for number in numbers) or not 0 <= self.start < self.end <= self.bits:
            raise ParameterError("a segment begins within a value, has at least one bit and ends within it")

    @property
    def end(self) -> int:
        """Return the bit after the last."""
        return self.start + self.length

    def __call__(self, values: Values, rng: Rng) -> Values:
        return cut(values, self.bits - self.end, self.length)

    def outputs(self, domain: Domain) -> int:
        check_bits(domain, self.bits)
        return 1 << self.length


def check_bits(domain: Domain, bits: int) -> None:
    """Refuse a domain of other values than those of so many bits."""
    if not isinstance(domain, (Bits, Strings)) or domain.bits != bits:
        raise ParameterError("this question asks for a piece of a value of another length than the domain has")


def cut(values: Values, shift: int, length: int) -> Values:
    """Return the ``length`` bits above the lowest ``shift`` ones, of integers or of rows of 32-bit words."""
    if values.ndim == 1:
        return values >> shift & ((1 << length) - 1)
    words, bits = divmod(shift, 32)
    padded = np.pad(values[:, words:], ((0, 0), (0, 2))).astype(np.uint64)
    moved = (padded[:, :-1] | padded[:, 1:] << np.uint64(32)) >> np.uint64(bits) & np.uint64(0xFFFFFFFF)
    width = -(-length // 32)
    kept = moved[:, :width]
    kept[:, -1] &= np.uint64((1 << (length - 32 * (width - 1))) - 1)
    if length > 63:
        return kept.astype(np.uint32)
    high = kept[:, 1] << np.uint64(32) if width == 2 else np.uint64(0)
    return (kept[:, 0] | high).astype(np.int64)
