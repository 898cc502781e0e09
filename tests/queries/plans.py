"""Small tables and questions about them, without SQL."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from sottovoce.domain import Categories, Domain, Integers, Records
from sottovoce.domains.services import Services
from sottovoce.hierarchy import Hierarchy
from sottovoce.mechanisms.olh import OLH
from sottovoce.queries.asking import Asking
from sottovoce.queries.decompositions import additive
from sottovoce.queries.values import numbers_of
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


def nodes_of(size: int, side: range) -> int:
    """Return how many disjoint nodes of a tree of fan-out 5 make up a range."""
    tree = Hierarchy(size)
    return sum(node < len(tree.real(level)) for level, node in additive(tree, side[0], side[-1]))


def published_error(method: str, sizes: Sequence[int], sides: Sequence[range], epsilon: float) -> float:
    """Return the exact published error of one person, measure 1, people spread evenly over all cells of a box's table."""
    heights = [Hierarchy(size).height for size in sizes]
    nodes = [nodes_of(size, side) for size, side in zip(sizes, sides, strict=True)]
    if method == "mg":
        heights, nodes = [1] * len(sizes), [len(side) for side in sides]
    shares = [len(side) / size for side, size in zip(sides, sizes, strict=True)]
    return error_of(method, heights, dict(enumerate(zip(nodes, shares, strict=True))), epsilon)


def error_of(method: str, heights: Sequence[int], asked: Mapping[int, tuple[float, float]], epsilon: float) -> float:
    """Return that error from the heights of all columns, and of those asked about the nodes and the share of people."""
    layers = prod(one + 1 for one in heights) if len(heights) > 1 else heights[0]
    parts = {"hi": layers, "sc": sum(heights), "sc_sampled": len(heights)}.get(method, 1)
    noise = OLH(epsilon / parts, 1000).noise
    nodes, share = prod(one for one, _ in asked.values()), prod(held for _, held in asked.values())
    if method in ("mg", "hi"):
        return nodes * noise.unheld + share * noise.held
    if method == "hio":
        return layers * (nodes * noise.unheld + share * noise.held) + (layers - 1) * share
    scale = {at: heights[at] if method == "sc_sampled" else 1 for at in asked}
    return prod(scale[at] * (n * noise.unheld + held * (noise.held + 1)) for at, (n, held) in asked.items()) - share
