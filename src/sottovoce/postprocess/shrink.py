"""Shrink: all shares move towards their mean, the more the larger the noise is.

    share = mean + factor * (raw - mean)
    factor = 1 - (size - 3) variance / (sum of (raw - mean)^2), at least 0

Choose it for many values and few users, when most of the estimate is noise.  With at least four
values and equal variances, the expected sum of squared errors is smaller than that of the raw
shares for every truth.  Frequent values are biased towards the mean, so choose another method if
only those matter.  The sum of the shares does not change.

Source: James and Stein 1961; Efron and Morris 1973, section 1.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares, unheld_deviation

KNOWN = 3  # of the distances from the mean: fewer values are not shrunk


def shrink(raw: Floats, deviation: float) -> Floats:
    """Return the shares, moved towards their mean; ``deviation`` is that of their noise.

    >>> shrink([0.5, 0.25, 0.25, 0.0, 0.0], deviation=0.125).round(3).tolist()
    [0.446, 0.241, 0.241, 0.036, 0.036]
    """
    raw = checked_shares(raw)
    mean = raw.mean(axis=-1, keepdims=True)
    spread = ((raw - mean) ** 2).sum(axis=-1, keepdims=True)
    noise = max(raw.shape[-1] - KNOWN, 0) * deviation**2
    # Shares that are all equal stay as they are, whatever the factor.
    factor = np.maximum(spread - noise, 0.0) / np.where(spread > 0, spread, 1.0)
    return np.asarray(mean + factor * (raw - mean))


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule for this estimate's noise."""
    deviation = unheld_deviation(estimate)
    return Rule("shrink", lambda raw: shrink(raw, deviation))


METHOD = PostProcessor(
    "shrink",
    "all towards the mean, for many values and few users",
    rule_for,
    needs_equal_errors=True,
)
