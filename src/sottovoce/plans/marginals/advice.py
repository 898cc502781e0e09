"""Advice before marginals are collected: the views of CALM and the error to expect.

The expected error is the sum of two parts, both exact on average: the noise of the views and the
drawing of their users.  The data may add to it what views do not determine.

    squared error = order * noise error + views / users

Source: Wang 2021, section 6.2.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import pi, sqrt
from typing import Any

from sottovoce.core.settings import entries, whole, wholes
from sottovoce.core.settings import epsilon as check_epsilon
from sottovoce.plans.marginals.view_selection import ViewLayout, ViewSelection, expected_cells
from sottovoce.tasks.advice import Advice


@dataclass(frozen=True)
class MarginalsAdvice(Advice):
    """What to expect of a collection of marginals.

    ``squared_error`` is that of a whole table of ``order`` attributes, summed over its cells.
    ``misplaced`` is the share of people that such an error puts into wrong cells.
    """

    users: int
    sizes: tuple[int, ...]
    epsilon: float
    order: int
    views: ViewLayout
    squared_error: float
    misplaced: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        people = f"{self.users:,} users, {len(self.sizes)} attributes, tables of {self.order}"
        share = 100 * self.misplaced
        return "\n".join(
            [
                f"Advice for {people}, epsilon {self.epsilon:g}",
                "",
                f"  views      {self.views.views} of {self.views.size} attributes each;"
                " everybody reports the cell of one of them, with the whole epsilon",
                f"  error      {self.squared_error:.3g} squared error of a table,"
                f" {share:.2g} % of people in wrong cells",
                "  bias       a table inside a view is also given unbiased;"
                " dependence that no view contains is missed",
            ]
        )


def advise_marginals(
    users: int, sizes: Sequence[int], epsilon: float, order: int = 3
) -> MarginalsAdvice:
    """Return the views that would be asked about, and the error of a table.

    ``sizes`` are the numbers of values of the attributes.

    >>> advise_marginals(1 << 16, [2] * 16, 1.0, 3).views
    ViewLayout(views=65, size=2)
    """
    whole("users", users, 1)
    entries("sizes", sizes, 1)
    wholes("sizes", sizes, 2)
    check_epsilon("epsilon", epsilon)
    whole("order", order, 1, len(sizes))
    selection = ViewSelection(users, tuple(sizes), epsilon, order)
    views = selection.layout()
    error = selection.expected_error(views)
    return MarginalsAdvice(
        users, tuple(sizes), epsilon, order, views, error, misplaced_share(error, sizes, order)
    )


def misplaced_share(squared_error: float, sizes: Sequence[int], order: int) -> float:
    """Return the share of people in wrong cells, if errors of cells are equal and normal."""
    cells = expected_cells(sizes, order)
    return min(1.0, sqrt(cells * squared_error / (2 * pi)))
