"""MLE-Apx: the likeliest shares under normal noise whose variance grows with the share.

Nearly Norm-Sub, and equal to it where p + q = 1.  Worse than Norm-Sub at a large epsilon on very
skewed data, where the correction falls on the few most frequent values.

Let r be the raw share, u the variance of a vote for a value that is not held and h what holding it
adds.  The sum of (f - r)^2 / (u + h f) is least at

    f = (r + u y) / (1 - h y)        y = (total - sum of r) / (total h + m u)

on the m values that are kept, whose r are summed, and at 0 on the others.  The published x = y / (p
- q) has its signs flipped on the way to the solution: shares built with it do not sum to 1.

Source: Wang et al. 2020, section IV-D; Wang 2021, section 8.1.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares

# How near a raw share may come to where its variance would vanish, in parts of the distance.
_MARGIN = 1e-4


def mle_apx(raw: Floats, unheld: float, held: float, total: float = 1.0) -> Floats:
    """Return the likeliest distribution; on counts ``total`` and ``unheld`` are times the users.

    >>> mle_apx([0.45, 0.25, 0.1, -0.05], unheld=3.0, held=1.0).round(4).tolist()
    [0.5176, 0.3137, 0.1608, 0.0078]
    """
    settings.positive("unheld", unheld)
    if unheld + held * total <= 0:
        raise ParameterError("the variance of a vote, `unheld` + `held`, must be above 0")
    raw = _with_variance(checked_shares(raw), unheld, held)
    positive = np.ones(raw.shape, np.bool_)
    while True:
        missing = total - raw.sum(axis=-1, keepdims=True, where=positive)
        y = missing / (total * held + positive.sum(axis=-1, keepdims=True) * unheld)
        shares = (raw + unheld * y) / (1 - held * y)
        if not (positive & (shares < 0)).any():
            return np.where(positive, shares, 0.0)
        positive &= shares >= 0


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule for this estimate's noise."""
    variance = estimate.noise.vote_variance
    return Rule("mle-apx", lambda raw: mle_apx(raw, variance.unheld, variance.held), whole=True)


def _with_variance(raw: Floats, unheld: float, held: float) -> Floats:
    """Return shares with unheld + held * share above 0.

    That holds for the shares of all reports, but not for every normal replicate.
    """
    limit = (1 - _MARGIN) * unheld / abs(held) if held else np.inf
    return np.maximum(raw, -limit) if held > 0 else np.minimum(raw, limit)


METHOD = PostProcessor(
    "mle-apx",
    "most likely shares that sum to 1",
    rule_for,
    needs_whole_domain=True,
    needs_equal_errors=True,
)
