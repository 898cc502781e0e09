"""How far views are from agreeing with each other."""

from itertools import combinations

import numpy as np

from sottovoce.plans.marginals.marginal_table import project


def disagreement(tables):
    """Return the largest difference between what two views say about the same cell."""
    gaps = [0.0]
    for first, second in combinations(tables, 2):
        both = tuple(sorted(set(first) & set(second)))
        difference = project(tables[first], first, both) - project(tables[second], second, both)
        gaps.append(float(np.abs(difference).max()))
    return max(gaps)
