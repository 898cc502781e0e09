"""A piece of a long value: its prefix, or any run of its bits.

The prefix extending method asks for prefixes, other searches for segments or blocks.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError
from sottovoce.maths.hashing import MAX_INTEGER_BITS


@dataclass(frozen=True)
class Segment(Encoding, kind="segment"):
    """Yield ``length`` bits of a value of ``bits`` bits, from bit ``start`` on.

    Bit 0 is the first one, the most significant.
    """

    bits: int
    start: int
    length: int

    def __post_init__(self) -> None:
        settings.whole("bits", self.bits, 1)
        settings.whole("start", self.start, 0, self.bits - 1)
        settings.whole("length", self.length, 1, self.bits - self.start)

    @property
    def end(self) -> int:
        """Return the bit after the last one."""
        return self.start + self.length

    def __call__(self, values: Values, rng: Rng) -> Values:
        return cut(values, self.bits - self.end, self.length)

    def outputs(self, domain: Domain) -> int:
        check_bits(domain, self.bits)
        return 1 << self.length


def check_bits(domain: Domain, bits: int) -> None:
    """Refuse a domain whose values do not have ``bits`` bits."""
    if domain.value_bits != bits:
        raise ParameterError(
            f"the question asks for a piece of a value of {bits} bits,"
            f" but values of the domain have {domain.value_bits or 'no'} bits"
        )


def cut(values: Values, shift: int, length: int) -> Values:
    """Return the ``length`` bits above the lowest ``shift`` bits of each value.

    Values and results are integers up to 63 bits and rows of 32-bit words beyond.
    """
    if values.ndim == 1:
        return values >> shift & ((1 << length) - 1)
    skipped_words, skipped_bits = divmod(shift, 32)
    # Two zero words at the end, so that every word has a next one to take its high bits from.
    padded = np.pad(values[:, skipped_words:], ((0, 0), (0, 2))).astype(np.uint64)
    pairs = padded[:, :-1] | padded[:, 1:] << np.uint64(32)
    shifted = pairs >> np.uint64(skipped_bits) & np.uint64(0xFFFFFFFF)
    width = -(-length // 32)
    words = shifted[:, :width]
    words[:, -1] &= np.uint64((1 << (length - 32 * (width - 1))) - 1)
    if length > MAX_INTEGER_BITS:
        return words.astype(np.uint32)
    if width == 1:
        return words[:, 0].astype(np.int64)
    return (words[:, 0] | words[:, 1] << np.uint64(32)).astype(np.int64)
