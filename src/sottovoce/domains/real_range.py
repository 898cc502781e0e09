"""What ``Numbers`` and ``Buckets`` share: two bounds, and where between them a number lies."""

from collections.abc import Iterable
from math import isinf
from typing import Any, Protocol

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core import settings
from sottovoce.domains.base import flat_array
from sottovoce.errors import DomainError, ParameterError

MAX_POINTS = 1 << 32
MAX_REAL_BYTES = len('"-1.7976931348623157e+308"')  # of a public number


class RealRange(Protocol):
    """Real numbers from ``low`` to ``high``; with ``clamped`` others count as the nearer bound."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def clamped(self) -> bool: ...


def check_range(domain: RealRange) -> None:
    """Refuse bounds that are not finite numbers in ascending order, and turn them into floats."""
    for name in ("low", "high"):
        bound = settings.real(name, getattr(domain, name))
        object.__setattr__(domain, name, bound + 0.0)  # -0.0 becomes 0.0
    if domain.low >= domain.high:
        raise ParameterError(f"`high` must be above `low`, {domain.low:g}, not {domain.high:g}")
    if isinf(domain.high - domain.low):
        raise ParameterError("the distance between `low` and `high` must be finite")
    settings.flag("clamped", domain.clamped)


def check_points(name: str, count: int) -> None:
    """Refuse a number of points or buckets that no grid has."""
    settings.whole(name, count, 2, MAX_POINTS)


def position(domain: RealRange, values: Iterable[Any]) -> Floats:
    """Return where in [0, 1] each number lies; a number outside is refused or clamped."""
    numbers = flat_array(values)
    if numbers.size and numbers.dtype.kind not in "iuf":
        raise DomainError("a value must be a number")
    if domain.clamped:
        numbers = np.clip(numbers, domain.low, domain.high)
    if not ((numbers >= domain.low) & (numbers <= domain.high)).all():  # false for NaN
        raise DomainError(f"a value must be a number from {domain.low:g} to {domain.high:g}")
    return np.asarray((numbers - domain.low) / (domain.high - domain.low), np.float64)


def written(domain: RealRange, value: Any) -> str:
    """Return a number as it is sent in clear: as a decimal string, within the bounds."""
    return repr(min(max(float(value), domain.low), domain.high) + 0.0)  # there is one zero


def read(sent: Any) -> Any:
    """Return a number that was sent in clear."""
    return float(sent) if isinstance(sent, str) else sent


def spread(domain: RealRange, index: int, size: int) -> float:
    """Return a number that the value with an index of so many may stand for."""
    return domain.low + (domain.high - domain.low) * index / size
