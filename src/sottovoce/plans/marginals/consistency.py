"""Views that agree: whatever two of them both contain, they say the same about it.

The step for one set of attributes takes the average of all views that contain it, weighted by precision, and moves each
view there, evenly over the cells behind each of its cells.  Over all sets that several views share, the smaller ones
first, one pass makes all views agree.  Estimates stay unbiased and become more precise.  Making cells non-negative
undoes the agreement, so both are repeated.  Axes before those of the attributes are collections of the same views.

Source: Wang 2021, section 6.2.3.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.tables import View
from sottovoce.postprocess.norm_sub import norm_sub

ROUNDS = 3

Tables = Mapping[View, Floats]  # the last axes of a table are the attributes of its view, in ascending order


def shared(views: Sequence[View]) -> list[View]:
    """Return the intersections of views that at least two of them contain, the empty one too, the smaller ones first.

    >>> shared([(0, 1, 2), (1, 2, 3), (2, 3)])
    [(), (2,), (1, 2), (2, 3)]
    """
    return [common for common, _ in _holders(tuple(views))]


@lru_cache(maxsize=64)
def _holders(views: tuple[View, ...]) -> list[tuple[View, list[View]]]:
    """Return every shared set of attributes with the views that contain it."""
    masks = {view: sum(1 << one for one in view) for view in views}
    closed = new = set(masks.values())
    while new:
        new = {one & other for one in new for other in masks.values()} - closed
        closed = closed | new
    found = []
    for common in {0, *closed}:
        holders = [view for view, mask in masks.items() if common & ~mask == 0]
        if len(holders) > 1:
            found.append((tuple(one for one in range(common.bit_length()) if common >> one & 1), holders))
    return sorted(found, key=lambda entry: (len(entry[0]), entry[0]))


def agreed(tables: Tables, precisions: Mapping[View, float]) -> dict[View, Floats]:
    """Return the views after one pass; ``precisions`` are those of a single cell of each."""
    made = {view: np.array(table, np.float64) for view, table in tables.items()}
    for common, holders in _holders(tuple(tables)):
        _agree(made, common, holders, precisions)
    return made


def consistent(tables: Tables, precisions: Mapping[View, float], rounds: int = ROUNDS) -> dict[View, Floats]:
    """Return views that agree, with next to no negative cells: both are repeated, and agreement has the last word."""
    if rounds < 0:
        raise ParameterError("consistency is repeated a whole number of times")
    made = agreed(tables, precisions)
    for _ in range(rounds):
        made = agreed(_positive(made), precisions)
    return made


def projected(table: Floats, view: View, kept: View) -> Floats:
    """Return the marginal of a table over some of its attributes."""
    return np.asarray(table.sum(axis=missing(view, kept)))


def missing(view: View, kept: View) -> tuple[int, ...]:
    """Return the axes of a table's other attributes, counted from the last."""
    return tuple(axis - len(view) for axis, one in enumerate(view) if one not in kept)


def disagreement(tables: Tables) -> float:
    """Return the largest difference between what two views say about the same cell."""
    gaps = [
        np.abs(projected(tables[one], one, both) - projected(tables[other], other, both)).max()
        for one, other in combinations(tables, 2)
        for both in [tuple(sorted(set(one) & set(other)))]
    ]
    return float(max(gaps, default=0.0))


def _agree(tables: dict[View, Floats], common: View, holders: Sequence[View], precisions: Mapping[View, float]) -> None:
    """Move all tables that contain some attributes to one marginal of them; of none, to a total of 1."""
    marginals = [projected(tables[view], view, common) for view in holders]
    behind = [tables[view].size / marginal.size for view, marginal in zip(holders, marginals, strict=True)]
    # A cell that sums L others has 1/L of their precision.
    weights = np.array([precisions[view] / cells for view, cells in zip(holders, behind, strict=True)])
    target = np.asarray(np.tensordot(weights / weights.sum(), np.stack(marginals), axes=1)) if common else np.ones(())
    for view, marginal, cells in zip(holders, marginals, behind, strict=True):
        tables[view] += np.expand_dims((target - marginal) / cells, missing(view, common))


def _positive(tables: Tables) -> dict[View, Floats]:
    """Return the nearest tables without negative cells; those of one number of cells all at once."""
    flat = {view: table.reshape(*table.shape[: table.ndim - len(view)], -1) for view, table in tables.items()}
    made = {}
    for shape in {table.shape for table in flat.values()}:
        alike = [view for view, table in flat.items() if table.shape == shape]
        nearest = norm_sub(np.stack([flat[view] for view in alike]))
        made.update({view: table.reshape(tables[view].shape) for view, table in zip(alike, nearest, strict=True)})
    return {view: made[view] for view in tables}
