"""Which mechanism for a domain and an epsilon, and why.

By default the mechanism with the least exact variance, averaged over the domain, is chosen.  The
published rule (GRR below 3 e^epsilon + 2 values) compares GRR with unary encoding, which affine
response beats on small domains; it stays available by name.

Source: Wang 2021, section 3.4; docs/affine-response.md.
"""

from dataclasses import dataclass
from math import exp

from sottovoce.core.settings import choice
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine import AffineResponse, average_variance
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR

RULES = ("least variance", "published", "unary")


@dataclass(frozen=True)
class Chosen:
    """A mechanism and the reason for it."""

    mechanism: PureMechanism
    reason: str


def choose(size: int, epsilon: float, rule: str = "least variance") -> Chosen:
    """Return the mechanism for a domain of ``size`` values.

    >>> choose(4, 1.0).mechanism.kind, choose(1000, 1.0).mechanism.kind
    ('grr', 'affine')
    """
    choice("rule", rule, RULES)
    direct = GRR(epsilon, size)
    if rule == "least variance":
        return _least_variance(direct)
    limit = 3 * exp(epsilon) + 2
    if size < limit:
        return Chosen(direct, f"size {size} is below 3 exp(epsilon) + 2 = {limit:.1f}")
    if rule == "unary":
        from sottovoce.mechanisms.oue import OUE

        reason = f"you prefer unary encoding: {-(-size // 8)} bytes a report"
        return Chosen(OUE(epsilon, size), reason)
    return Chosen(AffineResponse(epsilon, size), f"size {size} is not below 3 exp(epsilon) + 2")


def _least_variance(direct: GRR) -> Chosen:
    size = direct.size
    epsilon = direct.epsilon
    if size < 3:
        return Chosen(direct, "two values: randomised response is optimal")
    affine = AffineResponse(epsilon, size)
    direct_variance = average_variance(direct.p, direct.q, size)
    affine_variance = average_variance(affine.p, affine.q, size)
    if direct_variance <= affine_variance:
        reason = (
            f"a small domain: variance per user {direct_variance:.3g}"
            f" against {affine_variance:.3g} of affine response"
        )
        return Chosen(direct, reason)
    reason = (
        f"variance per user {affine_variance:.3g} against {direct_variance:.3g} of GRR,"
        f" in {affine.width} bytes whatever the domain"
    )
    if affine.buckets == 1 << hashing.MAX_RANK:
        reason += "; at so large an epsilon more buckets would be better still"
    return Chosen(affine, reason)
