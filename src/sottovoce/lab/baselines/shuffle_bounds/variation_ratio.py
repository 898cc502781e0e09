"""The variation-ratio bound of Wang et al. 2024, with the rest: tight, and not an upper bound.

The reports that name neither of two values are called the rest.  The published reduction keeps the
counts (a, b) of the two values and lets the rest be post-processed from them.  But given (a, b),
how likely the person is in the rest differs between the two values, so that the reduction loses
information: the true delta can be larger.  Without a rest, for two values, the bound is right.

For direct response over d values, with alpha = 1 / (E + d - 1) and C ~ Bin(n - 1, 2 alpha), A | C ~
Bin(C, 1/2), the two laws are those of (A + X, C - A + Y) and of (A + Y, C - A + X), where X is 1
with probability E alpha, and otherwise Y is 1 with probability alpha / (1 - E alpha).

It stands here as the broken twin of the accountant.

Source: Wang et al. 2024.
"""

from math import exp, sqrt

import numpy as np

from sottovoce.arrays import Floats

_DEVIATIONS = 10  # of a count, beyond which nothing is listed
_FEW = 25


def direct_response_delta(local: float, size: int, users: int, epsilon: float) -> float:
    """Return the published bound of delta for direct response."""
    odds = exp(local)
    alpha = 1 / (odds + size - 1)
    law = _pair_law(users - 1, alpha)
    first = odds * alpha * _moved(law, 1, 0) + alpha * _moved(law, 0, 1)
    first += (1 - (odds + 1) * alpha) * _moved(law, 0, 0)
    return float(np.maximum(0.0, first - exp(epsilon) * first.T).sum())


def _pair_law(users: int, alpha: float) -> Floats:
    """Return the law of (A, C - A), up to counts that are utterly unlikely."""
    from scipy.stats import binom

    mean = users * alpha
    largest = min(users, int(mean + _DEVIATIONS * sqrt(mean)) + _FEW)
    first = np.arange(largest + 1)[:, None]
    total = first + np.arange(largest + 1)
    return np.asarray(binom.pmf(total, users, 2 * alpha) * binom.pmf(first, total, 0.5))


def _moved(law: Floats, first: int, second: int) -> Floats:
    return np.pad(law, ((first, 1 - first), (second, 1 - second)))
