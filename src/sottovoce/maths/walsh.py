"""The Walsh-Hadamard transform in Sylvester order.

The transform of x is the vector of all signed sums

    y_u = sum over v of (-1)^popcount(u & v) x_v

computed in n log2(n) additions.  It is exact on integers and not normalised: applying it twice
multiplies by the length.  For long vectors prefer the compiled twin in ``kernels.walsh``.

Source: docs/affine-response.md.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import ParameterError


def transform(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the transform of the last axis as a new array, of float64 or int64.

    >>> transform([1, 0, 0, 2]).tolist()
    [3, -1, -1, 3]
    """
    given = np.asarray(array)
    result = np.array(given, np.float64 if given.dtype.kind == "f" else np.int64, order="C")
    length = check_length(result.shape[-1])
    step = 1
    while step < length:
        pairs = result.reshape(-1, 2, step)
        sums = pairs[:, 0] + pairs[:, 1]
        np.subtract(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
        pairs[:, 0] = sums
        step *= 2
    return result


def check_length(length: int) -> int:
    """Return the length of a transform, or refuse one that is not a power of two."""
    if length < 1 or length & (length - 1):
        raise ParameterError(f"the length of a transform must be a power of two, not {length}")
    return length
