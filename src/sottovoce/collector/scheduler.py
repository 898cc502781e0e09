"""The background thread that advances tasks: it does what is due, and tries again what failed."""

import logging
import threading
from collections.abc import Callable

from sottovoce.collector.collector import DAY, Collector
from sottovoce.errors import SottovoceError

_ARRIVALS_KEPT = 7 * DAY
_log = logging.getLogger(__name__)


class Keeper:
    """Advances the collector every ``tick`` seconds."""

    def __init__(self, collector: Collector, tick: float, failed: Callable[[str], None]) -> None:
        self._collector, self._tick, self._failed = collector, tick, failed
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._pruned = 0

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the step that is running, then stop."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        self._attempt(self._collector.clean)
        while not self._stopped.is_set():
            self._attempt(self._advance)
            self._stopped.wait(self._tick)

    def _attempt(self, action: Callable[[], None]) -> None:
        """Do something, or tell that it failed: a disk may be freed, a database may come back."""
        try:
            action()
        except Exception as error:
            self._failed(type(error).__name__)
            level = logging.WARNING if isinstance(error, SottovoceError) else logging.ERROR
            _log.log(level, "keeper", exc_info=True)

    def _advance(self) -> None:
        self._collector.advance()
        self._prune()

    def _prune(self) -> None:
        now = self._collector.now
        if now - self._pruned >= 3600:
            self._collector.store.prune(now, now - _ARRIVALS_KEPT)
            self._pruned = now
