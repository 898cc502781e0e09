"""A segment of a long value together with a public hash of the whole value, its channel.

The multiple channel method reports it: the segments of one channel, put together, spell out its
most frequent value.  Values that share a channel are taken for one, so there should be many more
channels than values that are sought.

Source: Wang 2021, section 4.1.2.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.core.rng import Rng
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.segment import Segment, check_bits
from sottovoce.errors import ParameterError
from sottovoce.maths import hashing

MAX_CHANNELS = 1 << 16


@dataclass(frozen=True)
class ChannelSegment(Encoding, kind="channel", wire=False):
    """Yield channel * 2^length + the bits from ``start`` to ``start + length`` of ``bits``."""

    bits: int
    channels: int
    start: int
    length: int

    def __post_init__(self) -> None:
        whole("channels", self.channels, 2, MAX_CHANNELS)
        longest = hashing.MAX_INTEGER_BITS
        whole("length", self.segment.length, 1, longest)
        if self.channels << self.length > 1 << longest:
            raise ParameterError(
                f"`channels` and `length` must give indices of at most {longest} bits"
            )

    @property
    def segment(self) -> Segment:
        """Return the encoding of the segment alone."""
        return Segment(self.bits, self.start, self.length)

    def __call__(self, values: Values, rng: Rng) -> Values:
        channel = channel_of(values, self.bits, self.channels)
        return channel << self.length | self.segment(values, rng)

    def outputs(self, domain: Domain) -> int:
        check_bits(domain, self.bits)
        return self.channels << self.length


def channel_of(values: Values, bits: int, channels: int) -> Ints:
    """Return the channel of every value of ``bits`` bits."""
    hashes = hashing.xxh32(hashing.words_of(values, bits), 0)
    return hashing.bucket(hashes, channels).astype(np.int64)
