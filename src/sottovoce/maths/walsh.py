"""The Walsh-Hadamard transform in Sylvester order: every signed sum ``sum_v (-1)^popcount(u & v) x_v`` at once.

Exact on integers and not normalised, so applying it twice multiplies by the length.  For long vectors of
reports prefer the compiled twin in ``kernels.walsh``.

Source: docs/affine-response.md.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import ParameterError


def transform(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """The transform of the last axis, as a new array; integers of any width become 64-bit ones.

    >>> transform([1, 0, 0, 2]).tolist()
    [3, -1, -1, 3]
    """
    given = np.asarray(array)
    result = np.array(given, np.float64 if given.dtype.kind == "f" else np.int64, order="C")
    length = check_length(result.shape[-1])
    step = 1
    while step < length:
        pairs = result.reshape(-1, 2, step)
        total = pairs[:, 0] + pairs[:, 1]
        np.subtract(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
        pairs[:, 0] = total
        step *= 2
    return result


def check_length(length: int) -> int:
    """The length itself, if it is a power of two."""
    if length < 1 or length & (length - 1):
        raise ParameterError(f"the length of a Walsh-Hadamard transform is a power of two, not {length}")
    return length
