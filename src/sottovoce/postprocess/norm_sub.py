"""Norm-Sub: one number is added to all shares, and what is then negative becomes 0, so that they sum to 1.

The nearest distribution to the raw shares (least squares), and the one to publish where a distribution is wanted.
Small values are biased upwards, large ones downwards by the same amount each.

Source: Wang et al. 2020, sections IV-B and IV-C.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.method import Method
from sottovoce.postprocess.rule import Rule, finite


def norm_sub(raw: Floats, total: float = 1.0) -> Floats:
    """Return the Euclidean projection on the vectors that are at least 0 and sum to the total.

    >>> norm_sub([0.7, 0.5, 0.1, -0.3]).round(3).tolist()
    [0.6, 0.4, 0.0, 0.0]
    """
    raw = finite(raw)
    lowered: Floats = raw - raw.max(
        axis=-1, keepdims=True
    )  # changes nothing but the rounding: what is kept lies near 0
    ordered = np.sort(lowered, axis=-1)[..., ::-1]
    sums = np.cumsum(ordered, axis=-1)
    kept = _kept(ordered, sums, total)
    lowered -= (_at(sums, kept) - total) / kept
    np.maximum(lowered, 0.0, out=lowered)
    return lowered


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("norm-sub", norm_sub, whole=True)


def _kept(ordered: Floats, sums: Floats, total: float) -> Ints:
    """Return how many stay positive: the last j with j u_j > u_1 + ... + u_j - total, which holds for all before it."""
    low = np.ones((*ordered.shape[:-1], 1), np.int64)
    high = np.full_like(low, ordered.shape[-1])
    while (low < high).any():
        middle = (low + high + 1) // 2
        stays = middle * _at(ordered, middle) > _at(sums, middle) - total
        low, high = np.where(stays, middle, low), np.where(stays, high, middle - 1)
    return low


def _at(numbers: Floats, place: Ints) -> Floats:
    return np.take_along_axis(numbers, place - 1, axis=-1)


METHOD = Method("norm-sub", "nearest shares that are possible", rule_for, needs_whole_domain=True)
