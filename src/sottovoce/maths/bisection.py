"""Bisection: where a condition that holds below a boundary stops holding.

All functions take a condition ``below`` that is true below the boundary and false above it, and
narrow an interval that contains the boundary.  Nothing is evaluated at the two ends.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Bools, Floats

HALVINGS = 50


class Bracket(NamedTuple):
    """An interval that contains the boundary."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Return the middle of the interval."""
        return (self.low + self.high) / 2


def bisect(
    below: Callable[[float], bool], low: float, high: float, *, halvings: int = HALVINGS
) -> Bracket:
    """Return the interval after ``halvings`` bisections.

    >>> round(bisect(lambda number: number**2 < 2, 0.0, 2.0).high, 6)
    1.414214
    """
    bracket = Bracket(low, high)
    for _ in range(halvings):
        bracket = _halved(below, bracket)
    return bracket


def bisect_to_width(
    below: Callable[[float], bool], low: float, high: float, width: float
) -> Bracket:
    """Return the first interval that is not wider than ``width``.

    >>> round(bisect_to_width(lambda number: number**2 < 2, 0.0, 2.0, 1e-6).middle, 5)
    1.41421
    """
    bracket = Bracket(low, high)
    while bracket.high - bracket.low > width:
        bracket = _halved(below, bracket)
    return bracket


def bisect_rows(
    below: Callable[[Floats], Bools], low: Floats, high: Floats, *, halvings: int = HALVINGS
) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends of several intervals after ``halvings`` bisections.

    >>> low, high = bisect_rows(lambda x: x**2 < np.array([2.0, 9.0]), np.zeros(2), np.full(2, 4.0))
    >>> high.round(6).tolist()
    [1.414214, 3.0]
    """
    for _ in range(halvings):
        middle = (low + high) / 2
        inside = below(middle)
        low = np.where(inside, middle, low)
        high = np.where(inside, high, middle)
    return low, high


def bisect_whole(below: Callable[[int], bool], low: int, high: int, *, parts: int) -> int:
    """Return a whole number at or above the boundary, exact to one part in ``parts`` of it.

    >>> bisect_whole(lambda number: number < 700, 512, 1024, parts=100)
    700
    """
    while high - low > max(1, high // parts):
        middle = (low + high) // 2
        if below(middle):
            low = middle
        else:
            high = middle
    return high


def _halved(below: Callable[[float], bool], bracket: Bracket) -> Bracket:
    middle = bracket.middle
    if below(middle):
        return Bracket(middle, bracket.high)
    return Bracket(bracket.low, middle)
