"""Views: everybody reports the cell of one view, which a public coin picks.

The mechanism of a view is the one with the least variance for its number of cells.  Views with two
cells are answered by randomised response, because everything else would be noise.

Source: Wang 2021, sections 6.1 and 6.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.marginals.marginal_table import (
    MarginalTable,
    View,
    shape_of,
    table_of_estimate,
    weighted_mean,
)
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.families.views import Views
from sottovoce.tasks.question import Address


def ask_views(
    epsilon: float, sizes: tuple[int, ...], views: Sequence[View], rule: str = "least variance"
) -> Choice:
    """Return the question about one of the views; ``sizes`` are those of all attributes.

    ``rule`` says how the mechanism for each number of cells is chosen.
    """
    cell_counts = sorted({prod(shape_of(sizes, view)) for view in views})
    mechanisms = tuple(choose(cells, epsilon, rule).mechanism for cells in cell_counts)
    return Choice(Views(sizes, tuple(views), mechanisms))


@dataclass(frozen=True, eq=False)
class ReportedViews:
    """The tables of all views as their users reported them: unbiased and independent."""

    tables: dict[View, MarginalTable]
    users: int

    @classmethod
    def read(cls, collected: Collected) -> "ReportedViews":
        """Return the tables of a collection of one round, without views that nobody answered."""
        ask: Any = collected.rounds[0].ask
        family: Views = ask.members
        tables = {}
        for member, view in enumerate(family.columns):
            try:
                estimate = collected.estimate(Address(0, member))
            except NoDataError:
                continue  # no user's coin picked this view
            tables[view] = table_of_estimate(view, family.sizes, estimate)
        if not tables:
            raise NoDataError("no view has any reports")
        return cls(tables, collected.users(0))

    @cached_property
    def attributes(self) -> frozenset[int]:
        """Return the attributes that some view contains."""
        return frozenset(attribute for view in self.tables for attribute in view)

    def contains(self, view: View) -> bool:
        """Return whether some view contains all these attributes."""
        return any(set(view) <= set(reported) for reported in self.tables)

    def table(self, view: View) -> MarginalTable:
        """Return the mean of all views that contain these attributes."""
        if not self.contains(view):
            raise ParameterError("no view contains all these attributes together")
        containing = [
            table for reported, table in self.tables.items() if set(view) <= set(reported)
        ]
        return weighted_mean([table.project(view) for table in containing])

    def unbiased(self, view: View) -> MarginalTable:
        """Return the same table: it is unbiased."""
        return self.table(view)
