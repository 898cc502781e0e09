"""Norm: one number is added to all shares so that they sum to 1.

    share = raw + (1 - sum of raw) / size

Unbiased, with a little less variance than Base: choose it for the most frequent values.  Shares may
be negative.  Nothing changes where every report supports equally many values (GRR, subset
selection).

Source: Wang et al. 2020, section IV-B.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares


def norm(raw: Floats, total: float = 1.0) -> Floats:
    """Return the shares, shifted by one number until they sum to the total.

    >>> norm([0.5, 0.25, -0.25]).round(3).tolist()
    [0.667, 0.417, -0.083]
    """
    raw = checked_shares(raw)
    return np.asarray(raw + (total - raw.sum(axis=-1, keepdims=True)) / raw.shape[-1])


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("norm", norm, whole=True)


METHOD = PostProcessor(
    "norm", "shares sum to 1, may be negative", rule_for, needs_whole_domain=True
)
