"""A random permutation that several parties agree on, none of whom can choose it.

Each party draws a seed of 32 bytes.  All send a commitment first, and the seed only once they hold
everybody's commitment:

    commitment = SHA-256("sottovoce/peos/commit/v1" | context | party as 4 bytes | seed)

The permutation follows from the XOR of all seeds.  SHAKE-256 expands it to a stream, and the
Fisher-Yates shuffle reads swaps from the stream by rejection sampling, without modulo bias.  If one
party is honest, nobody can predict the permutation, and nobody who misses a seed learns it.
"""

import hashlib
from collections.abc import Iterable

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import MismatchError

SEED_BYTES = 32
COMMITMENT_BYTES = 32

_COMMIT_LABEL = b"sottovoce/peos/commit/v1"
_STREAM_LABEL = b"sottovoce/peos/stream/v1"
_BLOCK_BYTES = 1 << 10


def commitment(context: bytes, party: int, seed: bytes) -> bytes:
    """Return what a party sends before its seed; ``context`` names the batch and the round."""
    settings.octets("seed", seed, SEED_BYTES)
    prefix = _COMMIT_LABEL + len(context).to_bytes(4, "little") + context
    return hashlib.sha256(prefix + party.to_bytes(4, "little") + seed).digest()


def check_commitment(expected: bytes, context: bytes, party: int, seed: bytes) -> None:
    """Refuse a seed that is not the one that was committed to."""
    if commitment(context, party, seed) != expected:
        raise MismatchError(f"shuffler {party} revealed another seed than it committed to")


def combined(seeds: Iterable[bytes]) -> bytes:
    """Return the XOR of some seeds."""
    total = 0
    for seed in seeds:
        total ^= int.from_bytes(settings.octets("seed", seed, SEED_BYTES), "little")
    return total.to_bytes(SEED_BYTES, "little")


def permutation(seed: bytes, count: int) -> Ints:
    """Return a uniformly random order of ``count`` positions that follows from a seed.

    >>> sorted(permutation(bytes(32), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    order = list(range(count))
    # Fisher-Yates: position i is swapped with a uniform one of the positions 0 to i.
    limits = np.arange(count, 1, -1)
    targets = SeedStream(seed).below(limits).tolist()
    for position, target in zip(range(count - 1, 0, -1), targets, strict=True):
        order[position], order[target] = order[target], order[position]
    return np.array(order, np.int64)


class SeedStream(Rng):
    """The stream of SHAKE-256 of a seed, in blocks that are numbered."""

    def __init__(self, seed: "bytes") -> None:
        self._prefix = _STREAM_LABEL + settings.octets("seed", seed, SEED_BYTES)
        self._next_block = 0
        self._rest = b""

    def bytes(self, count: int) -> "bytes | bytearray":
        parts = [self._rest]
        missing = count - len(self._rest)
        while missing > 0:
            number = self._next_block.to_bytes(8, "little")
            parts.append(hashlib.shake_256(self._prefix + number).digest(_BLOCK_BYTES))
            self._next_block += 1
            missing -= _BLOCK_BYTES
        stream = b"".join(parts)
        self._rest = stream[count:]
        return stream[:count]
