"""A background thread that repeats one action, and retries it after a failure."""

import logging
import threading
from collections.abc import Callable

from sottovoce.errors import SottovoceError

_log = logging.getLogger(__name__)


class Background:
    """Does ``action`` every ``tick`` seconds; ``failed`` gets the class name of each error.

    A disk may be freed, and a database may come back.
    """

    def __init__(
        self, name: str, action: Callable[[], None], tick: float, failed: Callable[[str], None]
    ) -> None:
        self._name = name
        self._action = action
        self._tick = tick
        self._failed = failed
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the action that is running, then stop."""
        self._stopped.set()
        self._thread.join()

    def attempt(self, action: Callable[[], None]) -> None:
        """Do something, or tell that it failed."""
        try:
            action()
        except Exception as error:
            self._failed(type(error).__name__)
            level = logging.WARNING if isinstance(error, SottovoceError) else logging.ERROR
            _log.log(level, self._name, exc_info=True)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.attempt(self._action)
            self._stopped.wait(self._tick)
