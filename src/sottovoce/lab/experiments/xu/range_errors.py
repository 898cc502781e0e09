"""Expected errors of SUM and COUNT over ranges of one service, by the plans of the methods.

The measure has so many values, the other columns have 125.  Errors are normalised by the squared
mean of the measure and by a million people.

Source: Xu 2020, sections 3 and 7.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.source import Source
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.aggregates.sum import Sum
from sottovoce.sql.query import Column, Monomial, Options, Query

MILLION = 1_000_000
AGGREGATES = {"sum": Sum("x", (MeasureTerm(1.0, Column(0, 0)),)), "count": Count("x")}
METHODS = ("hio", "ahio", "ehio")


def layout(method: str, size: int, *, columns: int = 2, published: bool = True) -> Any:
    """Return what people are asked about a measure of so many values and other numbers of 125."""
    kinds = {"a": range(1, size + 1), **{name: range(1, 126) for name in "bcde"[: columns - 1]}}
    return PublishedTables({"t": {"columns": kinds}}, method, published=published).layout(2.0)


def ranges(width: int = 19, step: int = 7) -> list[Bools]:
    """Return ranges of so many of 125 values."""
    values = np.arange(125)
    return [(values >= low) & (values < low + width) for low in range(0, 126 - width, step)]


def predicted(
    collected: Any, kind: str, sets: Sequence[Bools], options: Options | None = None
) -> float:
    """Return the mean variance of one person's part over ranges of the second column.

    People are spread evenly over all values.
    """
    aggregate = AGGREGATES[kind]
    options = options or Options()
    queries = [
        Query((0,), (aggregate,), (Monomial(1.0, {Column(0, 1): chosen}),), options=options)
        for chosen in sets
    ]
    source = Source(collected)
    return float(np.mean([plan_query(query, source).variances[0] for query in queries]))


@cache
def errors(size: int) -> list[float]:
    """Return the normalised errors of SUM, then of COUNT, by the three methods."""
    scales = {"sum": ((size + 1) / 2) ** 2, "count": 1.0}
    layouts = [layout(method, size) for method in METHODS]
    return [
        predicted(collected, kind, ranges()) / scales[kind] / MILLION
        for kind in scales
        for collected in layouts
    ]
