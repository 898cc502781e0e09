"""Base: the raw shares, as they are.  Unbiased; what all other methods are compared with.

Source: Wang et al. 2020, section IV-A.
"""

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares


def unprocessed(raw: Floats) -> Floats:
    """Return a copy of the raw shares."""
    return checked_shares(raw).copy()


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("base", unprocessed)


METHOD = PostProcessor("base", "recorded, nothing changed", rule_for)
