"""Constrained least squares, the problem that Norm-Sub solves, as provable conditions.

Minimise the squared distance from the raw shares over all shares that are at least 0 and sum to the
total. The problem is convex, so shares solve it exactly if there is one number delta (Karush, Kuhn
and Tucker) with

    share = raw + delta  where the share is positive,     raw + delta <= 0  where it is 0.

Without the condition that shares are at least 0 the first line holds everywhere, and the solution
is Norm.

Source: Wang et al. 2020, section IV-C.
"""

import numpy as np

from sottovoce.arrays import Floats


def optimality_gap(raw: Floats, shares: Floats, total: float = 1.0) -> float:
    """Return by how much shares fail the conditions; 0 proves that nothing allowed is nearer.

    >>> optimality_gap(np.array([0.7, 0.5, -0.1]), np.array([0.6, 0.4, 0.0])) < 1e-15
    True
    >>> round(optimality_gap(np.array([0.7, 0.5, -0.1]), np.array([0.5, 0.5, 0.0])), 3)
    0.1
    """
    positive = shares > 0
    if not positive.any():
        return abs(total)
    delta = float((shares - raw)[positive].mean())
    unequal = float(np.abs(shares - raw - delta)[positive].max())
    lifted = max(0.0, float((raw + delta)[~positive].max(initial=-np.inf)))
    return max(unequal, lifted, -float(shares.min()), abs(float(shares.sum()) - total))
