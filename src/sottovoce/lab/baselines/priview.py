"""PriView: the same views where a curator who is trusted holds all records, as the line that CALM is measured against.

Everybody is counted in every view, and Laplace noise on counts falls with the users, not with their root.  What is made
of the views afterwards is the same.

Source: Wang 2021, chapter 6.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.marginals.calm import Calm
from sottovoce.plans.marginals.tables import Table, View
from sottovoce.plans.marginals.views import Reported


def priview(
    records: Ints, sizes: Sequence[int], views: Sequence[View], epsilon: float, seed: int, *, replace: bool = True
) -> Calm:
    """Return the views of (users, attributes) as a curator would publish them.

    Replacing one record by another changes two counts of every view, adding or removing one changes one.
    """
    settings.epsilon("epsilon", epsilon)
    if not views or any(not 0 <= one < len(sizes) for view in views for one in view):
        raise ParameterError("there is at least one view, of attributes that there are")
    if not len(records):
        raise NoDataError("there are no records")
    scale, dice = (2 if replace else 1) * len(views) / epsilon / len(records), SeededRng(seed).generator
    tables = {}
    for view in views:
        shares = counted(records, sizes, view) / len(records)
        spread = np.eye(shares.size) * 2 * scale**2
        tables[view] = Table(view, (shares + dice.laplace(0, scale, shares.size)).reshape(_shape(sizes, view)), spread)
    return Calm(Reported(tables, len(records)), tuple(sizes))


def counted(records: Ints, sizes: Sequence[int], view: View) -> Ints:
    """Return how many records fall into every cell of a view, the last attribute's values changing fastest."""
    cells = np.zeros(len(records), np.int64)
    for one in view:
        cells = cells * sizes[one] + records[:, one]
    return np.bincount(cells, minlength=prod(_shape(sizes, view)))


def _shape(sizes: Sequence[int], view: View) -> tuple[int, ...]:
    return tuple(sizes[one] for one in view)
