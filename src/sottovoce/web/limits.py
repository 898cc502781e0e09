"""Rate limits: a token bucket per address, in memory only, under a keyed hash of the address.

What counts is work: an upload takes one token for every report in it, any other request takes one.

An address of IPv4 counts by itself.  Addresses of IPv6 count together with all others of their
network of 64 bits, because a single host may use every one of these 2^64 addresses.
"""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from math import inf
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

from starlette.types import Scope

from sottovoce.core.rng import SystemRng

_MAX_ADDRESSES = 100_000
_BURST_SECONDS = 2.0
_NETWORK_BYTES = 8  # of the 16 bytes of an IPv6 address: what one host has to itself
_MAPPED = bytes(10) + b"\xff\xff"  # before the 4 bytes of an IPv4 address that IPv6 writes
_ROUNDING = 1e-3  # tokens: who waits exactly as long as told must not fail by a rounded clock


class RateLimit:
    """Allow ``rate`` tokens a second for every address, with bursts of twice as many."""

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self.rate, self._clock = rate, clock
        self._key = bytes(SystemRng().bytes(16))
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    @property
    def capacity(self) -> float:
        """Return how many tokens a full bucket holds: no request may need more."""
        return self.rate * _BURST_SECONDS if self.rate else inf

    def wait(self, address: str, count: int = 1, paid: int = 0) -> float:
        """Return 0 and take ``count`` tokens, or how many seconds to wait before trying again.

        ``paid`` is how many tokens the same request has taken already.  They are gone, so the
        request needs them again when it is repeated, and the time to wait includes them.
        """
        if not self.rate:
            return 0.0
        name = blake2b(address.encode(), key=self._key, digest_size=16).digest()
        now = self._clock()
        left, seen = self._buckets.pop(name, (self.capacity, now))
        left = min(self.capacity, left + max(0.0, now - seen) * self.rate)
        enough = left >= count - _ROUNDING
        self._buckets[name] = (left - count if enough else left, now)
        if len(self._buckets) > _MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return 0.0 if enough else (count + paid - left) / self.rate


def address_of(scope: Scope) -> str:
    """Return the address that all limits count a request under, as far as the server knows it.

    >>> [address_of({"client": (host, 1)}) for host in ("2001:db8::1", "2001:db8::f:2")]
    ['2001:db8::/64', '2001:db8::/64']
    """
    host: str = (scope.get("client") or ("", 0))[0]
    return _network_of(host) if ":" in host else host


def _network_of(host: str) -> str:
    """Return the network of an IPv6 address, or the IPv4 address that it stands for."""
    try:
        address = inet_pton(AF_INET6, host.partition("%")[0])
    except (OSError, ValueError):
        return host  # a proxy may pass on what is no address
    if address.startswith(_MAPPED):
        return inet_ntop(AF_INET, address[len(_MAPPED) :])
    network = address[:_NETWORK_BYTES] + bytes(len(address) - _NETWORK_BYTES)
    return f"{inet_ntop(AF_INET6, network)}/64"
