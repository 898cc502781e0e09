"""Base-Pos: negative shares become 0.

No value's error ever grows.  But every value's bias is positive, 0.4 standard errors where nobody
holds the value, and the biases of a set of values add up: never sum the result.

Source: Wang et al. 2020, section IV-A.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares


def base_pos(raw: Floats) -> Floats:
    """Return the shares, at least 0.

    >>> base_pos([0.7, -0.1]).tolist()
    [0.7, 0.0]
    """
    return np.maximum(checked_shares(raw), 0.0)


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("base-pos", base_pos)


METHOD = PostProcessor("base-pos", "negative becomes zero", rule_for)
