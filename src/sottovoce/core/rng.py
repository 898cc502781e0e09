"""Sources of random words, and the two draws that every randomiser is made of.

On devices the words come from the operating system (``SystemRng``).  Seeded sources exist only in
the laboratory and in tests, where no client can reach them.  How words are consumed never changes,
so that a recorded stream replays in any language:

* ``bernoulli`` takes one 64-bit little-endian word per draw and compares it with a threshold.
* ``integers`` takes one 32-bit little-endian word per draw if the limit is below 2^32.  It
  multiplies the word by the limit and keeps the high half.  A word whose low half would favour some
  outcome is rejected, and drawn again after all other draws of the same call.
* ``integers`` with a larger limit takes one 64-bit word per draw, cuts it to the bits of the limit,
  and draws again what is not below the limit.

``coin``, ``integer``, ``word`` and ``long`` make the same draws one at a time, in plain integers.
"""

import hashlib
import hmac
import os
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np

from sottovoce.arrays import Bools, Ints, Longs, Words
from sottovoce.errors import ParameterError

_CHUNK = 1 << 20  # bytes asked of the operating system at once: they stay in the cache
_BLOCK_BYTES = 32  # of SHA-256
_LOW_WORD = (1 << 32) - 1


class Rng(ABC):
    """A stream of random bytes, read as little-endian words."""

    @abstractmethod
    def bytes(self, count: int) -> bytes | bytearray:
        """Return the next bytes of the stream."""

    def words(self, count: int) -> Words:
        """Return uniform 32-bit words."""
        return np.frombuffer(self.bytes(4 * count), "<u4")

    def longs(self, count: int) -> Longs:
        """Return uniform 64-bit words."""
        return np.frombuffer(self.bytes(8 * count), "<u8")

    def bernoulli(self, threshold: int, count: int) -> Bools:
        """Return independent coins, each true with probability ``threshold`` / 2^64."""
        return self.longs(count) < np.uint64(threshold)

    def integers(self, limit: int, count: int) -> Ints:
        """Return integers uniform in [0, limit), without bias."""
        if not 1 <= limit <= 1 << 63:
            raise ParameterError(f"`limit` must be a whole number from 1 to 2^63, not {limit}")
        draw = self._below_word if limit < 1 << 32 else self._below_long
        drawn, fair = draw(limit, count)
        while not fair.all():
            again = np.flatnonzero(~fair)
            drawn[again], fair[again] = draw(limit, len(again))
        return drawn

    def below(self, limits: Ints) -> Ints:
        """Return one integer uniform in [0, limit) for every limit below 2^32, without bias."""
        if len(limits) and not 1 <= int(limits.min()) <= int(limits.max()) < 1 << 32:
            raise ParameterError("each entry of `limits` must be a whole number from 1 to 2^32 - 1")
        drawn = np.zeros(len(limits), np.int64)
        open_draws = np.arange(len(limits))
        while len(open_draws):
            open_limits = limits[open_draws]
            product = self.words(len(open_draws)).astype(np.uint64) * open_limits.astype(np.uint64)
            drawn[open_draws] = product >> np.uint64(32)
            biased = product.astype(np.uint32) < (1 << 32) % open_limits
            open_draws = open_draws[biased]
        return drawn

    def word(self) -> int:
        """Return one uniform 32-bit word, as ``words`` would."""
        return int.from_bytes(self.bytes(4), "little")

    def long(self) -> int:
        """Return one uniform 64-bit word, as ``longs`` would."""
        return int.from_bytes(self.bytes(8), "little")

    def coin(self, threshold: int) -> bool:
        """Return one coin, as ``bernoulli`` would."""
        return int.from_bytes(self.bytes(8), "little") < threshold

    def integer(self, limit: int) -> int:
        """Return one integer uniform in [0, limit), as ``integers`` would."""
        if not 1 <= limit <= 1 << 63:
            raise ParameterError(f"`limit` must be a whole number from 1 to 2^63, not {limit}")
        if limit >= 1 << 32:
            return self._integer_of_long(limit)
        product = int.from_bytes(self.bytes(4), "little") * limit
        while product & _LOW_WORD < (1 << 32) % limit:
            product = int.from_bytes(self.bytes(4), "little") * limit
        return product >> 32

    def integers_one_by_one(self, limits: Iterable[int], count: int) -> Iterator[int]:
        """Yield one integer below each of ``count`` limits below 2^32, as ``integer`` would.

        The words that are needed at least are read at once.
        """
        words = self._ahead(count)
        for limit in limits:
            product = next(words) * limit
            while product & _LOW_WORD < (1 << 32) % limit:
                product = next(words) * limit
            yield product >> 32

    def _ahead(self, count: int) -> Iterator[int]:
        yield from struct.unpack(f"<{count}I", self.bytes(4 * count))
        while True:  # words that were drawn again
            yield self.word()

    def _integer_of_long(self, limit: int) -> int:
        low_bits = (1 << (limit - 1).bit_length()) - 1
        drawn = self.long() & low_bits
        while drawn >= limit:
            drawn = self.long() & low_bits
        return drawn

    def _below_word(self, limit: int, count: int) -> tuple[Ints, Bools]:
        product = self.words(count).astype(np.uint64) * np.uint64(limit)
        fair = product.astype(np.uint32) >= np.uint32((1 << 32) % limit)
        return (product >> np.uint64(32)).astype(np.int64), fair

    def _below_long(self, limit: int, count: int) -> tuple[Ints, Bools]:
        # Masking to the next power of two needs no 128-bit product; fewer than half are redrawn.
        drawn = self.longs(count) & np.uint64((1 << (limit - 1).bit_length()) - 1)
        return drawn.astype(np.int64), drawn < np.uint64(limit)


class SystemRng(Rng):
    """The cryptographic randomness of the operating system: the only source that devices use."""

    def bytes(self, count: int) -> bytes | bytearray:
        if count <= _CHUNK:
            return os.urandom(count)
        stream = bytearray(count)
        for start in range(0, count, _CHUNK):
            stream[start : start + _CHUNK] = os.urandom(min(_CHUNK, count - start))
        return stream


class KeyedRng(Rng):
    """A pseudo-random stream fixed by a secret and a context.

    A device that draws its permanent response from such a stream need not store the response.
    Block number c of the stream is

        HMAC-SHA-256(secret, "sottovoce/prr/v1" | context | c as 4 little-endian bytes)
    """

    def __init__(self, secret: "bytes", context: "bytes") -> None:
        if len(secret) < 16:
            raise ParameterError(f"`secret` must have at least 16 bytes, not {len(secret)}")
        self._secret = secret
        self._prefix = b"sottovoce/prr/v1" + context
        self._counter = 0
        self._rest = b""

    def bytes(self, count: int) -> "bytes | bytearray":
        missing = max(0, count - len(self._rest))
        numbers = range(self._counter, self._counter + -(-missing // _BLOCK_BYTES))
        blocks = [_block(self._secret, self._prefix, number) for number in numbers]
        stream = b"".join([self._rest, *blocks])
        self._counter = numbers.stop
        self._rest = stream[count:]
        return stream[:count]


def _block(secret: bytes, prefix: bytes, number: int) -> bytes:
    return hmac.digest(secret, prefix + number.to_bytes(4, "little"), hashlib.sha256)
