"""Small tables and queries about them, without SQL; plans of the product and of the published
methods.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.lab.baselines.tables.layouts import LAYOUTS
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.demand import demand
from sottovoce.plans.tables.layout import Layout
from sottovoce.plans.tables.method import Method
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.predict import Prediction
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.weigh import Candidate
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.aggregates.sum import Sum
from sottovoce.sql.query import Column, Monomial, Query
from sottovoce.sql.values import numbers_of

THREE = Categories(("x", "y", "z"))
TWO = Categories(("x", "y"))


METHODS = tuple(LAYOUTS)
SINGLE = tuple(
    name for name, layout in LAYOUTS.items() if not layout.lists
)  # tables of one record per person only


def layout(
    tables: Tables,
    rows: tuple[int, ...],
    method: str,
    *,
    fanout: int,
    published: bool,
    epsilon: float,
) -> Any:
    """Return the layout of the product, or that of a published method."""
    if method == "hio" and not published:
        return Layout(tables, rows, fanout, epsilon)
    return LAYOUTS[method](tables, rows, fanout, epsilon, published)


def layout_of(
    columns: Mapping[str, Domain], method: str = "hio", epsilon: float = 1.0, **settings: Any
) -> Any:
    """Return what people are asked about one table; a fan-out of 2 unless told."""
    tables = Tables(("people",), (Records(tuple(columns), tuple(columns.values())),))
    fanout, published = settings.get("fanout", 2), settings.get("published", False)
    return layout(tables, (1,), method, fanout=fanout, published=published, epsilon=epsilon)


def collecting(plan: Any, method: str = "hio", *, published: bool = False) -> Any:
    """Return a plan of the product, or its tables collected by a published method."""
    if method == "hio" and not published:
        return plan
    return PublishedTables(plan, method, fanout=plan.fanout, published=published)


def table_plan(
    columns: Any, *, method: str = "hio", published: bool = False, **settings: Any
) -> Any:
    """Return the plan of one table, by a published method if one is named."""
    return collecting(sv.Table(columns, **settings), method, published=published)


def planned(layout: Any, query: Query, method: Method) -> QueryPlan:
    """Return the plan of a query by one method."""
    query = replace(query, options=replace(query.options, measure=method.measure))
    return QueryPlan(Prediction(Candidate(demand(query, Source(layout)), method)))


def plan(layout: Any, query: Query) -> QueryPlan:
    """Return the plan of a query by the method that promises the least error."""
    return plan_query(query, Source(layout))


def question(layout: Any, *where: Mapping[int, Any], measured: int | None = None) -> Query:
    """Return a count, or the sum of a column, under the sum of some products of sets of values."""
    monomials = tuple(
        Monomial(1.0, {Column(0, at): held(layout, at, values) for at, values in one.items()})
        for one in where
    )
    aggregate = (
        Count("number")
        if measured is None
        else Sum("number", (MeasureTerm(1.0, Column(0, measured)),))
    )
    return Query((0,), (aggregate,), monomials)


def held(layout: Any, column: int, values: Any) -> Any:
    """Return a set of values of a column as a mask."""
    return np.isin(np.arange(layout.attributes(0)[column].size), list(values))


def truth(layout: Any, rows: Any, *where: Mapping[int, Any], measured: int | None = None) -> Any:
    """Return what everybody really adds to an answer."""
    parts = [
        np.prod([np.isin(rows[:, at], list(values)) for at, values in one.items()], axis=0)
        for one in where
    ]
    numbers = (
        1.0 if measured is None else numbers_of(layout.attributes(0)[measured])[rows[:, measured]]
    )
    return sum(parts) * numbers * np.ones(len(rows))


def ordinal(size: int) -> Integers:
    """Return a column of whole numbers from 3."""
    return Integers(3, size + 2)


@cache
def noise_of(epsilon: float) -> Any:
    """Return the law of a vote under local hashing, whatever the domain."""
    return OLH(epsilon, 1000).noise


def nodes_of(size: int, low: Any, high: Any) -> Any:
    """Return how many disjoint nodes of a tree of fan-out 5 make up ranges; one to the end covers
    the padding.
    """
    tree = Hierarchy(size)
    total, inside = np.zeros(np.shape(low), np.int64), np.zeros(np.shape(low), np.int64)
    for level in range(tree.height + 1):
        width, real = tree.width(level), len(tree.real(level))
        first = -(-np.asarray(low) // width)
        last = np.where(np.asarray(high) == size - 1, real, (np.asarray(high) + 1) // width)
        count = np.maximum(last - first, 0)
        total += count - inside  # those that lie in a larger one are not taken
        if level < tree.height:
            below = len(tree.real(level + 1))
            inside = np.where(
                count > 0, np.minimum(last * tree.fanout, below) - first * tree.fanout, 0
            )
    return total


def published_error(
    method: str, sizes: Sequence[int], sides: Sequence[range], epsilon: float
) -> float:
    """Return the exact published error of one person, measure 1, were people spread evenly over all
    cells.
    """
    heights = [Hierarchy(size).height for size in sizes]
    nodes = [
        int(nodes_of(size, side[0], side[-1])) for size, side in zip(sizes, sides, strict=True)
    ]
    if method == "mg":
        heights, nodes = [1] * len(sizes), [len(side) for side in sides]
    shares = [len(side) / size for side, size in zip(sides, sizes, strict=True)]
    return error_of(method, heights, dict(enumerate(zip(nodes, shares, strict=True))), epsilon)


def error_of(
    method: str, heights: Sequence[int], asked: Mapping[int, tuple[float, float]], epsilon: float
) -> float:
    """Return that error from the heights of all columns, and of those asked about the nodes and the
    share of people.
    """
    layers = prod(one + 1 for one in heights) if len(heights) > 1 else heights[0]
    parts = {"hi": layers, "sc": sum(heights), "sc_sampled": len(heights)}.get(method, 1)
    noise = noise_of(epsilon / parts)
    nodes, share = prod(one for one, _ in asked.values()), prod(held for _, held in asked.values())
    if method in ("mg", "hi"):
        return nodes * noise.unheld + share * noise.held
    if method == "hio":
        return layers * (nodes * noise.unheld + share * noise.held) + (layers - 1) * share
    scale = {at: heights[at] if method == "sc_sampled" else 1 for at in asked}
    return (
        prod(
            scale[at] * (n * noise.unheld + held * (noise.held + 1))
            for at, (n, held) in asked.items()
        )
        - share
    )
