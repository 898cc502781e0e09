"""Norm-Mul: negative shares become 0, then all are multiplied so that they sum to 1.

Only for nearly flat distributions: the most frequent values shrink the most.

Source: Wang et al. 2020, section IV-B.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares


def norm_mul(raw: Floats, total: float = 1.0) -> Floats:
    """Return the positive shares in proportion; equal shares if none is positive.

    >>> norm_mul([0.75, 0.5, -0.25]).tolist()
    [0.6, 0.4, 0.0]
    """
    positive = np.maximum(checked_shares(raw), 0.0)
    mass = positive.sum(axis=-1, keepdims=True)
    equal = np.full_like(positive, total / positive.shape[-1])
    return np.where(mass > 0, positive / np.where(mass > 0, mass, 1.0) * total, equal)


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("norm-mul", norm_mul, whole=True, remark=_remark)


def _remark(raw: Floats) -> str:
    return "" if (raw > 0).any() else "none above 0"


METHOD = PostProcessor(
    "norm-mul",
    "not negative, multiplied to sum to 1",
    rule_for,
    needs_whole_domain=True,
)
