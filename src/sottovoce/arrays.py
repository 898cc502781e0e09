"""Names for the arrays that cross module boundaries, and the grouping of array positions by key.

A name says what the entries are.  Where the shape matters it is given in words, as in
``(reports, candidates)``.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint32]
Longs: TypeAlias = npt.NDArray[np.uint64]

# One domain index per user.  An index of more than 63 bits is a row of 32-bit words, low word
# first.
Values: TypeAlias = npt.NDArray[Any]

# One row per user, in the dtype that the mechanism chose.
Reports: TypeAlias = npt.NDArray[Any]


def grouped(keys: Ints) -> list[tuple[int, Ints]]:
    """Return every distinct key with the positions that hold it, both in ascending order.

    >>> [(key, positions.tolist()) for key, positions in grouped(np.array([5, 2, 5]))]
    [(2, [1]), (5, [0, 2])]
    """
    if not len(keys):
        return []
    if keys.min() >= 0 and keys.max() <= np.iinfo(np.uint16).max:
        keys = keys.astype(np.uint16)  # which NumPy sorts several times as fast
    order = np.argsort(keys, kind="stable")
    boundaries = np.flatnonzero(np.diff(keys[order])) + 1
    return [(int(keys[positions[0]]), positions) for positions in np.split(order, boundaries)]
