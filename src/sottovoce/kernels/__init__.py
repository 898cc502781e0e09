"""Compiled loops, each equal to a plain NumPy twin; imported only inside the functions that decode.

Loops release the interpreter's lock and are run on threads by ``pool``.  Never ``parallel=True``, which aborts a
threaded server, and never ``fastmath``, which would make sums depend on the machine.
"""

from collections.abc import Callable
from typing import Any

from sottovoce.errors import MissingExtraError

try:
    import numba
except ImportError as missing:
    raise MissingExtraError("decoding reports needs Numba: pip install 'sottovoce[server]'") from missing


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled on first use, kept on disk between processes wherever a directory can be written.

    What is kept is renewed when the function's own file changes, not when a file it calls into does: after
    editing one kernel file delete ``__pycache__``.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except (RuntimeError, OSError):  # "cannot cache function": no directory is writable
        return numba.njit(nogil=True)(function)
