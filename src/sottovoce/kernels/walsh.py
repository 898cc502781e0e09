"""The Walsh-Hadamard transform compiled: radix 4, in place, in blocks that fit the cache.

Equal to ``sottovoce.maths.walsh.transform`` on integers.  32-bit integers wrap around, so the
caller must bound their absolute sum.

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

_DTYPES = ("int32", "int64", "float64")


def transform(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array itself, its last axis transformed in place."""
    if array.dtype.name not in _DTYPES:
        raise ParameterError(
            f"the compiled transform needs one of {', '.join(_DTYPES)}, not {array.dtype}"
        )
    if not array.flags.c_contiguous:
        raise ParameterError("the compiled transform needs a contiguous array")
    length = check_length(array.shape[-1])
    transform_rows(array.reshape(-1, length))
    return array


@jit
def _radix_two(x: npt.NDArray[Any], step: int) -> None:
    """Apply the butterflies of elements ``step`` apart: (a, b) becomes (a + b, a - b)."""
    kind = x.dtype.type
    for start in range(0, len(x), 2 * step):
        for offset in range(step):
            i = np.uint64(start + offset)
            j = np.uint64(start + offset + step)
            x[i], x[j] = kind(x[i] + x[j]), kind(x[i] - x[j])


@jit
def _radix_four(x: npt.NDArray[Any], step: int) -> None:
    """Apply the butterflies of elements ``step`` and ``2 * step`` apart, in one pass."""
    kind = x.dtype.type
    for start in range(0, len(x), 4 * step):
        for offset in range(step):
            i = np.uint64(start + offset)  # unsigned: no test for indices that count from the end
            j = i + np.uint64(step)
            k = i + np.uint64(2 * step)
            m = i + np.uint64(3 * step)
            a, b, c, d = x[i], x[j], x[k], x[m]
            ab, ba = kind(a + b), kind(a - b)
            cd, dc = kind(c + d), kind(c - d)
            x[i], x[j] = kind(ab + cd), kind(ba + dc)
            x[k], x[m] = kind(ab - cd), kind(ba - dc)


@jit
def _descend(x: npt.NDArray[Any], floor: int) -> None:
    """Apply every butterfly at least ``floor`` wide: independent blocks of ``floor`` are left."""
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
    """Transform a block that is in the cache.

    The last two steps are written out so that their lengths are constants for the compiler.
    """
    if len(x) < BASE:
        _descend(x, 1)
        return
    _descend(x, BASE)
    _radix_four(x, 4)
    _radix_four(x, 1)


@jit
def transform_rows(rows: npt.NDArray[Any]) -> None:
    """Transform every row in place: wide butterflies first, then blocks while they are cached."""
    for row in rows:
        _descend(row, OUTER)
        for outer in range(0, len(row), OUTER):
            block = row[outer : outer + OUTER]
            _descend(block, INNER)
            for inner in range(0, len(block), INNER):
                _finish(block[inner : inner + INNER])
