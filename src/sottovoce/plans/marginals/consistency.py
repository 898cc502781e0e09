"""Consistency: views that overlap are made to agree on the attributes that they share.

For a set of shared attributes, all views that contain it are projected onto it.  The target is the
mean of these marginals, weighted by their precision, and every view moves to the target:

    cell += (target - marginal) / (number of cells of the view behind a cell of the marginal)

Going once over all intersections of views, smaller ones first, makes all views agree.  Estimates
stay unbiased and become more precise.  Norm-Sub then removes negative cells, which undoes the
agreement, so both are repeated and agreement comes last.

Source: Wang 2021, section 6.2.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.settings import whole
from sottovoce.plans.marginals.marginal_table import View, expand, project
from sottovoce.postprocess.norm_sub import norm_sub

ROUNDS = 3  # repetitions of Norm-Sub and agreement


@dataclass(frozen=True)
class Overlap:
    """A set of attributes that at least two views contain, and these views."""

    attributes: View
    views: tuple[View, ...]


@lru_cache(maxsize=64)
def overlaps(views: tuple[View, ...]) -> tuple[Overlap, ...]:
    """Return all intersections of views that at least two contain, smaller sets first.

    The empty set is one of them: all views agree that everything sums to 1.

    >>> [overlap.attributes for overlap in overlaps(((0, 1, 2), (1, 2, 3), (2, 3)))]
    [(), (2,), (1, 2), (2, 3)]
    """
    masks = {view: sum(1 << attribute for attribute in view) for view in views}
    shared = []
    for mask in {0, *_closed_under_intersection(set(masks.values()))}:
        containing = tuple(view for view in views if mask & ~masks[view] == 0)
        if len(containing) > 1:
            shared.append(Overlap(_attributes_of(mask), containing))
    return tuple(sorted(shared, key=lambda entry: (len(entry.attributes), entry.attributes)))


def _closed_under_intersection(masks: set[int]) -> set[int]:
    """Return the sets, and all their intersections, as masks of bits."""
    closed = set(masks)
    new = closed
    while new:
        intersections = {first & second for first in new for second in masks}
        new = intersections - closed
        closed = closed | new
    return closed


def _attributes_of(mask: int) -> View:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def agree(tables: Mapping[View, Floats], precisions: Mapping[View, float]) -> dict[View, Floats]:
    """Return the views after all overlaps were made to agree once.

    ``precisions`` are those of a single cell of each view.
    """
    agreeing = {view: np.array(table, np.float64) for view, table in tables.items()}
    for overlap in overlaps(tuple(tables)):
        agree_on(agreeing, overlap, precisions)
    return agreeing


def make_consistent(
    tables: Mapping[View, Floats], precisions: Mapping[View, float], rounds: int = ROUNDS
) -> dict[View, Floats]:
    """Return views that agree and have next to no negative cells."""
    whole("rounds", rounds, 0)
    agreeing = agree(tables, precisions)
    for _ in range(rounds):
        agreeing = agree(_without_negative_cells(agreeing), precisions)
    return agreeing


def agree_on(
    tables: dict[View, Floats], overlap: Overlap, precisions: Mapping[View, float]
) -> None:
    """Move all views of an overlap to one marginal; of no attributes, to a total of 1."""
    shared = overlap.attributes
    marginals = [project(tables[view], view, shared) for view in overlap.views]
    cells_per_sum = [
        tables[view].size / marginal.size
        for view, marginal in zip(overlap.views, marginals, strict=True)
    ]
    target = np.ones(())
    if shared:
        # A cell that sums L others has 1/L of their precision.
        pairs = zip(overlap.views, cells_per_sum, strict=True)
        weights = np.array([precisions[view] / cells for view, cells in pairs])
        target = np.asarray(np.tensordot(weights / weights.sum(), np.stack(marginals), axes=1))
    for view, marginal, cells in zip(overlap.views, marginals, cells_per_sum, strict=True):
        tables[view] += expand((target - marginal) / cells, shared, view)


def _without_negative_cells(tables: Mapping[View, Floats]) -> dict[View, Floats]:
    """Return the nearest tables without negative cells.

    Views with equally many cells are computed together.
    """
    flat = {view: _flattened(table, len(view)) for view, table in tables.items()}
    projected: dict[View, Floats] = {}
    for shape in {table.shape for table in flat.values()}:
        views = [view for view, table in flat.items() if table.shape == shape]
        nearest = norm_sub(np.stack([flat[view] for view in views]))
        for view, table in zip(views, nearest, strict=True):
            projected[view] = table.reshape(tables[view].shape)
    return {view: projected[view] for view in tables}


def _flattened(table: Floats, attributes: int) -> Floats:
    """Return a table whose last axis holds all cells of the view."""
    collections: Sequence[int] = table.shape[: table.ndim - attributes]
    return table.reshape(*collections, -1)
