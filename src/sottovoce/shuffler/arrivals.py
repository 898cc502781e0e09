"""How many messages arrive: counted by the minute and rounded to 10, in memory only.

A finer count would tell an observer of the metrics when single messages came.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping

ROUNDED_TO = 10
_MINUTE = 60


class Arrivals:
    """Counts messages by outcome, and tells of a minute when it is over.

    ``tell`` gets the name of a task and the rounded counts of a minute by outcome.
    """

    def __init__(
        self, clock: Callable[[], float], tell: Callable[[str, Mapping[str, int]], None]
    ) -> None:
        self._clock = clock
        self._tell = tell
        self._lock = threading.Lock()
        self._minute = self._now()
        self._counts: dict[str, Counter[str]] = {}

    def add(self, task: str, outcomes: Mapping[str, int]) -> None:
        """Count messages that have just been taken or refused."""
        with self._lock:
            self._turn()
            self._counts.setdefault(task, Counter()).update(outcomes)

    def flush(self) -> None:
        """Tell of the last minute if it is over."""
        with self._lock:
            self._turn()

    def _turn(self) -> None:
        now = self._now()
        if now == self._minute:
            return
        for task, counts in self._counts.items():
            self._tell(task, {outcome: rounded(count) for outcome, count in counts.items()})
        self._counts.clear()
        self._minute = now

    def _now(self) -> int:
        return int(self._clock()) // _MINUTE


def rounded(count: int) -> int:
    """Return a count to the nearest 10.

    >>> rounded(14), rounded(15), rounded(3)
    (10, 20, 0)
    """
    return (count + ROUNDED_TO // 2) // ROUNDED_TO * ROUNDED_TO
