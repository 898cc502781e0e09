"""The optional dependencies of the encrypted shuffle: gmpy2 and msgspec, the extra ``eos``.

Modules import them inside the functions that need them, so that the rest of the laboratory works
without them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import MissingExtraError


@contextmanager
def needs_eos() -> Iterator[None]:
    """Turn a failed import into an error that says what to install."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            "the encrypted shuffle needs gmpy2 and msgspec: pip install 'sottovoce[eos]'"
        ) from error
