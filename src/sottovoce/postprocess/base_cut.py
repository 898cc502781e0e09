"""Base-Cut: shares below a threshold become 0, all others stay as they are.

The choice for single values of an unknown distribution.  ``alpha`` is how many values that nobody holds are expected to
survive, a count and not a probability; ``top`` keeps that many of the largest instead.  What is cut is missing from
sums.

Source: Wang et al. 2020, section IV-A.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.maths.normal import upper_quantile
from sottovoce.postprocess.method import Method
from sottovoce.postprocess.rule import Rule, finite, sigma

SURVIVORS = 2.0  # the published alpha; 0.05 would cut almost everything


def base_cut(raw: Floats, threshold: float | Floats) -> Floats:
    """Return the shares that reach the threshold, and 0 for the others.

    >>> base_cut([0.5, 0.2, 0.01, -0.1], threshold=0.1).tolist()
    [0.5, 0.2, 0.0, 0.0]
    """
    raw = finite(raw)
    return np.where(raw >= np.maximum(threshold, 0.0), raw, 0.0)


def threshold(deviation: float, size: int, alpha: float = SURVIVORS) -> float:
    """Return the share that ``alpha`` of ``size`` values nobody holds are expected to reach.

    >>> round(threshold(1.0, 1024), 5)
    2.88563
    """
    if not alpha > 0:
        raise ParameterError("alpha is the number of values that may survive by chance, above 0")
    return upper_quantile(alpha / size) * deviation if alpha < size / 2 else 0.0


def base_cut_top(raw: Floats, top: int) -> Floats:
    """Return the largest shares, ties included, and 0 for the others and for negative ones."""
    raw = finite(raw)
    size = raw.shape[-1]
    if not 1 <= top <= size:
        raise ParameterError(f"from 1 to {size} of the largest values can be kept")
    return base_cut(raw, np.partition(raw, size - top, axis=-1)[..., size - top, None])


def rule_for(estimate: Estimate, alpha: float = SURVIVORS, top: int = 0) -> Rule:
    """Return the rule for this estimate's noise, or for a number of values to keep."""
    if top:
        return Rule("base-cut", lambda raw: base_cut_top(raw, top), remark=lambda raw: f"top {top}")
    cut = threshold(sigma(estimate), estimate.tested or len(estimate.votes), alpha)
    return Rule("base-cut", lambda raw: base_cut(raw, cut), remark=lambda raw: f"alpha {alpha:g}")


METHOD = Method("base-cut", "only what stands out of the noise", rule_for, needs_equal_errors=True)
