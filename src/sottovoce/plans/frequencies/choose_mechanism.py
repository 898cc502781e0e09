"""Which mechanism for a domain and an epsilon, and why.

The default takes the least exact variance averaged over the domain.  The published rule (GRR below
3 exp(epsilon) + 2 values) compares GRR with unary encoding, which affine response beats on small domains;
it stays available by name.

Source: Wang 2021, section 3.4; docs/affine-response.md.
"""

from dataclasses import dataclass
from math import exp

from sottovoce.errors import ParameterError
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
    """Return the mechanism for a domain.

    >>> choose(4, 1.0).mechanism.kind, choose(1000, 1.0).mechanism.kind
    ('grr', 'affine')
    """
    if rule not in RULES:
        raise ParameterError(f"a rule is one of: {', '.join(RULES)}")
    direct = GRR(epsilon, size)
    if rule == "least variance":
        return _least_variance(direct)
    if size < 3 * exp(epsilon) + 2:
        return Chosen(direct, f"size {size} is below 3 exp(epsilon) + 2 = {3 * exp(epsilon) + 2:.1f}")
    if rule == "unary":
        from sottovoce.mechanisms.oue import OUE

        return Chosen(OUE(epsilon, size), f"you prefer unary encoding: {-(-size // 8)} bytes a report")
    return Chosen(AffineResponse(epsilon, size), f"size {size} is not below 3 exp(epsilon) + 2")


def _least_variance(direct: GRR) -> Chosen:
    size, epsilon = direct.size, direct.epsilon
    if size < 3:
        return Chosen(direct, "two values: randomised response is optimal")
    hashed = AffineResponse(epsilon, size)
    ours, theirs = (average_variance(one.p, one.q, size) for one in (direct, hashed))
    if ours <= theirs:
        return Chosen(direct, f"a small domain: variance per user {ours:.3g} against {theirs:.3g} of affine response")
    reason = f"variance per user {theirs:.3g} against {ours:.3g} of GRR, in {hashed.width} bytes whatever the domain"
    if hashed.buckets == 1 << hashing.MAX_RANK:
        reason += "; at so large an epsilon more buckets would be better still"
    return Chosen(hashed, reason)
