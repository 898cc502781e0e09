"""Which values of a column a comparison means, and a notice where it does not fit them exactly.

A bucket is counted by its middle: it is inside a range if its middle is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from typing import Literal
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.domains.base import Domain

CLOSE = 1e-9  # of the distance between two points: 0.3 is the point 0.30000000000000004
SHOWN = 40  # characters of a literal in a notice


@dataclass(frozen=True)
class Span:
    """The numbers from ``low`` to ``high``, with or without the ends."""

    low: float = -inf
    high: float = inf
    open: bool = False

    def among(self, points: Floats, close: float) -> tuple[int, int]:
        """Return the first index and the end of the ascending points that lie in the span."""
        if self.open:
            return _before(points, self.low + close, "right"), _before(
                points, self.high - close, "left"
            )
        return _before(points, self.low - close, "left"), _before(
            points, self.high + close, "right"
        )


def spans(sign: str, number: float) -> Span:
    """Return the numbers that compare like this with a number."""
    if sign in ("=", "<>"):
        return Span(number, number)
    ends = {"low": number} if ">" in sign else {"high": number}
    return Span(**ends, open="=" not in sign)


def within(kind: Domain, wanted: Sequence[Span], name: str) -> tuple[Bools, list[str]]:
    """Return the values of a column of numbers that lie in one of some spans, and notices."""
    cells = kind.number_cells()
    lows, points, highs = cells.lows, cells.numbers, cells.highs
    rounding = kind.rounding
    close = 0.0 if rounding is None else CLOSE * float(points[1] - points[0])
    chosen = np.zeros(len(points), bool)
    notices: list[str] = []
    for span in wanted:
        first, end = span.among(points, close)
        if first >= end:
            notices.append(f"{name}: no value lies in the range of the condition")
        elif rounding is not None and _cut(span, (lows, highs), (first, end), close):
            notices.append(f"{name} is kept {rounding.kept}")
        elif rounding is not None and rounding.at_edge and _at_edge(span, lows[1:], close):
            notices.append(f"{name}: {rounding.at_edge}")
        chosen[first:end] = True
    return chosen, notices


def listed(kind: Domain, wanted: Sequence[str], name: str) -> tuple[Bools, list[str]]:
    """Return the values that are among some labels, and a notice for each unknown label."""
    labels = {normalize("NFC", label): None for label in wanted}
    known = set(kind.labels)
    notices = [
        f"{name}: there is no label {_short(label)}{_meant(label, kind.labels)}"
        for label in labels
        if label not in known
    ]
    return np.array([label in labels for label in kind.labels], bool), notices


def _meant(label: str, known: Sequence[str]) -> str:
    """Return the label that is probably meant, as a hint; nothing if none is close."""
    lower = {each.lower(): each for each in known}
    close = get_close_matches(label.strip().lower(), lower, 1)
    return f": did you mean {_short(lower[close[0]])}?" if close else ""


def _cut(span: Span, cells: tuple[Floats, Floats], chosen: tuple[int, int], close: float) -> bool:
    """Return whether an end of the span lies inside a bucket: part of the bucket is counted
    wrongly.
    """
    lows, highs = cells
    first, end = chosen
    too_much = lows[first] < span.low - close or highs[end - 1] > span.high + close
    too_little_below = first > 0 and highs[first - 1] > span.low + close
    too_little_above = end < len(lows) and lows[end] < span.high - close
    return bool(too_much or too_little_below or too_little_above)


def _at_edge(span: Span, edges: Floats, close: float) -> bool:
    """Return whether the numbers at the edge between two buckets are on the wrong side: those are
    counted in the bucket above.
    """
    end = span.low if span.open else span.high
    return bool((np.abs(edges - end) <= close).any())


def _before(points: Floats, number: float, side: Literal["left", "right"]) -> int:
    return int(np.searchsorted(points, number, side))


def _short(label: str) -> str:
    return repr(label if len(label) <= SHOWN else label[:SHOWN] + "...")
