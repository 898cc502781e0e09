"""Rows of bits in which wanted positions are set, filled up with random ones."""

import numpy as np

from sottovoce.arrays import Bools, Values
from sottovoce.core.rng import Rng


def bits_with(wanted: Values, ones: int, size: int, rng: Rng) -> Bools:
    """Return (rows, size) bits, ``ones`` of every row set: those of its ``wanted`` positions first.

    If there are more wanted positions than ones, a random part of them is set.
    """
    rows = len(wanted)
    # Uniform lots put the positions in a random order; wanted positions come before all others.
    lots = rng.words(rows * size).reshape(rows, size).astype(np.int64)
    np.put_along_axis(lots, wanted, np.take_along_axis(lots, wanted, axis=1) - (1 << 32), axis=1)
    bits = np.zeros((rows, size), bool)
    if ones >= size:
        return ~bits
    chosen = np.argpartition(lots, ones, axis=1)[:, :ones]
    np.put_along_axis(bits, chosen, True, axis=1)
    return bits
