"""A test of ordered cells: whether any interval of them has more or fewer reports than it may.

The probability of every interval is known, or bounded from both sides, whatever people hold.  The
count of an interval is binomial.  All dyadic intervals are compared, from single cells to the whole
line, so that a narrow spike and a broad shift are both seen.  With m intervals and both sides, a
tail counts 2 m times.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Protocol

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.plausibility import FALSE_ALARM, PlausibilityTest
from sottovoce.maths import binomial
from sottovoce.maths.normal import upper_quantile

_EXAMINED = 16  # intervals whose exact tails are computed: those that stand out the most
_LEAST_TAIL = 1e-300


class CellLaw(Protocol):
    """The probabilities of intervals of cells."""

    def bounds(self, starts: Ints, stops: Ints) -> tuple[Floats, Floats]:
        """Return the least and the largest probability of each interval [start, stop)."""


@dataclass(frozen=True, eq=False)
class ExactLaw:
    """Cells whose probabilities are known exactly."""

    cumulative: Floats

    @classmethod
    def of(cls, probabilities: Floats) -> "ExactLaw":
        """Return the law of some probabilities."""
        return cls(np.r_[0.0, np.cumsum(probabilities)])

    def bounds(self, starts: Ints, stops: Ints) -> tuple[Floats, Floats]:
        """Return the probability of each interval, twice."""
        chances = np.clip(self.cumulative[stops] - self.cumulative[starts], 0.0, 1.0)
        return chances, chances


def interval_counts(
    name: str, counts: Ints, law: CellLaw, alpha: float = FALSE_ALARM
) -> PlausibilityTest:
    """Return the test of how many reports every dyadic interval of cells has."""
    users = int(counts.sum())
    starts, stops = _dyadic(len(counts))
    cumulative = np.r_[0, np.cumsum(counts)]
    inside = cumulative[stops] - cumulative[starts]
    least, largest = law.bounds(starts, stops)
    over = (inside - users * largest) / _deviation(users, largest)
    under = (users * least - inside) / _deviation(users, least)
    tail = min(
        min(
            (
                binomial.at_least(int(inside[cell]), users, float(largest[cell]))
                for cell in _top(over)
            ),
            default=1.0,
        ),
        min(
            (
                binomial.fewer_than(int(inside[cell]) + 1, users, float(least[cell]))
                for cell in _top(under)
            ),
            default=1.0,
        ),
    )
    compared = 2 * len(starts)
    return PlausibilityTest(
        name, _score(tail), upper_quantile(alpha / compared), min(1.0, compared * tail), users
    )


def _dyadic(cells: int) -> tuple[Ints, Ints]:
    """Return the starts and stops of all intervals of a power of two of cells, in a grid."""
    starts = []
    stops = []
    length = 1
    while length < cells:
        first = np.arange(0, cells, length)
        starts.append(first)
        stops.append(np.minimum(first + length, cells))
        length *= 2
    return np.concatenate(starts), np.concatenate(stops)


def _deviation(users: int, chances: Floats) -> Floats:
    # At least one report: where none is expected, one is remarkable enough to look at its tail.
    return np.sqrt(np.maximum(users * chances * (1 - chances), 1e-9))


def _top(scores: Floats) -> list[int]:
    return [int(cell) for cell in np.argsort(-scores)[:_EXAMINED] if scores[cell] > 0]


def _score(tail: float) -> float:
    """Return the normal score of a tail: beyond the range of floats, its leading term."""
    if tail > _LEAST_TAIL:
        return upper_quantile(min(tail, 0.5)) if tail < 1 else 0.0
    return sqrt(-2 * log(_LEAST_TAIL))
