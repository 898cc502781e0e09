"""What views do not contain: the table of most entropy among those that have all their marginals.

Iterative proportional fitting from the uniform table.  Where the marginals contradict each other there is no such
table and the fitting cycles; the remaining residual says how far.

Source: Wang 2021, section 6.2.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.consistency import missing
from sottovoce.plans.marginals.tables import View

TOLERANCE = 1e-9
SWEEPS = 200
MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Fitted:
    """A table, how far its marginals are from the ones that were wanted, and the sweeps it took."""

    table: Floats
    residual: float
    sweeps: int


def maximal(views: Sequence[View]) -> list[View]:
    """Return the views that no other contains.

    >>> maximal([(0,), (0, 1), (2,)])
    [(0, 1), (2,)]
    """
    distinct = sorted(set(views), key=lambda one: (-len(one), one))
    return [one for one in distinct if one and not any(set(one) < set(other) for other in distinct)]


def fitted(wanted: View, sizes: Mapping[int, int], marginals: Mapping[View, Floats]) -> Fitted:
    """Return the table over some attributes whose marginals are these, clipped at 0 and brought to a total of 1.

    ``wanted`` and the views of the marginals are in ascending order.
    """
    return fitted_rows(wanted, sizes, {view: table[None] for view, table in marginals.items()})[0]


def fitted_rows(wanted: View, sizes: Mapping[int, int], marginals: Mapping[View, Floats]) -> list[Fitted]:
    """Return the table for every row of marginals; each stops by itself."""
    shape = tuple(sizes[one] for one in wanted)
    if np.prod(shape, dtype=float) > MOST_CELLS:
        raise ParameterError(f"a marginal has at most {MOST_CELLS:,} cells")
    if set(wanted) - {one for view in marginals for one in view}:
        raise ParameterError("an attribute of this marginal is in no view")
    targets = {missing(wanted, view): _possible(table, len(view)) for view, table in marginals.items()}
    rows = len(next(iter(targets.values())))
    tables, sweeps, left = np.full((rows, *shape), 1 / np.prod(shape)), np.zeros(rows, np.int64), np.arange(rows)
    while len(left) and sweeps.max() < SWEEPS:
        before = tables[left]
        tables[left] = _swept(before, {axes: target[left] for axes, target in targets.items()})
        sweeps[left] += 1
        left = left[_largest(tables[left] - before) >= TOLERANCE]
    tables = _possible(tables, len(shape))  # contradictions cost some of the total
    gaps = [_largest(tables.sum(axis=axes) - target) for axes, target in targets.items()]
    return [Fitted(*one) for one in zip(tables, np.max(gaps, axis=0).tolist(), sweeps.tolist(), strict=True)]


def _swept(tables: Floats, targets: Mapping[tuple[int, ...], Floats]) -> Floats:
    for axes, target in targets.items():
        tables = tables * np.expand_dims(_ratio(target, tables.sum(axis=axes)), axes)
    return tables


def _largest(differences: Floats) -> Floats:
    """Return the largest difference in every row."""
    return np.asarray(np.abs(differences).reshape(len(differences), -1).max(axis=1))


def _possible(tables: Floats, attributes: int) -> Floats:
    clipped = np.maximum(tables, 0.0)
    totals = clipped.sum(axis=tuple(range(-attributes, 0)), keepdims=True)
    even = np.full_like(clipped, clipped.shape[0] / clipped.size)
    return np.asarray(np.divide(clipped, totals, out=even, where=totals > 0))


def _ratio(target: Floats, now: Floats) -> Floats:
    return np.divide(target, now, out=np.zeros_like(target), where=now > 0)
