"""The optional dependency of sealed messages, round keys and blind tokens.

These modules use `cryptography` for every primitive that it has: HPKE, Ed25519, and the keys and
signatures of RSA.  They import it inside the functions that need it, because a device whose tasks
are not shuffled must work without it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import MissingExtraError


@contextmanager
def needs_cryptography() -> Iterator[None]:
    """Turn a failed import of `cryptography` into an error that says what to install."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            "sealed messages need cryptography 47 or newer: pip install 'sottovoce[sealed]'"
        ) from error
