"""Maximum entropy: the table with the most entropy among those that have given marginals.

It stands for a table that no view contains.  Iterative proportional fitting finds it: start from
the uniform table, and multiply by target / marginal for one marginal after another, until a sweep
over all of them changes no cell by ``TOLERANCE``.  Where the marginals contradict each other there
is no such table; the residual says how far the result is from them.

Source: Wang 2021, section 6.2.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.marginal_table import View, expand, project

TOLERANCE = 1e-9
MAX_SWEEPS = 200
MAX_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A table, the largest difference of its marginals from the targets, and the sweeps it took."""

    table: Floats
    residual: float
    sweeps: int


def maximal(views: Sequence[View]) -> list[View]:
    """Return the views that no other view contains.

    >>> maximal([(0,), (0, 1), (2,)])
    [(0, 1), (2,)]
    """
    distinct = sorted(set(views), key=lambda view: (-len(view), view))
    return [
        view
        for view in distinct
        if view and not any(set(view) < set(larger) for larger in distinct)
    ]


def fit_table(
    view: View, sizes: Mapping[int, int], marginals: Mapping[View, Floats]
) -> FittedTable:
    """Return the table of a view with these marginals, clipped at 0 and scaled to sum 1."""
    rows = {kept: marginal[None] for kept, marginal in marginals.items()}
    return fit_tables(view, sizes, rows)[0]


def fit_tables(
    view: View, sizes: Mapping[int, int], marginals: Mapping[View, Floats]
) -> list[FittedTable]:
    """Return one table for every row of the marginals; the iteration of each row stops separately.

    ``sizes`` are the numbers of values of the attributes.
    """
    shape = tuple(sizes[attribute] for attribute in view)
    _check(view, shape, marginals)
    targets = {kept: _to_shares(marginal, len(kept)) for kept, marginal in marginals.items()}
    tables, sweeps = _fit(view, shape, targets)
    tables = _to_shares(tables, len(shape))  # contradictions cost some of the total
    differences = [project(tables, view, kept) - target for kept, target in targets.items()]
    residuals = np.max([_largest(difference) for difference in differences], axis=0)
    rows = zip(tables, residuals.tolist(), sweeps.tolist(), strict=True)
    return [FittedTable(table, residual, count) for table, residual, count in rows]


def _check(view: View, shape: tuple[int, ...], marginals: Mapping[View, Floats]) -> None:
    if np.prod(shape, dtype=float) > MAX_CELLS:
        raise ParameterError(
            f"a marginal must have at most {MAX_CELLS:,} cells: name fewer attributes"
        )
    known = {attribute for kept in marginals for attribute in kept}
    if set(view) - known:
        raise ParameterError("an attribute of this marginal is in no view")


def _fit(view: View, shape: tuple[int, ...], targets: Mapping[View, Floats]) -> tuple[Floats, Ints]:
    """Return the fitted tables, and how many sweeps each took."""
    row_count = len(next(iter(targets.values())))
    tables = np.full((row_count, *shape), 1 / np.prod(shape))
    sweeps = np.zeros(row_count, np.int64)
    active = np.arange(row_count)
    while len(active) and sweeps.max() < MAX_SWEEPS:
        before = tables[active]
        tables[active] = _sweep(
            before, view, {kept: rows[active] for kept, rows in targets.items()}
        )
        sweeps[active] += 1
        active = active[_largest(tables[active] - before) >= TOLERANCE]
    return tables, sweeps


def _sweep(tables: Floats, view: View, targets: Mapping[View, Floats]) -> Floats:
    for kept, target in targets.items():
        marginal = project(tables, view, kept)
        ratio = np.divide(target, marginal, out=np.zeros_like(target), where=marginal > 0)
        tables = tables * expand(ratio, kept, view)
    return tables


def _largest(differences: Floats) -> Floats:
    """Return the largest difference in every row."""
    return np.asarray(np.abs(differences).reshape(len(differences), -1).max(axis=1))


def _to_shares(tables: Floats, attributes: int) -> Floats:
    """Return tables without negative cells and with a total of 1; empty ones become uniform."""
    clipped = np.maximum(tables, 0.0)
    totals = clipped.sum(axis=tuple(range(-attributes, 0)), keepdims=True)
    uniform = np.full_like(clipped, clipped.shape[0] / clipped.size)
    return np.asarray(np.divide(clipped, totals, out=uniform, where=totals > 0))
