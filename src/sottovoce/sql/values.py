"""Which values of a column a comparison means, and what to say where it does not fit them exactly.

A number in a bucket counts by the bucket's middle, a number at a point by that point.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.domains.base import Domain
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.errors import ParameterError

CLOSE = 1e-9  # of the distance between two points: 0.3 is the point 0.30000000000000004
SHOWN = 40  # characters of a literal in a notice


@dataclass(frozen=True)
class Span:
    """The numbers from ``low`` to ``high``, with or without the ends."""

    low: float = -inf
    high: float = inf
    open: bool = False

    def among(self, points: Floats, close: float) -> tuple[int, int]:
        """Return where in ascending points those begin and end that lie in here."""
        if self.open:
            return _before(points, self.low + close, "right"), _before(points, self.high - close, "left")
        return _before(points, self.low - close, "left"), _before(points, self.high + close, "right")


def spans(sign: str, number: float) -> Span:
    """Return the numbers that are equal, smaller or larger."""
    if sign in ("=", "<>"):
        return Span(number, number)
    ends = {"low": number} if ">" in sign else {"high": number}
    return Span(**ends, open="=" not in sign)


def within(kind: Domain, wanted: Sequence[Span], name: str) -> tuple[Bools, list[str]]:
    """Return the values of a column of numbers that lie in one of some spans, and notices."""
    lows, points, highs = _cells(kind)
    close = 0.0 if isinstance(kind, Integers) else CLOSE * float(points[1] - points[0])
    held, notices = np.zeros(len(points), bool), list[str]()
    for span in wanted:
        first, end = span.among(points, close)
        if first >= end:
            notices.append(f"{name}: no value lies where the condition looks for one")
        elif not isinstance(kind, Integers) and _cut(span, (lows, highs), (first, end), close):
            notices.append(_rounded(kind, name))
        held[first:end] = True
    return held, notices


def listed(kind: Categories, wanted: Sequence[str], name: str) -> tuple[Bools, list[str]]:
    """Return the values that are among some labels, and a notice for each label that there is not."""
    labels, there = {normalize("NFC", one): None for one in wanted}, set(kind.labels)
    notices = [f"{name}: there is no label {_short(one)}" for one in labels if one not in there]
    return np.array([one in labels for one in kind.labels], bool), notices


def numbers_of(kind: Domain) -> Floats:
    """Return the number that each value of a column stands for; of a bucket its middle."""
    if isinstance(kind, Categories):
        raise ParameterError("labels cannot be added up: only columns of numbers have sums")
    return _cells(kind)[1]


def _cells(kind: Domain) -> tuple[Floats, Floats, Floats]:
    """Return, for each value, where the numbers that it stands for begin, the one it counts as, and where they end."""
    if isinstance(kind, Integers):
        points = np.arange(kind.low, kind.high + 1, dtype=np.float64)
        return points, points, points
    if isinstance(kind, Buckets):
        edges = kind.edges
        return edges[:-1], (edges[:-1] + edges[1:]) / 2, edges[1:]
    assert isinstance(kind, Numbers)
    points = np.linspace(kind.low, kind.high, kind.points)
    between = (points[:-1] + points[1:]) / 2
    return np.concatenate([points[:1], between]), points, np.concatenate([between, points[-1:]])


def _cut(span: Span, cells: tuple[Floats, Floats], place: tuple[int, int], close: float) -> bool:
    """Return whether numbers at an end count though they are not in the span, or do not though they are."""
    (lows, highs), (first, end) = cells, place
    over = lows[first] < span.low - close or highs[end - 1] > span.high + close
    left = first > 0 and highs[first - 1] > span.low + close
    return bool(over or left or (end < len(lows) and lows[end] < span.high - close))


def _before(points: Floats, number: float, side: Literal["left", "right"]) -> int:
    return int(np.searchsorted(points, number, side))


def _rounded(kind: Domain, name: str) -> str:
    if isinstance(kind, Buckets):
        return f"{name} is kept in {kind.count} buckets: each counts as a whole, and where its middle lies"
    return f"{name} is kept at {kind.size} points: numbers count where the point nearest to them lies"


def _short(label: str) -> str:
    return repr(label if len(label) <= SHOWN else label[:SHOWN] + "...")
