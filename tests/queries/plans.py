"""Small tables and questions about them, without SQL."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sottovoce.domain import Categories, Domain, Integers, Records
from sottovoce.domains.services import Services
from sottovoce.queries.asking import Asking
from sottovoce.queries.planning import numbers_of
from sottovoce.queries.query import Aggregate, Column, Monomial, Query

THREE = Categories(("x", "y", "z"))
TWO = Categories(("x", "y"))


def asking_of(columns: Mapping[str, Domain], method: str = "hio", epsilon: float = 1.0, **settings: Any) -> Asking:
    """Return what people are asked about one table; a fan-out of 2 unless told."""
    services = Services(("people",), (Records(tuple(columns), tuple(columns.values())),))
    return Asking(services, (1,), method, settings.get("fanout", 2), settings.get("published", False), epsilon)


def question(asking: Asking, *where: Mapping[int, Any], measured: int | None = None) -> Query:
    """Return a count, or the sum of a column, under the sum of some products of sets of values."""
    monomials = tuple(
        Monomial(1.0, {Column(0, at): held(asking, at, values) for at, values in one.items()}) for one in where
    )
    terms = () if measured is None else ((1.0, Column(0, measured)),)
    return Query((0,), (Aggregate("sum" if terms else "count", "number", terms),), monomials)


def held(asking: Asking, column: int, values: Any) -> Any:
    """Return a set of values of a column as a mask."""
    return np.isin(np.arange(asking.attributes(0)[column].size), list(values))


def truth(asking: Asking, rows: Any, *where: Mapping[int, Any], measured: int | None = None) -> Any:
    """Return what everybody really adds to an answer."""
    parts = [np.prod([np.isin(rows[:, at], list(values)) for at, values in one.items()], axis=0) for one in where]
    numbers = 1.0 if measured is None else numbers_of(asking.attributes(0)[measured])[rows[:, measured]]
    return sum(parts) * numbers * np.ones(len(rows))


def ordinal(size: int) -> Integers:
    """Return a column of whole numbers from 3."""
    return Integers(3, size + 2)
