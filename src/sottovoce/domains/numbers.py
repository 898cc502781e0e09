"""Numbers: real numbers between two bounds, each rounded to the nearest point of a fine grid.

Choose it for the mean of a number; for its distribution choose ``Buckets``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
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
class Numbers(Domain, kind="numbers"):
    """Real numbers from ``low`` to ``high``, each at the nearest of ``points`` equally spaced ones.

    With ``clamped`` a number outside of the bounds counts as the nearer bound; otherwise it is
    refused.

    >>> Numbers(0.0, 10.0, 101).indices([0, 0.1, 9.96])
    array([  0,   1, 100])
    """

    low: float
    high: float
    points: int
    clamped: bool = False

    def __post_init__(self) -> None:
        check_range(self)
        check_points("points", self.points)

    @property
    def size(self) -> int:
        return self.points

    def indices(self, values: Iterable[Any]) -> Ints:
        return np.rint(position(self, values) * (self.points - 1)).astype(np.int64)

    ordered = True
    short_forms = (frozenset({"low", "high", "points"}),)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def described(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    @property
    def labels(self) -> tuple[str, ...]:
        points = np.linspace(self.low, self.high, self.points)
        return tuple(f"{point:.6g}" for point in points.tolist())

    @property
    def edges(self) -> Floats:
        half = (self.high - self.low) / (self.points - 1) / 2
        return np.linspace(self.low - half, self.high + half, self.points + 1)

    @property
    def value_type(self) -> ValueType:
        return "number"

    @property
    def rounding(self) -> Rounding:
        return Rounding(
            kept=f"at {self.size} points: a number is counted at the point nearest to it",
            computed="the nearest point",
        )

    def number_cells(self) -> NumberCells:
        points = np.linspace(self.low, self.high, self.points)
        between = (points[:-1] + points[1:]) / 2
        lows = np.concatenate([points[:1], between])
        return NumberCells(lows, points, np.concatenate([between, points[-1:]]))

    @property
    def max_public_bytes(self) -> int:
        return MAX_REAL_BYTES

    def public_value(self, value: Any) -> str:
        return written(self, value)

    def value_at(self, index: int) -> float:
        return spread(self, index, self.size)

    def from_public(self, sent: Any) -> Any:
        return read(sent)

    def statement_facts(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        return real_numbers(cells, f"column {name!r} must hold numbers")
