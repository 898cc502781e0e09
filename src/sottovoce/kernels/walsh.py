"""The Walsh-Hadamard transform compiled: radix 4, in place, in blocks that fit the cache.

Equal to ``sottovoce.maths.walsh.transform`` on integers; 32-bit ones wrap, so the caller bounds their absolute sum.

Source: docs/affine-response.md.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import ParameterError
from sottovoce.kernels import jit
from sottovoce.maths.walsh import check_length

OUTER = 1 << 16  # elements that fit the second level of the cache
INNER = 1 << 12  # elements that fit the first level
BASE = 1 << 4  # elements whose butterflies are narrower than a register


def transform(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array itself, its last axis transformed: contiguous int32, int64 or float64."""
    if array.dtype.name not in ("int32", "int64", "float64") or not array.flags.c_contiguous:
        raise ParameterError("the compiled transform takes contiguous arrays of int32, int64 or float64")
    length = check_length(array.shape[-1])
    transform_rows(array.reshape(-1, length))
    return array


@jit
def _radix_two(x: npt.NDArray[Any], step: int) -> None:
    """The butterflies of elements ``step`` apart."""
    kind = x.dtype.type
    for start in range(0, len(x), 2 * step):
        for offset in range(step):
            i, j = np.uint64(start + offset), np.uint64(start + offset + step)
            x[i], x[j] = kind(x[i] + x[j]), kind(x[i] - x[j])


@jit
def _radix_four(x: npt.NDArray[Any], step: int) -> None:
    """The butterflies of elements ``step`` and ``2 * step`` apart, in one pass."""
    kind = x.dtype.type
    for start in range(0, len(x), 4 * step):
        for offset in range(step):
            i = np.uint64(start + offset)  # unsigned: no test for indices that count from the end
            j, k, m = i + np.uint64(step), i + np.uint64(2 * step), i + np.uint64(3 * step)
            a, b, c, d = x[i], x[j], x[k], x[m]
            ab, ba, cd, dc = kind(a + b), kind(a - b), kind(c + d), kind(c - d)
            x[i], x[j], x[k], x[m] = kind(ab + cd), kind(ba + dc), kind(ab - cd), kind(ba - dc)


@jit
def _descend(x: npt.NDArray[Any], floor: int) -> None:
    """Every butterfly at least ``floor`` wide; what is left are independent blocks of ``floor``."""
    span = len(x)
    while span > floor:
        if span == 2 * floor:
            _radix_two(x, span // 2)
            span //= 2
        else:
            _radix_four(x, span // 4)
            span //= 4


@jit
def _finish(x: npt.NDArray[Any]) -> None:
    """A block that is in the cache; the last two steps are written out so that their lengths are constants."""
    if len(x) < BASE:
        _descend(x, 1)
        return
    _descend(x, BASE)
    _radix_four(x, 4)
    _radix_four(x, 1)


@jit
def transform_rows(rows: npt.NDArray[Any]) -> None:
    """Every row in place: wide butterflies first, then ever smaller blocks while they are in the cache."""
    for row in rows:
        _descend(row, OUTER)
        for outer in range(0, len(row), OUTER):
            block = row[outer : outer + OUTER]
            _descend(block, INNER)
            for inner in range(0, len(block), INNER):
                _finish(block[inner : inner + INNER])
