"""Base-Cut: shares below a threshold become 0, all others stay as they are.

Choose it for single values of an unknown distribution.  The threshold is the share that ``alpha``
values nobody holds are expected to reach:

    threshold = (upper alpha / size quantile of the normal law) * (standard error of an unheld
    value)

``alpha`` is a count, not a probability.  ``top`` keeps that many of the largest shares instead.
What is cut is missing from sums.

Source: Wang et al. 2020, section IV-A.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.maths.normal import upper_quantile
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares, unheld_deviation

SURVIVORS = 2.0  # the published alpha; 0.05 would cut almost everything


def base_cut(raw: Floats, threshold: float | Floats) -> Floats:
    """Return the shares that reach the threshold, and 0 for the others.

    >>> base_cut([0.5, 0.2, 0.01, -0.1], threshold=0.1).tolist()
    [0.5, 0.2, 0.0, 0.0]
    """
    raw = checked_shares(raw)
    return np.where(raw >= np.maximum(threshold, 0.0), raw, 0.0)


def threshold(deviation: float, size: int, alpha: float = SURVIVORS) -> float:
    """Return the share that ``alpha`` of ``size`` values nobody holds are expected to reach.

    >>> round(threshold(1.0, 1024), 5)
    2.88563
    """
    settings.positive("alpha", alpha)
    return upper_quantile(alpha / size) * deviation if alpha < size / 2 else 0.0


def base_cut_top(raw: Floats, top: int) -> Floats:
    """Return the ``top`` largest shares, ties included, and 0 for others and for negative ones."""
    raw = checked_shares(raw)
    size = raw.shape[-1]
    settings.whole("top", top, 1, size)
    smallest_kept = np.partition(raw, size - top, axis=-1)[..., size - top, None]
    return base_cut(raw, smallest_kept)


def rule_for(estimate: Estimate, alpha: float = SURVIVORS, top: int = 0) -> Rule:
    """Return the rule for this estimate's noise, or for a number of values to keep."""
    if top:
        return Rule("base-cut", lambda raw: base_cut_top(raw, top), remark=lambda raw: f"top {top}")
    size = estimate.tested or len(estimate.votes)
    cut = threshold(unheld_deviation(estimate), size, alpha)
    return Rule("base-cut", lambda raw: base_cut(raw, cut), remark=lambda raw: f"alpha {alpha:g}")


METHOD = PostProcessor(
    "base-cut", "only what stands out of the noise", rule_for, needs_equal_errors=True
)
