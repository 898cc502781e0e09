"""Compiled loops, each equal to a plain NumPy twin in the tests.

They are imported only inside the functions that decode, so that a client never loads Numba.  Loops
release the interpreter's lock and are run on threads by ``pool``.  Never compile with
``parallel=True``, which aborts a threaded server, and never with ``fastmath``, which would make
sums depend on the machine.
"""

from collections.abc import Callable
from typing import Any

from sottovoce.errors import MissingExtraError

try:
    import numba
except ImportError as missing:
    raise MissingExtraError(
        "decoding reports needs Numba: pip install 'sottovoce[server]'"
    ) from missing


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function compiled on first use, and kept on disk where a directory can be written.

    A kept function is compiled again when its own file changes, but not when a file that it calls
    into does: delete ``__pycache__`` after editing a kernel that others use.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except (RuntimeError, OSError):  # "cannot cache function": no directory is writable
        return numba.njit(nogil=True)(function)
