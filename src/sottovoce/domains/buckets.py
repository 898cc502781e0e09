"""Buckets: real numbers between two bounds, in intervals of equal width.

Choose it for the distribution of a number; for its mean choose ``Numbers``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.domains.base import (
    Cells,
    Domain,
    NumberCells,
    Rounding,
    ValueType,
    real_numbers,
)
from sottovoce.domains.real_range import (
    MAX_REAL_BYTES,
    check_points,
    check_range,
    position,
    read,
    spread,
    written,
)


@dataclass(frozen=True)
class Buckets(Domain, kind="buckets"):
    """Real numbers from ``low`` to ``high`` in ``count`` intervals of equal width.

    With ``clamped`` a number outside of the bounds counts as the nearer bound; otherwise it is
    refused.

    >>> Buckets(0.0, 10.0, 5).indices([0, 1.9, 2, 10])
    array([0, 0, 1, 4])
    """

    low: float
    high: float
    count: int
    clamped: bool = False

    def __post_init__(self) -> None:
        check_range(self)
        check_points("count", self.count)

    @property
    def size(self) -> int:
        return self.count

    @property
    def edges(self) -> Floats:
        """Return the bounds of the intervals, one more than there are intervals."""
        return np.linspace(self.low, self.high, self.count + 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the bounds of each interval as text."""
        edges = [f"{edge:.6g}" for edge in self.edges]
        return tuple(f"{low} to {high}" for low, high in pairwise(edges))

    def indices(self, values: Iterable[Any]) -> Ints:
        floors = np.floor(position(self, values) * self.count).astype(np.int64)
        # The top of the range belongs to the last interval.
        return np.minimum(floors, self.count - 1)

    ordered = True
    short_forms = (frozenset({"low", "high", "buckets"}),)

    @classmethod
    def from_short(cls, **settings: Any) -> "Buckets":
        return cls(settings["low"], settings["high"], settings["buckets"])

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def described(self) -> str:
        return (
            f"the interval, one of {self.count:,}, of a number from {self.low:g} to {self.high:g}"
        )

    @property
    def value_type(self) -> ValueType:
        return "number"

    @property
    def rounding(self) -> Rounding:
        return Rounding(
            kept=f"in {self.count} buckets: a bucket is counted if its middle meets the condition",
            computed="the middle of a bucket",
            at_edge="people exactly at the edge of a bucket are in the one above",
        )

    def number_cells(self) -> NumberCells:
        edges = self.edges
        return NumberCells(edges[:-1], (edges[:-1] + edges[1:]) / 2, edges[1:])

    @property
    def max_public_bytes(self) -> int:
        return MAX_REAL_BYTES

    def public_value(self, value: Any) -> str:
        return written(self, value)

    def value_at(self, index: int) -> float:
        return spread(self, index, self.size)

    def from_public(self, sent: Any) -> Any:
        return read(sent)

    grouped_by_interval = True

    def public_label(self, value: Any) -> str:
        return self.labels[int(self.indices([float(value)])[0])]

    def public_rank(self, label: str) -> int:
        return self.labels.index(label)

    def statement_facts(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "count": self.count}

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        return real_numbers(cells, f"column {name!r} must hold numbers")
