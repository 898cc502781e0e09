"""Advice before marginals are collected: the views that would be asked about, and the error.

The expected error is that of pooled and shrunken components under the law of typical tables
(``view_planning.py``).  It counts noise, the drawing of users, shrinkage, and interactions that no
view contains; it does not know that removing negative cells helps, which matters for tables of many
cells.  On two tables of people and a census (``lab/experiments/joint_tables.py``), epsilon 0.2 to
4, the measured distance of pairs was between 0.4 and 1.4 times the expected one.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import pi, sqrt
from typing import Any

from sottovoce.core.settings import entries, whole, wholes
from sottovoce.core.settings import epsilon as check_epsilon
from sottovoce.plans.marginals.view_planning import CoveringLayout, ViewPlanning
from sottovoce.plans.marginals.view_selection import expected_cells
from sottovoce.tasks.advice import Advice


@dataclass(frozen=True)
class MarginalsAdvice(Advice):
    """Expected errors of a collection of marginals.

    ``squared_error`` is that of a whole table of ``order`` attributes, summed over its cells.
    ``misplaced`` is the share of people that such an error puts into wrong cells: the total
    variation distance.
    """

    users: int
    sizes: tuple[int, ...]
    epsilon: float
    order: int
    views: CoveringLayout
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
                f"  bias       {self._bias}",
            ]
        )

    @property
    def _bias(self) -> str:
        if self.views.size == 1 and self.order > 1:
            return (
                "no two attributes are asked about together, because noise would hide more than"
                " dependence tells: tables are products, and nothing is learnt about dependence."
                " Set `view_size` to 2 to measure it all the same"
            )
        return (
            f"all sets of {self.views.covered} attributes are in some view, and their tables are"
            " also given unbiased; weaker dependence is shrunken towards independence"
        )


def advise_marginals(
    users: int, sizes: Sequence[int], epsilon: float, order: int = 3, view_size: int = 0
) -> MarginalsAdvice:
    """Return the views that would be asked about, and the error of a table.

    ``sizes`` are the numbers of values of the attributes.  ``view_size`` is how many of them a view
    has; 0 leaves that to the expected error.

    >>> advise_marginals(1 << 16, [2] * 16, 1.0, 3).views
    CoveringLayout(views=120, size=2, covered=2)
    """
    whole("users", users, 1)
    entries("sizes", sizes, 1)
    wholes("sizes", sizes, 2)
    check_epsilon("epsilon", epsilon)
    whole("order", order, 1, len(sizes))
    planning = ViewPlanning(users, tuple(sizes), epsilon, order, view_size)
    layout = planning.layout()
    return MarginalsAdvice(
        users,
        tuple(sizes),
        epsilon,
        order,
        replace(layout, views=len(planning.views())),
        planning.expected_error(layout),
        planning.expected_distance(layout),
    )


def misplaced_share(squared_error: float, sizes: Sequence[int], order: int) -> float:
    """Return the share of people in wrong cells, if errors of cells are equal and normal."""
    cells = expected_cells(sizes, order)
    return min(1.0, sqrt(cells * squared_error / (2 * pi)))
