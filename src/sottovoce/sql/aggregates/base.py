"""The contract of an aggregate: one number of an answer, made of a few sums over people.

An aggregate states the sums that it needs (its ``moments``) and how a number follows from them
(``combine``).  Everything else follows: the moments are estimated from reports with their
covariance, the variance of the number is that of its linear part, and the truth is ``combine`` of
the true moments.

A new aggregate is one file in this package.  Nobody else knows its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from math import inf, isnan, sqrt
from pkgutil import iter_modules
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.domains.base import Domain
from sottovoce.maths.fieller import RatioLaw, fieller
from sottovoce.sql.query import Column, Monomial

if TYPE_CHECKING:
    from sottovoce.sql.aggregates.call import Call

# (*), a condition, a sum of columns, one column, or one column with the order of its values
Argument = Literal["star", "condition", "columns", "column", "ordered"]

_PACKAGE = "sottovoce.sql.aggregates"
STABLE = 3.0  # standard errors by which something that is divided by must exceed 0
USUAL_REACH = 1.959964  # standard errors of an interval of 95 %


@dataclass(frozen=True)
class ValueFunction:
    """A number for every value of a column, such as those of ``FLOOR(age / 10)``.

    Two functions of one column are equal if their texts are.
    """

    text: str
    numbers: Floats = field(compare=False, repr=False)


@dataclass(frozen=True)
class MeasureTerm:
    """``factor`` times a column to a ``power``; without a column the factor alone.

    A private column may go through a ``function`` of its values first, and ``centre`` is taken
    away before the power: squares of numbers far from 0 lose their digits otherwise.  ``times``
    are further columns by which it is multiplied.  ``where`` replaces the conditions of the query
    for this term.
    """

    factor: float = 1.0
    column: Column | None = None
    power: int = 1
    function: ValueFunction | None = None
    where: tuple[Monomial, ...] | None = None
    centre: float = 0.0
    times: "tuple[MeasureTerm, ...]" = ()

    @property
    def factors(self) -> "tuple[MeasureTerm, ...]":
        """Return the columns that are multiplied, each as a term of its own."""
        return () if self.column is None else (self, *self.times)

    def of_column(self, kind: Domain) -> Floats:
        """Return the number of every value of the column, whose domain is given."""
        return self.numbers(np.zeros(0) if self.function is not None else kind.value_numbers)

    def numbers(self, plain: Floats) -> Floats:
        """Return the number of every value of the column; ``plain`` are those without a function.

        >>> MeasureTerm(power=2).numbers(np.array([1.0, 3.0])).tolist()
        [1.0, 9.0]
        """
        numbers = plain if self.function is None else self.function.numbers
        return np.asarray((numbers - self.centre) ** self.power)


@dataclass(frozen=True)
class Moment:
    """A sum over the records that a query is about: of a measure, or of 1, which counts them."""

    measure: tuple[MeasureTerm, ...] = (MeasureTerm(),)
    of_everybody: bool = False  # over all records, whatever the conditions and the groups

    @property
    def counts_records(self) -> bool:
        """Return whether it is a count."""
        return all(term.column is None for term in self.measure)

    @property
    def highest_power(self) -> int:
        """Return the highest power of a column in it."""
        return max(term.power for term in self.measure)


COUNTED = Moment()


class Combination(NamedTuple):
    """A number made of moments, and its derivative by each of them.

    ``slopes`` is None where the number does not exist, or is not a smooth function there.
    """

    value: float
    slopes: tuple[float, ...] | None

    def covariance(self, other: "Combination", covariance: Floats) -> float:
        """Return the covariance of the linear parts of two combinations of the same moments."""
        return float(np.array(self.slopes) @ covariance @ np.array(other.slopes))

    def variance(self, covariance: Floats) -> float:
        """Return the variance of the linear part."""
        return max(0.0, self.covariance(self, covariance))


@dataclass(frozen=True)
class Aggregate(ABC):
    """One number of an answer under its ``name``.

    ``measure`` is the sum of columns it is about, ``counted`` the number of records that have one.
    """

    name: str = ""
    measure: tuple[MeasureTerm, ...] = ()
    counted: Moment = COUNTED

    sql_names: ClassVar[
        tuple[str, ...]
    ]  # the first is also the number's name unless AS gives another
    argument: ClassVar[Argument] = "columns"
    constant_count: ClassVar[int] = 0  # how many numbers follow the argument
    formula: ClassVar[str]  # what EXPLAIN says the number is made of
    separate: ClassVar[bool] = False  # whether moments are used one by one: covariances are not
    notice: ClassVar[str] = ""  # what every reader of the number should know

    @classmethod
    def read(cls, call: "Call") -> "Aggregate":
        """Return what one call of this aggregate asks for."""
        if cls.argument == "star":
            return cls(counted=call.counted_star())
        if cls.argument == "condition":
            return cls(counted=call.counted_condition())
        measure = (call.column(),) if cls.argument == "column" else call.columns()
        return cls(measure=measure, counted=call.counted())

    @property
    def dated(self) -> bool:
        """Return whether the number is a date, in days from the beginning of 1970."""
        return False

    @property
    @abstractmethod
    def moments(self) -> tuple[Moment, ...]:
        """Return the sums that the number is made of."""

    @abstractmethod
    def combine(self, totals: Sequence[float]) -> Combination:
        """Return the number that the moments give."""

    def ratio(self, totals: Sequence[float]) -> tuple[Combination, Combination] | None:
        """Return numerator and denominator, if the number is one divided by the other."""
        return None

    def divisors(self, totals: Sequence[float]) -> tuple[Combination, ...]:
        """Return everything that is divided by; a number is unreliable where one may be 0."""
        ratio = self.ratio(totals)
        return () if ratio is None else ratio[1:]

    def estimate(self, totals: Sequence[float], covariance: Floats) -> float:
        """Return the number that estimated moments give."""
        return self.combine(totals).value

    def variance(self, totals: Sequence[float], covariance: Floats) -> float:
        """Return the variance of the number where the moments have this covariance."""
        combination = self.combine(totals)
        return inf if combination.slopes is None else combination.variance(covariance)

    def bounds(
        self, totals: Sequence[float], covariance: Floats, reach: float
    ) -> tuple[float, float]:
        """Return the ends of the interval that reaches so many standard errors.

        That of a ratio is Fieller's.
        """
        ratio = self.ratio(totals)
        if ratio is not None:
            above, below = ratio
            both = above.covariance(below, covariance)
            law = RatioLaw(above.variance(covariance), below.variance(covariance), both)
            return fieller(above.value, below.value, law, reach)
        value = self.estimate(totals, covariance)
        half = reach * sqrt(self.variance(totals, covariance))
        return value - half, value + half

    def unstable(self, totals: Sequence[float], covariance: Floats) -> bool:
        """Return whether something that is divided by may be 0, so that there is no interval."""
        ratio = self.ratio(totals)
        for divisor in self.divisors(totals):
            own = ratio is not None and divisor == ratio[1]
            reach = USUAL_REACH if own else STABLE
            if abs(divisor.value) <= reach * sqrt(divisor.variance(covariance)):
                return True
        return False

    @property
    def for_truth(self) -> "Aggregate":
        """Return the same number for moments without noise.

        Its moments may say more, where only noise tells some records from none.
        """
        return self

    def truth(self, totals: Sequence[float]) -> float | None:
        """Return the number that true moments give; None where there is none."""
        value = self.combine(totals).value
        return None if isnan(value) else value

    @property
    def of_everybody(self) -> bool:
        """Return whether the number is a share of all records."""
        return any(moment.of_everybody for moment in self.moments)

    @property
    def counts_records(self) -> bool:
        """Return whether the number is made of counts alone."""
        return all(moment.counts_records for moment in self.moments)

    @property
    def squares(self) -> bool:
        """Return whether the number needs powers of a column."""
        return any(moment.highest_power > 1 for moment in self.moments)

    @property
    def squared_measure(self) -> tuple[MeasureTerm, ...]:
        """Return the square of a measure of one column."""
        (term,) = self.measure
        return (replace(term, factor=term.factor**2, power=2 * term.power),)


@cache
def aggregates() -> dict[str, type[Aggregate]]:
    """Return the aggregates by their names in SQL: those of a star first, then by the name of their
    file.

    >>> list(aggregates())[:2]
    ['COUNT', 'FREQ']
    """
    classes: list[type[Aggregate]] = []
    for found in iter_modules(import_module(_PACKAGE).__path__):
        module = import_module(f"{_PACKAGE}.{found.name}")
        own = [
            each
            for each in vars(module).values()
            if getattr(each, "__module__", "") == module.__name__
        ]
        classes += [each for each in own if isinstance(each, type) and issubclass(each, Aggregate)]
    complete = [each for each in classes if each is not Aggregate]
    complete.sort(key=lambda each: each.argument != "star")
    return {name: each for each in complete for name in each.sql_names}
