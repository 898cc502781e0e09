"""Constrained least squares: the problem that Norm-Sub solves, as conditions that prove it.

Minimise the squared distance from the raw shares over all shares that are at least 0 and sum to the
total.  The problem is convex, so shares solve it exactly if one number delta (Karush, Kuhn and
Tucker) exists with

    share = raw + delta  where the share is positive,     raw + delta <= 0  where it is 0.

Without the condition that shares are at least 0 the first line holds everywhere, and the solution
is Norm.

Source: Wang et al. 2020, section IV-C.
"""

import numpy as np

from sottovoce.arrays import Floats


def violation(raw: Floats, shares: Floats, total: float = 1.0) -> float:
    """Return by how much shares fail the conditions of the optimum; 0 proves that nothing allowed
    is nearer.

    >>> violation(np.array([0.7, 0.5, -0.1]), np.array([0.6, 0.4, 0.0])) < 1e-15
    True
    >>> round(violation(np.array([0.7, 0.5, -0.1]), np.array([0.5, 0.5, 0.0])), 3)
    0.1
    """
    kept = shares > 0
    if not kept.any():
        return abs(total)
    delta = float((shares - raw)[kept].mean())
    unequal = np.abs(shares - raw - delta)[kept].max()
    lifted = max(0.0, float((raw + delta)[~kept].max(initial=-np.inf)))
    return max(float(unequal), lifted, -float(shares.min()), abs(float(shares.sum()) - total))
