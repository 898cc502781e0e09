"""The best coefficients for all nodes of a tree: least variance among all unbiased linear
combinations (BLUE).

Any target over the values, a range, several, or their numbers themselves, in closed form: the
target is split into what each level adds to the level above, and each part is read from all levels
below by their precision.

Source: Xu 2020, section 6.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import Hierarchy


def blue(tree: Hierarchy, target: Floats, variances: Floats) -> list[Floats]:
    """Return the coefficients of every level's nodes; ``variances`` are those of a level's nodes,
    inf if not asked.

    >>> tree = Hierarchy(5, 5)
    >>> [level.round(3).tolist() for level in blue(tree, np.ones(5), np.array([1.0, 1.0]))]
    [[0.833], [0.167, 0.167, 0.167, 0.167, 0.167]]
    """
    levels = range(tree.height + 1)
    if len(target) != tree.leaves or len(variances) != len(levels) or not (variances > 0).all():
        raise ParameterError(
            "a target has one entry for every value, and every level a positive variance"
        )
    widths = np.array([tree.width(level) for level in levels], float)
    precisions = np.where(np.isinf(variances), 0.0, widths / variances)
    below = np.cumsum(precisions[::-1])[::-1]  # lambda_l: the sum over levels from l on
    if not below[-1] > 0:
        raise ParameterError("single values are asked about, or their differences cannot be seen")
    means = [target.reshape(-1, int(width)).mean(axis=1) for width in widths]
    parts, reached = [], np.zeros(1)
    for level in levels:
        above = np.repeat(means[level - 1], tree.children(level - 1)) if level else np.zeros(1)
        carried = np.repeat(reached, tree.children(level - 1)) if level else np.zeros(1)
        reached = carried + (means[level] - above) / below[level]
        parts.append(precisions[level] * reached)
    return parts


def variance(coefficients: list[Floats], variances: Floats) -> float:
    """Return the variance of a combination: that of each level's nodes times its squared
    coefficients.
    """
    asked = [
        (level, one) for level, one in enumerate(coefficients) if not np.isinf(variances[level])
    ]
    return float(sum(variances[level] * (one**2).sum() for level, one in asked))
