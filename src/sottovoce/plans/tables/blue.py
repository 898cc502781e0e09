"""BLUE: the coefficients of least variance for all nodes of a tree, in closed form.

The target is a number for every value: a range, several ranges, or the numbers themselves.  It is
split into what each level adds to the level above, and each part is read from all levels below, by
their precision:

    lambda_l = sum over levels k >= l of (width of k / variance of k)
    reached_l = reached_(l-1) + (mean of the target in the node - mean in its parent) / lambda_l
    coefficient = (width of l / variance of l) * reached_l

Source: Xu 2020, section 6.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import Hierarchy


def blue(tree: Hierarchy, target: Floats, variances: Floats) -> list[Floats]:
    """Return the coefficients of the nodes of every level.

    ``variances`` holds the variance of a node of each level, and inf for a level without reports.

    >>> tree = Hierarchy(5, 5)
    >>> [level.round(3).tolist() for level in blue(tree, np.ones(5), np.array([1.0, 1.0]))]
    [[0.833], [0.167, 0.167, 0.167, 0.167, 0.167]]
    """
    levels = range(tree.height + 1)
    if len(target) != tree.leaves:
        raise ParameterError("`target` must have one entry for every leaf of the tree")
    if len(variances) != len(levels) or not (variances > 0).all():
        raise ParameterError("`variances` must have one positive entry for every level")
    widths = np.array([tree.width(level) for level in levels], float)
    precisions = np.where(np.isinf(variances), 0.0, widths / variances)
    below = np.cumsum(precisions[::-1])[::-1]  # lambda_l: the sum over levels from l on
    if not below[-1] > 0:
        raise ParameterError("`variances` must be finite for the level of single values")
    means = [target.reshape(-1, int(width)).mean(axis=1) for width in widths]
    reached = means[0] / below[0]
    coefficients = [precisions[0] * reached]
    for level in levels[1:]:
        children = tree.children(level - 1)
        added = means[level] - np.repeat(means[level - 1], children)
        reached = np.repeat(reached, children) + added / below[level]
        coefficients.append(precisions[level] * reached)
    return coefficients


def variance(coefficients: list[Floats], variances: Floats) -> float:
    """Return the variance of a combination of nodes."""
    total = 0.0
    for level, node_variance in enumerate(variances):
        if not np.isinf(node_variance):
            total += float(node_variance * (coefficients[level] ** 2).sum())
    return total
