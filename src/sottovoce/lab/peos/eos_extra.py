"""The optional dependency of homomorphic encryption: gmpy2, the extra ``eos``.

Modules import it inside the functions that need it, so that the rest of the laboratory works
without it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import MissingExtraError


@contextmanager
def needs_gmpy2() -> Iterator[None]:
    """Turn a failed import of `gmpy2` into an error that says what to install."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            "homomorphic encryption needs gmpy2: pip install 'sottovoce[eos]'"
        ) from error
