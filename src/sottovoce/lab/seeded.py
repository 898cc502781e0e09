"""Reproducible randomness for simulations and tests; no client can import it."""

import numpy as np

from sottovoce.arrays import Longs
from sottovoce.core.rng import Rng


class SeededRng(Rng):
    """The stream of a NumPy bit generator: the same seed, the same draws."""

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        self.generator = np.random.Generator(np.random.SFC64(seed))

    def bytes(self, count: int) -> "bytes | bytearray":
        return self.longs(-(-count // 8)).tobytes()[:count]

    def longs(self, count: int) -> Longs:
        return self.generator.integers(0, 1 << 64, count, dtype=np.uint64)
