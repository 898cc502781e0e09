"""Numbers computed from other numbers: ``SUM(a) / COUNT(*)``, ``ROUND(100 * FREQ(*), 1)``.

A formula is an aggregate like any other.  Its moments are those of its operands, one after the
other; its slopes follow by the chain rule, so that its error includes how the operands depend on
each other.  With values x and y and slopes dx and dy

    x + y: dx + dy      x - y: dx - dy      x y: y dx + x dy      x / y: (dx - (x / y) dy) / y
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import ClassVar

from sottovoce.arrays import Floats
from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


@dataclass(frozen=True)
class Constant(Aggregate):
    """A number that is written in the query."""

    value: float = 0.0

    sql_names: ClassVar[tuple[str, ...]] = ("constant",)

    @property
    def formula(self) -> str:  # type: ignore[override]
        return f"{self.value:g}"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return ()

    def combine(self, totals: Sequence[float]) -> Combination:
        return Combination(self.value, ())


@dataclass(frozen=True)
class Formula(Aggregate):
    """Two numbers joined by ``+``, ``-``, ``*`` or ``/``."""

    operator: str = "+"
    operands: tuple[Aggregate, ...] = ()

    sql_names: ClassVar[tuple[str, ...]] = ("number",)

    @property
    def formula(self) -> str:  # type: ignore[override]
        left, right = (operand.formula for operand in self.operands)
        return f"({left}) {self.operator} ({right})"

    @property
    def moments(self) -> tuple[Moment, ...]:
        left, right = self.operands
        return (*left.moments, *right.moments)

    def combine(self, totals: Sequence[float]) -> Combination:
        left, right = self._combined(totals)
        if left.slopes is None or right.slopes is None:
            return Combination(nan, None)
        x, y = left.value, right.value
        if self.operator == "/" and not y:
            return Combination(nan, None)
        value, by_left, by_right = _joined(self.operator, x, y)
        slopes = [
            by_left * a + by_right * b for a, b in zip(left.slopes, right.slopes, strict=True)
        ]
        return Combination(value, tuple(slopes))

    def estimate(self, totals: Sequence[float], covariance: Floats) -> float:
        """Return the number that the estimates of the operands give: 2 * STDDEV(x) is twice it."""
        value = self.combine(totals).value
        if isnan(value):
            return value
        left, right = self.operands
        count = len(left.moments)
        x = left.estimate(totals[:count], covariance[:count, :count])
        y = right.estimate(totals[count:], covariance[count:, count:])
        return nan if self.operator == "/" and not y else _joined(self.operator, x, y)[0]

    def ratio(self, totals: Sequence[float]) -> tuple[Combination, Combination] | None:
        left, right = self._combined(totals)
        if left.slopes is None or right.slopes is None:
            return None
        inner = self._inner_ratio(totals)
        if inner is not None:
            return inner
        return (left, right) if self.operator == "/" else None

    def _inner_ratio(self, totals: Sequence[float]) -> tuple[Combination, Combination] | None:
        """Return a ratio that is computed with a number: that is a ratio again.

        (a / b) k = (a k) / b      (a / b) + k = (a + k b) / b
        """
        left, right = self.operands
        if isinstance(right, Constant):
            ratio, number, sign = left.ratio(totals), right.value, 1.0
        elif isinstance(left, Constant) and self.operator != "/":
            ratio, number = right.ratio(totals), left.value
            sign = -1.0 if self.operator == "-" else 1.0
        else:
            return None
        if ratio is None:
            return None
        above, below = ratio
        if self.operator == "*":
            return _sum(above, number, below, 0.0), below
        if self.operator == "/":
            return _sum(above, 1 / number if number else nan, below, 0.0), below
        added = number if sign < 0 or self.operator == "+" else -number
        return _sum(above, sign, below, added), below

    def divisors(self, totals: Sequence[float]) -> tuple[Combination, ...]:
        left, right = self.operands
        count = len(left.moments)
        inner = [_padded(each, 0, len(right.moments)) for each in left.divisors(totals[:count])]
        inner += [_padded(each, count, 0) for each in right.divisors(totals[count:])]
        return (*inner, *super().divisors(totals))

    def _combined(self, totals: Sequence[float]) -> tuple[Combination, Combination]:
        """Return both operands, with a slope for every moment of the formula."""
        left, right = self.operands
        count = len(left.moments)
        return (
            _padded(left.combine(totals[:count]), 0, len(right.moments)),
            _padded(right.combine(totals[count:]), count, 0),
        )


@dataclass(frozen=True)
class Rounded(Aggregate):
    """A number rounded to some ``digits`` after the point; its error is that of the number."""

    number: Aggregate = Constant()
    digits: int = 0

    sql_names: ClassVar[tuple[str, ...]] = ("round",)

    @property
    def formula(self) -> str:  # type: ignore[override]
        return f"round({self.number.formula}, {self.digits})"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return self.number.moments

    @property
    def for_truth(self) -> "Rounded":
        return replace(self, number=self.number.for_truth)

    @property
    def separate(self) -> bool:  # type: ignore[override]
        return self.number.separate

    def combine(self, totals: Sequence[float]) -> Combination:
        exact = self.number.combine(totals)
        return Combination(round(exact.value, self.digits), exact.slopes)

    def estimate(self, totals: Sequence[float], covariance: Floats) -> float:
        value = self.number.estimate(totals, covariance)
        return value if isnan(value) else round(value, self.digits)

    def variance(self, totals: Sequence[float], covariance: Floats) -> float:
        return self.number.variance(totals, covariance)

    def bounds(
        self, totals: Sequence[float], covariance: Floats, reach: float
    ) -> tuple[float, float]:
        return self.number.bounds(totals, covariance, reach)

    def unstable(self, totals: Sequence[float], covariance: Floats) -> bool:
        return self.number.unstable(totals, covariance)

    def ratio(self, totals: Sequence[float]) -> tuple[Combination, Combination] | None:
        return self.number.ratio(totals)

    def divisors(self, totals: Sequence[float]) -> tuple[Combination, ...]:
        return self.number.divisors(totals)


def _joined(operator: str, x: float, y: float) -> tuple[float, float, float]:
    """Return the value of ``x operator y``, and its derivatives by x and by y."""
    if operator == "+":
        return x + y, 1.0, 1.0
    if operator == "-":
        return x - y, 1.0, -1.0
    if operator == "*":
        return x * y, y, x
    return x / y, 1 / y, -x / y**2


def _sum(left: Combination, a: float, right: Combination, b: float) -> Combination:
    """Return a times one combination plus b times another."""
    assert left.slopes is not None
    assert right.slopes is not None
    pairs = zip(left.slopes, right.slopes, strict=True)
    return Combination(
        a * left.value + b * right.value, tuple(a * slope + b * other for slope, other in pairs)
    )


def _padded(part: Combination, before: int, after: int) -> Combination:
    """Return a combination with slopes of 0 for the moments of other operands."""
    if part.slopes is None:
        return part
    return Combination(part.value, (*(0.0,) * before, *part.slopes, *(0.0,) * after))
