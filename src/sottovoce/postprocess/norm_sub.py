"""Norm-Sub: one number is added to all shares, and what is then negative becomes 0.

The number is chosen so that the result sums to 1.  It is the distribution nearest to the raw shares
(least squares), and the one to publish where a distribution is wanted.  Small values are biased
upwards, large ones downwards by the same amount each.  With the raw shares in descending order
u_1 >= u_2 >= ...

    share = max(raw - (u_1 + ... + u_j - 1) / j, 0)

where j is the largest index with j u_j > u_1 + ... + u_j - 1.

Source: Wang et al. 2020, sections IV-B and IV-C.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares


def norm_sub(raw: Floats, total: float = 1.0) -> Floats:
    """Return the Euclidean projection on the vectors that are at least 0 and sum to the total.

    >>> norm_sub([0.7, 0.5, 0.1, -0.3]).round(3).tolist()
    [0.6, 0.4, 0.0, 0.0]
    """
    raw = checked_shares(raw)
    # A common shift changes nothing but the rounding: with the largest at 0, what is kept lies near
    # 0.
    shares: Floats = raw - raw.max(axis=-1, keepdims=True)
    descending = np.sort(shares, axis=-1)[..., ::-1]
    sums = np.cumsum(descending, axis=-1)
    kept = _kept_count(descending, sums, total)
    shares -= (_entry(sums, kept) - total) / kept
    np.maximum(shares, 0.0, out=shares)
    return shares


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("norm-sub", norm_sub, whole=True)


def _kept_count(descending: Floats, sums: Floats, total: float) -> Ints:
    """Return the largest j with j u_j > u_1 + ... + u_j - total, by bisection.

    The condition holds for all smaller j as well.
    """
    low = np.ones((*descending.shape[:-1], 1), np.int64)
    high = np.full_like(low, descending.shape[-1])
    while (low < high).any():
        middle = (low + high + 1) // 2
        holds = middle * _entry(descending, middle) > _entry(sums, middle) - total
        low = np.where(holds, middle, low)
        high = np.where(holds, high, middle - 1)
    return low


def _entry(numbers: Floats, rank: Ints) -> Floats:
    """Return the entry of each vector at a rank, counted from 1."""
    return np.take_along_axis(numbers, rank - 1, axis=-1)


METHOD = PostProcessor(
    "norm-sub", "nearest shares that are possible", rule_for, needs_whole_domain=True
)
