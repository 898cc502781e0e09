"""What combining several decompositions of ranges saves, against nodes that are added up.

An answer is a weighted sum of the noisy counts of nodes.  Where nobody holds a node, its variance
is proportional to the sum of the squared weights; the gain is the ratio of these sums, over random
questions about one to four columns of 125 values.  The ends of a range are drawn evenly.

Source: Xu 2020, section 6.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.lab.experiments.xu.range_errors import layout
from sottovoce.plans.tables.coefficients import AxisProduct, Target, coefficients
from sottovoce.plans.tables.method import Method

VALUES = 125
RANGES = 100  # that questions are drawn from
ADDED = Method("add")
METHODS = {
    "smallest signed": Method("signed"),
    **{f"RDC, k = {count}": Method("rdc", k=count) for count in (2, 4, 8, 16)},
    "best weights": Method("blue"),
}
# Squares of the best weights for all of 125 values: what a column without a range contributes.
_FREE_COLUMN = 0.80128


def squared_weights(terms: Sequence[AxisProduct]) -> float:
    """Return the sum of squared weights of a sum of products over columns.

    The square of a sum of products is a sum over all pairs of products, and the sum over nodes of
    such a pair is a product over columns.
    """
    weights = np.array([term.weight for term in terms])
    shared = np.ones((len(terms), len(terms)))
    for levels in zip(*(term.axes for term in terms), strict=True):
        rows = _rows_over_nodes(levels)
        shared *= rows @ rows.T
    return float(weights @ shared @ weights)


def _rows_over_nodes(levels: Sequence[Sequence[Floats | None]]) -> Floats:
    """Return (products, nodes): the weights of the nodes of one column, level after level."""
    parts = []
    for vectors in zip(*levels, strict=True):
        width = next((len(vector) for vector in vectors if vector is not None), 0)
        parts.append([np.zeros(width) if vector is None else vector for vector in vectors])
    return np.concatenate([np.array(part) for part in parts], axis=1)


def random_ranges(count: int = RANGES) -> list[Bools]:
    """Return ranges whose ends are drawn evenly."""
    ends = np.sort(np.random.default_rng(11).integers(0, VALUES, (count, 2)), axis=1)
    values = np.arange(VALUES)
    return [(values >= low) & (values <= high) for low, high in ends]


@cache
def gains(columns: int, questions: int) -> dict[str, float]:
    """Return the mean ratio of squared weights by method, over questions with so many ranges."""
    # Two columns at least: the layers of a single one would be another collection.
    factor = layout("hio", VALUES, columns=max(2, columns)).factors[0]
    ranges = random_ranges()
    dice = np.random.default_rng([12, columns])
    ratios = []
    for _ in range(questions):
        chosen = dice.integers(0, len(ranges), columns)
        target = Target(factor, {column: ranges[index] for column, index in enumerate(chosen)})
        added = squared_weights(coefficients(target, ADDED).groups[0])
        others = [
            squared_weights(coefficients(target, method).groups[0]) for method in METHODS.values()
        ]
        ratios.append(np.array(others) / added)
    means = np.mean(ratios, axis=0)
    if columns == 1:
        means[-1] /= _FREE_COLUMN  # the best weights use the second column as well
    return dict(zip(METHODS, means.tolist(), strict=True))
