"""The exact errors of published methods for a box of several ordered columns.

MG asks for a cell of the full table, HI splits epsilon over all layers of a hierarchy of intervals,
HIO deals one layer to every person, and SC multiplies answers about single columns.  The errors are
those of one person with measure 1, were people spread evenly over all cells.

Source: Wang 2021, sections 7.2 to 7.4.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import pi, prod
from typing import Any

import numpy as np

from sottovoce.lab.populations.tables import boxes
from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.mechanisms.olh import OLH

KAPPA = 1.5  # the mean square of the measure over its squared mean


@cache
def noise_of(epsilon: float) -> Any:
    """Return the law of a vote under local hashing, whatever the domain."""
    return OLH(epsilon, 1000).noise


def nodes_of(size: int, low: Any, high: Any) -> Any:
    """Return how many disjoint nodes of a tree of fan-out 5 make up ranges.

    A range to the end covers the padding.
    """
    tree = Hierarchy(size)
    total = np.zeros(np.shape(low), np.int64)
    inside = np.zeros(np.shape(low), np.int64)
    for level in range(tree.height + 1):
        width = tree.width(level)
        real = len(tree.real(level))
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
    """Return the error of a box."""
    heights = [Hierarchy(size).height for size in sizes]
    nodes = [
        int(nodes_of(size, side[0], side[-1])) for size, side in zip(sizes, sides, strict=True)
    ]
    if method == "mg":
        heights = [1] * len(sizes)
        nodes = [len(side) for side in sides]
    shares = [len(side) / size for side, size in zip(sides, sizes, strict=True)]
    asked = dict(enumerate(zip(nodes, shares, strict=True)))
    return float(error_of(method, heights, asked, epsilon))


def error_of(
    method: str, heights: Sequence[int], asked: Mapping[int, tuple[Any, float]], epsilon: float
) -> Any:
    """Return that error from the heights of all columns.

    ``asked`` has, for every column asked about, its nodes and the share of people inside.
    """
    layers = prod(height + 1 for height in heights) if len(heights) > 1 else heights[0]
    parts = {"hi": layers, "sc": sum(heights), "sc_sampled": len(heights)}.get(method, 1)
    noise = noise_of(epsilon / parts)
    nodes = prod(count for count, _ in asked.values())
    share = prod(held for _, held in asked.values())
    if method in ("mg", "hi"):
        return nodes * noise.unheld + share * noise.held
    if method == "hio":
        return layers * (nodes * noise.unheld + share * noise.held) + (layers - 1) * share
    scale = {column: heights[column] if method == "sc_sampled" else 1 for column in asked}
    product = prod(
        scale[column] * (count * noise.unheld + held * (noise.held + 1))
        for column, (count, held) in asked.items()
    )
    return product - share


def mnae(error: Any, users: int = 1_000_000) -> Any:
    """Return the mean absolute error over the sum of the measure, for a normal error."""
    return np.sqrt(2 / pi * KAPPA * error / users)


def along(method: str, volume: float, epsilon: float = 2.0, size: int = 1024) -> float:
    """Return the MNAE of a range of one column, averaged over all places where it can start."""
    width = round(size * volume)
    starts = np.arange(size - width + 1)
    if method == "mg":
        nodes = np.full(len(starts), width)
        heights = (1,)
    else:
        nodes = nodes_of(size, starts, starts + width - 1)
        heights = (Hierarchy(size).height,)
    error = error_of(method, heights, {0: (nodes, width / size)}, epsilon)
    return float(np.mean(mnae(error)))


@cache
def across(
    method: str, sizes: tuple[int, ...], volume: float, epsilon: float = 2.0
) -> tuple[float, float]:
    """Return the MNAE averaged over random boxes of a volume.

    The second number is the standard error of such an average over 30 of them.
    """
    errors = [
        mnae(published_error(method, sizes, box, epsilon)) for box in boxes(sizes, volume, 400, 1)
    ]
    return float(np.mean(errors)), float(np.std(errors) / np.sqrt(30))


TYPES_EPSILON = 5.0
TYPES = {"1+0": (0,), "1+1": (0, 2), "2+0": (0, 1), "2+2": (0, 1, 2, 3)}


def of_type(
    method: str,
    columns: Sequence[int],
    heights: Sequence[int] = (4, 4, 1, 1),
    *,
    nodes: float = 16,
    share: float = 0.1,
) -> float:
    """Return the error of a question about some columns at epsilon 5.

    Ranges have so many nodes, labels one.
    """
    each = share ** (1 / len(columns))
    asked = {column: (nodes if heights[column] > 1 else 1, each) for column in columns}
    return float(error_of(method, heights, asked, TYPES_EPSILON))
