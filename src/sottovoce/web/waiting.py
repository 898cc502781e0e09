"""Waiting at the start of a server for a database server that does not answer yet.

A database server may start after the services that need it, restart while one of them starts, or
be too busy to accept connections.  A running service survives that, because every request and every
step is retried.  A starting service would end, so it retries for some time.
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from sottovoce.errors import UnavailableError

DATABASE_SECONDS = 60.0
_PAUSE = 0.5  # seconds between two attempts
_log = logging.getLogger(__name__)
Result = TypeVar("Result")


def when_available(
    action: Callable[[], Result],
    seconds: float,
    warned: Callable[[str], None] = lambda concern: None,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Result:
    """Return the result of an action, which is retried for some seconds while it is unavailable.

    ``warned`` is called once, with the reason why the start takes so long.

    >>> when_available(lambda: "a store", DATABASE_SECONDS)
    'a store'
    """
    latest = monotonic() + seconds
    has_warned = False
    while True:
        try:
            return action()
        except UnavailableError as error:
            if monotonic() >= latest:
                raise
            _log.warning("the database does not answer: trying again")
            if not has_warned:
                warned(f"{error}; trying again for {seconds:g} seconds")
                has_warned = True
        sleep(_PAUSE)
