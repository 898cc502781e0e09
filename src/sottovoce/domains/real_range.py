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
