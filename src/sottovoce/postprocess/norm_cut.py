"""Norm-Cut: the largest shares as they are, as many as fit into 1; all others become 0.

Like Base-Cut with a threshold that the data choose, and usually a lower one.  The result sums to a little less than 1.

Source: Wang et al. 2020, section IV-B; Wang 2021, section 8.1.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.method import Method
from sottovoce.postprocess.rule import Rule, finite

ROUNDING = 1e-12  # shares that sum to 1 but for rounding fit


def norm_cut(raw: Floats, total: float = 1.0) -> Floats:
    """Return the largest shares whose sum fits into the total; equal shares are kept or left out together.

    >>> norm_cut([0.5, 0.4, 0.3, -0.2]).tolist()
    [0.5, 0.4, 0.0, 0.0]
    """
    positive, most = np.maximum(finite(raw), 0.0), total * (1 + ROUNDING)
    ordered = np.sort(positive, axis=-1)[..., ::-1]
    fit = (np.cumsum(ordered, axis=-1) <= most).sum(axis=-1, keepdims=True)
    barred = np.take_along_axis(ordered, np.minimum(fit, ordered.shape[-1] - 1), axis=-1)  # the first that does not fit
    kept = np.where((positive > barred) | (fit == ordered.shape[-1]), positive, 0.0)
    return np.where(ordered[..., :1] > most, _alone(positive, total), kept)


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("norm-cut", norm_cut, whole=True, remark=_remark)


def _alone(positive: Floats, total: float) -> Floats:
    """Return everything on the largest: by the letter nothing would be kept where it exceeds the total by itself."""
    largest = positive == positive.max(axis=-1, keepdims=True)
    return np.asarray(total * largest / largest.sum(axis=-1, keepdims=True))


def _remark(raw: Floats) -> str:
    if raw.max() > 1 + ROUNDING:
        return "top above 1"
    return "" if norm_cut(raw).any() else "nothing kept"


METHOD = Method("norm-cut", "the largest shares that fit into 1", rule_for, needs_whole_domain=True)
