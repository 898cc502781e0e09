"""Sums of quantiles and extremes: ``MAX(age) - MIN(age)``, ``2 * MEDIAN(age) + 1``.

Nothing is known of how the errors of two quantiles depend on each other, and nothing is assumed.
The intervals of all parts hold together as often as the answer promises if each is that of a share
of the tail (Bonferroni), and their ends are added up.  The standard error of a sum is at most the
sum of the standard errors, whatever the dependence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erfc, isnan, nan, sqrt
from typing import ClassVar

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.maths.normal import upper_quantile
from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment
from sottovoce.sql.formula import Constant

LEAST_TAIL = 1e-300  # beyond which normal quantiles cannot be computed


@dataclass(frozen=True)
class WeightedQuantile:
    """A number times a quantile, a MIN or a MAX."""

    weight: float
    quantile: Aggregate

    def ends(
        self, totals: Sequence[float], covariance: Floats, reach: float
    ) -> tuple[float, float]:
        """Return the ends of its interval in ascending order."""
        low, high = self.quantile.bounds(totals, covariance, reach)
        first, second = self.weight * low, self.weight * high
        return min(first, second), max(first, second)


@dataclass(frozen=True)
class SumOfQuantiles(Aggregate):
    """Some quantiles, each times a number, and a number that is ``added``."""

    parts: tuple[WeightedQuantile, ...] = ()
    added: float = 0.0

    sql_names: ClassVar[tuple[str, ...]] = ("number",)
    separate: ClassVar[bool] = True

    @property
    def formula(self) -> str:  # type: ignore[override]
        return f"a sum of {len(self.parts)}: {self.parts[0].quantile.formula}"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return tuple(moment for part in self.parts for moment in part.quantile.moments)

    @property
    def for_truth(self) -> "SumOfQuantiles":
        parts = [WeightedQuantile(each.weight, each.quantile.for_truth) for each in self.parts]
        return replace(self, parts=tuple(parts))

    def times(self, number: float) -> "SumOfQuantiles":
        """Return the sum times a number."""
        parts = [WeightedQuantile(number * each.weight, each.quantile) for each in self.parts]
        return SumOfQuantiles(parts=tuple(parts), added=number * self.added)

    def plus(self, other: "SumOfQuantiles") -> "SumOfQuantiles":
        """Return the sum of both."""
        return SumOfQuantiles(parts=(*self.parts, *other.parts), added=self.added + other.added)

    def combine(self, totals: Sequence[float]) -> Combination:
        values = [
            part.weight * part.quantile.combine(totals[own]).value
            for part, own in zip(self.parts, self._places, strict=True)
        ]
        value = self.added + sum(values)
        return Combination(nan if isnan(value) else value, None)

    def variance(self, totals: Sequence[float], covariance: Floats) -> float:
        variances = [
            part.quantile.variance(totals[own], covariance[own, own])
            for part, own in zip(self.parts, self._places, strict=True)
        ]
        weights = [abs(part.weight) for part in self.parts]
        return float(np.dot(weights, np.sqrt(variances)) ** 2)

    def bounds(
        self, totals: Sequence[float], covariance: Floats, reach: float
    ) -> tuple[float, float]:
        tail = erfc(reach / sqrt(2)) / 2
        reach_of_each = upper_quantile(max(LEAST_TAIL, tail / len(self.parts)))
        ends = [
            part.ends(totals[own], covariance[own, own], reach_of_each)
            for part, own in zip(self.parts, self._places, strict=True)
        ]
        low, high = (sum(each) for each in zip(*ends, strict=True))
        return self.added + low, self.added + high

    @property
    def adds_dates(self) -> bool:
        """Return whether dates are added up: their differences are numbers, their sums are not."""
        return abs(sum(part.weight for part in self.parts if part.quantile.dated)) > 1e-9

    @property
    def _places(self) -> list[slice]:
        """Return which of the moments are those of each part."""
        counts = [len(part.quantile.moments) for part in self.parts]
        ends = np.cumsum(counts).tolist()
        return [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]


def summed(operator: str, left: Aggregate, right: Aggregate) -> SumOfQuantiles | None:
    """Return two numbers joined by an operator as a sum of quantiles; None if it is no such sum."""
    first, second = _sum_of(left), _sum_of(right)
    if first is None or second is None:
        return None
    total = _joined(operator, first, second)
    return None if total is None or total.adds_dates else total


def _joined(operator: str, left: SumOfQuantiles, right: SumOfQuantiles) -> SumOfQuantiles | None:
    if operator == "+":
        return left.plus(right)
    if operator == "-":
        return left.plus(right.times(-1.0))
    if operator == "*" and not left.parts:
        return right.times(left.added)
    if right.parts:
        return None
    if operator == "*":
        return left.times(right.added)
    return left.times(1 / right.added) if right.added else None


def _sum_of(number: Aggregate) -> SumOfQuantiles | None:
    """Return a constant or a quantile as a sum; None for numbers whose errors are not of quantiles
    alone.
    """
    if isinstance(number, SumOfQuantiles):
        return number
    if isinstance(number, Constant):
        return SumOfQuantiles(added=number.value)
    return SumOfQuantiles(parts=(WeightedQuantile(1.0, number),)) if number.separate else None
