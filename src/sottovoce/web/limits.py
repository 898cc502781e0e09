"""Rate limits: a token bucket per address, in memory only, under a keyed hash of the address."""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b

from sottovoce.core.rng import SystemRng

_MOST_ADDRESSES = 100_000
_BURST_SECONDS = 2.0


class RateLimit:
    """Allow ``rate`` requests a second for every address, with bursts of twice as many."""

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self.rate, self._clock = rate, clock
        self._key = bytes(SystemRng().bytes(16))
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Return 0 and take one token, or how many seconds to wait for one."""
        if not self.rate:
            return 0.0
        name, now = blake2b(address.encode(), key=self._key, digest_size=16).digest(), self._clock()
        full = self.rate * _BURST_SECONDS
        left, seen = self._buckets.pop(name, (full, now))
        left = min(full, left + max(0.0, now - seen) * self.rate)
        self._buckets[name] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return 0.0 if left >= 1 else (1 - left) / self.rate
