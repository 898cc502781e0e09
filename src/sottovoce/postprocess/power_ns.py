"""PowerNS: Power, then Norm-Sub.

It has the least error for sets of values, if the data look like a power law.

Source: Wang et al. 2020, section IV-E.
"""

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess.base import PostProcessor, Rule, unheld_deviation
from sottovoce.postprocess.norm_sub import norm_sub
from sottovoce.postprocess.power import power


def power_ns(raw: Floats, deviation: float, users: int, exponent: float | None = None) -> Floats:
    """Return posterior means under a power law, shifted until they sum to 1."""
    return norm_sub(power(raw, deviation, users, exponent))


def rule_for(estimate: Estimate, exponent: float | None = None) -> Rule:
    """Return the rule for this estimate's noise."""
    deviation = unheld_deviation(estimate)

    def processed(raw: Floats) -> Floats:
        return power_ns(raw, deviation, estimate.users, exponent)

    return Rule("power-ns", processed, whole=True)


METHOD = PostProcessor(
    "power-ns",
    "as power, with shares that are possible",
    rule_for,
    needs_whole_domain=True,
    needs_equal_errors=True,
)
