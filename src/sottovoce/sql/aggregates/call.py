"""One call of an aggregate in a query, as the aggregate asks about it.

The reader of queries knows names, conditions and expressions, but no aggregate.  An aggregate knows
what it needs of its argument, but no SQL.  They meet here.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.sql.aggregates.base import MeasureTerm, Moment
from sottovoce.sql.query import AllOf, Column, Compared, Monomial

MAX_PUBLIC_VALUES = 1000  # of a public column that is looked at value by value


@dataclass(frozen=True, eq=False)
class PublicValues:
    """A public column that is looked at value by value: its values in ascending order, as
    conditions name them, and the conditions that records meet.
    """

    column: Column
    values: tuple[str | float, ...]
    where: tuple[Monomial, ...]

    def among(self, chosen: Bools) -> tuple[Monomial, ...]:
        """Return the conditions together with that of a range of the values."""
        indices = np.flatnonzero(chosen)
        first, last = self.values[indices[0]], self.values[indices[-1]]
        inside = (Compared(self.column, ">=", first), Compared(self.column, "<=", last))
        return tuple(replace(each, public=AllOf((each.public, *inside))) for each in self.where)


@dataclass(frozen=True, eq=False)
class OrderedValues:
    """The values of one column in an order, and which records have one of them.

    ``numbers`` are those of the values, or ``of_dates`` the days from the beginning of 1970.
    ``public`` is the column if it is a public one.
    """

    term: MeasureTerm
    counted: Moment
    numbers: Floats
    of_dates: bool
    public: PublicValues | None = None


class Call(ABC):
    """One call of an aggregate; what its argument is not makes the query refused."""

    @property
    @abstractmethod
    def constants(self) -> tuple[float, ...]:
        """Return the arguments after the first, which are numbers."""

    @abstractmethod
    def refuse(self, rule: str, argument: int) -> NoReturn:
        """Refuse the query because one of the arguments breaks a rule."""

    @abstractmethod
    def notice(self, text: str) -> None:
        """Let every reader of the answer know something."""

    @abstractmethod
    def counted_star(self) -> Moment:
        """Return how many records are counted: all, or those whose argument is not NULL."""

    @abstractmethod
    def counted_condition(self) -> Moment:
        """Return how many records meet the condition that is the argument."""

    @abstractmethod
    def columns(self) -> tuple[MeasureTerm, ...]:
        """Return the sum of columns that is the argument."""

    @abstractmethod
    def column(self) -> MeasureTerm:
        """Return the one column that is the argument, around the middle of its numbers."""

    @abstractmethod
    def counted(self) -> Moment:
        """Return how many records have the columns of the argument."""

    @abstractmethod
    def ordered_values(self) -> OrderedValues:
        """Return the values of the one column that is the argument, which may be dates."""
