"""The background thread that advances tasks: it does what is due, and tries again what failed."""

from collections.abc import Callable

from sottovoce.collector.collector import DAY, Collector
from sottovoce.web.background import Background

_ARRIVALS_KEPT = 7 * DAY


class Scheduler:
    """Advances the collector every ``tick`` seconds.

    Of several processes at one door one ``leads``; the others only look what has changed.
    """

    def __init__(
        self,
        collector: Collector,
        tick: float,
        failed: Callable[[str], None],
        *,
        leads: bool = True,
    ) -> None:
        self._collector = collector
        self._leads = leads
        self._background = Background("scheduler", self._advance, tick, failed)
        self._cleaned = False
        self._pruned = 0

    def start(self) -> None:
        """Start the thread."""
        self._background.start()

    def stop(self) -> None:
        """Finish the step that is running, then stop."""
        self._background.stop()

    def _advance(self) -> None:
        if not self._leads:
            self._collector.refresh()
            return
        if not self._cleaned:
            self._cleaned = True
            self._background.attempt(self._collector.clean)
        self._collector.advance()
        self._prune()

    def _prune(self) -> None:
        now = self._collector.now
        if now - self._pruned >= 3600:
            self._collector.store.prune(now, now - _ARRIVALS_KEPT)
            self._pruned = now
