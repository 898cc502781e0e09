"""QUANTILE(column, share): the value that a share of the records does not exceed.

For every value u of the column the records at or below u are counted, less the share of all of
them:

    T(u) = count(column <= u) - share * count

The quantile is the smallest value with T(u) >= 0.  The interval holds every value that no test
refuses: u is too small if T(u) is below 0 by more than the reach, and too large if T of the value
before u is above 0 by as much.  The true value is refused by one of the two tests as rarely as the
interval says, whatever the shape of the distribution.

A private column of more than ``MAX_POINTS`` values is looked at in as many steps.  A public column
is looked at value by value: without private conditions T is exact, and so is the quantile.

Source: Woodruff 1952.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan, sqrt
from typing import ClassVar

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.sql.aggregates.base import (
    USUAL_REACH,
    Aggregate,
    Argument,
    Combination,
    MeasureTerm,
    Moment,
    ValueFunction,
    aggregates,
)
from sottovoce.sql.aggregates.call import Call, PublicValues

MAX_POINTS = 128
STEP_ERROR = 1 / sqrt(12)  # of a number that is only known to lie in a step of width 1


ROUNDING = 1e-6  # T of a public column is a whole number less a share, so less than this is 0


@dataclass(frozen=True)
class Quantile(Aggregate):
    """The smallest value that at least a ``share`` of the records does not exceed.

    ``numbers`` are those of the column's values, or ``of_dates`` the days from the beginning of
    1970.  ``public`` is the column if it is a public one.
    """

    share: float = 0.5
    of_dates: bool = False
    numbers: Floats = field(default_factory=lambda: np.zeros(2), compare=False, repr=False)
    public: PublicValues | None = None
    counts_all: bool = False  # whether the count of all records is among the moments

    sql_names: ClassVar[tuple[str, ...]] = (
        "QUANTILE",
        "QUANTILE_CONT",
        "QUANTILE_DISC",
        "PERCENTILE_CONT",
        "PERCENTILE_DISC",
        "APPROX_QUANTILE",
    )
    argument: ClassVar[Argument] = "ordered"
    constant_count: ClassVar[int] = 1
    separate: ClassVar[bool] = True
    extreme_share: ClassVar[float | None] = None  # of the aggregate of an end of the order
    formula: ClassVar[str] = "where count up to a value crosses its share of the count"

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        share = call.constants[0] if call.constants else 0.5
        if not 0 <= share <= 1:
            call.refuse("share", argument=1)
        values = call.ordered_values()
        kind = cls
        if values.public is None and cls.notice:
            call.notice(cls.notice)
        if values.public is not None and call.constants:
            kind = cls._of_share(share)
        return kind(
            measure=(values.term,),
            counted=values.counted,
            share=share,
            of_dates=values.of_dates,
            numbers=values.numbers,
            public=values.public,
        )

    @classmethod
    def _of_share(cls, share: float) -> "type[Quantile]":
        """Return the aggregate of a share: at the ends of the order those have their own."""
        for kind in aggregates().values():
            if issubclass(kind, Quantile) and kind.extreme_share == share:
                return kind
        return cls

    @property
    def dated(self) -> bool:
        return self.of_dates

    @cached_property
    def points(self) -> Floats:
        """Return the values that are looked at, in ascending order."""
        values = np.unique(self.numbers)
        if len(values) <= MAX_POINTS or self.public is not None:
            return values
        chosen = np.linspace(0, len(values) - 1, MAX_POINTS).round().astype(int)
        return np.asarray(values[chosen])

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """Return T of every value but the last, up to which all records are.

        Without noise every T may be exactly 0.  The count of all records then tells whether there
        are any.
        """
        heights = tuple(
            Moment(self._terms(f"up to {point!r}", self.numbers <= point, self.share))
            for point in self.points[:-1].tolist()
        )
        if not self._has_count:
            return heights
        everything = np.ones(len(self.numbers), bool)
        return (*heights, Moment(self._terms("any", everything, 0.0)))

    @property
    def _has_count(self) -> bool:
        """Return whether the moments tell nobody from counts that are exactly 0."""
        return self.counts_all or self.public is not None

    @property
    def for_truth(self) -> "Quantile":
        return replace(self, counts_all=True)

    def _terms(self, text: str, chosen: Bools, share: float) -> tuple[MeasureTerm, ...]:
        """Return the measure that counts the records with chosen values, less a share of all."""
        if self.public is not None:
            counted = MeasureTerm(where=self.public.among(chosen))
            return (counted, MeasureTerm(-share, where=self.public.where)) if share else (counted,)
        (term,) = self.measure
        before = "" if term.function is None else term.function.text
        function = ValueFunction(
            f"{before} {text} less {share!r}", chosen.astype(np.float64) - share
        )
        return (MeasureTerm(1.0, term.column, function=function, where=term.where),)

    def combine(self, totals: Sequence[float]) -> Combination:
        if not any(totals):
            return Combination(nan, None)
        heights = self._heights(totals)
        index = int((heights < -ROUNDING).sum())
        return Combination(float(self.points[index]), self._slopes(heights, index))

    def _heights(self, totals: Sequence[float]) -> Floats:
        """Return T of every value but the last."""
        return np.array(totals)[: len(self.points) - 1]

    def _slopes(self, heights: Floats, index: int) -> tuple[float, ...] | None:
        """Return how the crossing moves: by the distance of two values over how far T rises."""
        reach = max(1, len(heights) // 8)
        low, high = max(0, index - reach), min(len(heights) - 1, index + reach)
        rise = heights[high] - heights[low]
        if rise <= 0:
            return None
        slopes = np.zeros(len(self.moments))
        slopes[min(index, len(heights) - 1)] = -(self.points[high] - self.points[low]) / rise
        return tuple(slopes.tolist())

    def variance(self, totals: Sequence[float], covariance: Floats) -> float:
        low, high = self.bounds(totals, covariance, USUAL_REACH)
        if not covariance.any():
            return 0.0
        step = float(np.diff(self.points).max())
        return max(STEP_ERROR * step, (high - low) / (2 * USUAL_REACH)) ** 2

    def bounds(
        self, totals: Sequence[float], covariance: Floats, reach: float
    ) -> tuple[float, float]:
        heights = self._heights(totals)
        errors = reach * np.sqrt(np.maximum(0.0, np.diag(covariance)[: len(heights)]))
        not_too_small = np.append(heights + errors >= -ROUNDING, True)
        not_too_large = np.append(True, heights - errors < -ROUNDING)
        possible = np.flatnonzero(not_too_small & not_too_large)
        if not len(possible):  # every value is refused by one of the tests
            return float(self.points[0]), float(self.points[-1])
        value = self.combine(totals).value
        low, high = self.points[possible[0]], self.points[possible[-1]]
        return min(float(low), value), max(float(high), value)
