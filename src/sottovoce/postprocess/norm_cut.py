"""Norm-Cut: the largest shares as they are, as many as fit into 1; all others become 0.

It is Base-Cut with a threshold that the data choose, usually a lower one.  The result sums to a
little less than 1.

Source: Wang et al. 2020, section IV-B; Wang 2021, section 8.1.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares

ROUNDING = 1e-12  # shares that exceed 1 by rounding alone still fit


def norm_cut(raw: Floats, total: float = 1.0) -> Floats:
    """Return the largest shares that fit into the total; equal shares are kept or cut together.

    >>> norm_cut([0.5, 0.4, 0.3, -0.2]).tolist()
    [0.5, 0.4, 0.0, 0.0]
    """
    positive = np.maximum(checked_shares(raw), 0.0)
    limit = total * (1 + ROUNDING)
    descending = np.sort(positive, axis=-1)[..., ::-1]
    size = descending.shape[-1]
    fitting = (np.cumsum(descending, axis=-1) <= limit).sum(axis=-1, keepdims=True)
    first_cut = np.take_along_axis(descending, np.minimum(fitting, size - 1), axis=-1)
    kept = np.where((positive > first_cut) | (fitting == size), positive, 0.0)
    largest_exceeds = descending[..., :1] > limit
    return np.where(largest_exceeds, _all_on_largest(positive, total), kept)


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("norm-cut", norm_cut, whole=True, remark=_remark)


def _all_on_largest(positive: Floats, total: float) -> Floats:
    """Return the total on the largest shares.

    The published rule would keep nothing where the largest share exceeds the total by itself.
    """
    is_largest = positive == positive.max(axis=-1, keepdims=True)
    return np.asarray(total * is_largest / is_largest.sum(axis=-1, keepdims=True))


def _remark(raw: Floats) -> str:
    if raw.max() > 1 + ROUNDING:
        return "top above 1"
    return "" if norm_cut(raw).any() else "nothing kept"


METHOD = PostProcessor(
    "norm-cut", "the largest shares that fit into 1", rule_for, needs_whole_domain=True
)
