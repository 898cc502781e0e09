"""Names for the arrays that cross module boundaries; shapes are said in words where they matter."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint32]
Longs: TypeAlias = npt.NDArray[np.uint64]

Values: TypeAlias = npt.NDArray[
    Any
]  # one domain index per user; (users, words) of 32 bits where an index needs more than 63
Reports: TypeAlias = npt.NDArray[Any]  # one row per user, in the dtype the mechanism chose


def grouped(keys: Ints) -> list[tuple[int, Ints]]:
    """Return every distinct key with the places where it stands, both ascending.

    >>> [(key, places.tolist()) for key, places in grouped(np.array([5, 2, 5]))]
    [(2, [1]), (5, [0, 2])]
    """
    if not len(keys):
        return []
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1
    return [(int(keys[places[0]]), places) for places in np.split(order, ends)]
