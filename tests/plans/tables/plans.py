"""Small tables and queries about them, without SQL; plans of the product and of the published
methods.
"""

from collections.abc import Mapping
from dataclasses import replace
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
        1.0 if measured is None else layout.attributes(0)[measured].value_numbers[rows[:, measured]]
    )
    return sum(parts) * numbers * np.ones(len(rows))


def ordinal(size: int) -> Integers:
    """Return a column of whole numbers from 3."""
    return Integers(3, size + 2)
