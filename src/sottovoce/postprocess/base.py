"""Base: the raw shares, as they are.  Unbiased; what all other methods are compared with.

Source: Wang et al. 2020, section IV-A.
"""

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.method import Method
from sottovoce.postprocess.rule import Rule, finite


def base(raw: Floats) -> Floats:
    """Return the raw shares."""
    return finite(raw).copy()


def rule_for(estimate: Estimate) -> Rule:
    """Return the rule."""
    return Rule("base", base)


METHOD = Method("base", "recorded, nothing changed", rule_for)
