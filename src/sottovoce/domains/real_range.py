"""What ``Numbers`` and ``Buckets`` share: bounds, and where between them a number lies."""

from collections.abc import Iterable
from math import inf
from typing import Any, Protocol

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.domains.base import flat_array
from sottovoce.errors import DomainError, ParameterError


class RealRange(Protocol):
    """Real numbers from ``low`` to ``high``; ``clamped`` moves what lies outside to the nearer bound."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def clamped(self) -> bool: ...


def check_range(domain: RealRange, size: int) -> None:
    for bound in ("low", "high"):
        object.__setattr__(domain, bound, float(getattr(domain, bound)) + 0.0)  # there is one zero
    if not -inf < domain.low < domain.high < inf or domain.high - domain.low == inf:
        raise ParameterError("a range of numbers needs finite low < high, and a finite distance between them")
    if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= 1 << 32:
        raise ParameterError("a range of numbers has from 2 to 2^32 points or buckets")


def position(domain: RealRange, values: Iterable[Any]) -> Floats:
    """Return where in [0, 1] each number lies; refuses what lies outside unless the task clamps it."""
    held = flat_array(values)
    if held.size and held.dtype.kind not in "iuf":
        raise DomainError("a value must be a number")
    numbers = np.clip(held, domain.low, domain.high) if domain.clamped else held
    if not ((numbers >= domain.low) & (numbers <= domain.high)).all():  # false for NaN
        raise DomainError(f"a value must be a number from {domain.low:g} to {domain.high:g}")
    return np.asarray((numbers - domain.low) / (domain.high - domain.low), np.float64)
