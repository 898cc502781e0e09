"""A piece of a long value together with a public hash of the whole of it: what the multiple channel
method reports.

Values that share a channel are taken for one, so choose many more channels than values are sought.

Source: Wang 2021, section 4.1.2.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.segment import Segment, check_bits
from sottovoce.errors import ParameterError
from sottovoce.maths import hashing

MOST_CHANNELS = 1 << 16


@dataclass(frozen=True)
class Channel(Encoding, kind="channel"):
    """Yield channel * 2^length + bits ``start`` to ``start + length`` of ``bits``."""

    bits: int
    channels: int
    start: int
    length: int

    def __post_init__(self) -> None:
        if type(self.channels) is not int or not 2 <= self.channels <= MOST_CHANNELS:
            raise ParameterError(f"there are from 2 to {MOST_CHANNELS} channels")
        if (
            self.segment.length > hashing.MAX_INTEGER_BITS
            or self.channels << self.length > 1 << hashing.MAX_INTEGER_BITS
        ):
            raise ParameterError(
                f"a channel and a piece of a value have at most {hashing.MAX_INTEGER_BITS} bits together"
            )

    @property
    def segment(self) -> Segment:
        """Return the piece of the value, or refuse one that lies outside of it."""
        return Segment(self.bits, self.start, self.length)

    def __call__(self, values: Values, rng: Rng) -> Values:
        return channel_of(values, self.bits, self.channels) << self.length | self.segment(values, rng)

    def outputs(self, domain: Domain) -> int:
        check_bits(domain, self.bits)
        return self.channels << self.length


def channel_of(values: Values, bits: int, channels: int) -> Ints:
    """Return the channel of every value of so many bits; frozen, and alike in every language."""
    hashes = hashing.xxh32(hashing.words_of(values, bits), 0)
    return hashing.bucket(hashes, channels).astype(np.int64)
