"""Which mechanism for a domain and an epsilon, and why.

The mechanism with the least exact variance, averaged over the domain, is chosen among those whose
report has at most ten bytes and whose decoding does not compare every report with every value:

    GRR                 always
    subset selection    up to 80 values, one bit each
    affine response     always, ten bytes

Of equal variances the shorter report wins.  Subset selection has the least variance of all known
mechanisms; it equals GRR on the smallest domains, and affine response with up to 2^16 buckets
approaches it beyond 80 values.

This is the rule "least variance", the default of tasks.  A task's document states the rule, so that
each rule stays what it is, and a better one gets a name of its own.

With the rule "grr or affine" subset selection is left out, and so is affine response with more than
2^12 buckets, which is better from epsilon 9 on.  It is ``UNSTATED_RULE``: what a
document means that states neither a mechanism nor a rule, so that a published one is read as the
same task for ever.  Documents of tables and of sets of items have no place for a rule and stay with
it.

The published rule (GRR below 3 e^epsilon + 2 values) compares GRR with unary encoding, which affine
response beats on small domains; it stays available by name.

Source: Wang 2021, section 3.4; Ye and Barg 2018; docs/affine-response.md.
"""

from dataclasses import dataclass
from math import exp

from sottovoce.core.settings import choice
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine import AffineResponse, average_variance, best_rank
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.subset import SubsetSelection

MAX_WIDTH = 10  # bytes of a report, that of affine response
DEFAULT_RULE = "least variance"  # of tasks that are made
UNSTATED_RULE = "grr or affine"  # of documents that name neither a mechanism nor a rule
RULES = (DEFAULT_RULE, UNSTATED_RULE, "published", "unary")


def is_kind(mechanism: str) -> bool:
    """Return whether the setting of a task names a kind of mechanism, not a rule to choose one.

    >>> is_kind("oue"), is_kind("least variance"), is_kind("")
    (True, False, False)
    """
    return mechanism not in ("", *RULES)


@dataclass(frozen=True)
class Chosen:
    """A mechanism and the reason for it."""

    mechanism: PureMechanism
    reason: str


def choose(size: int, epsilon: float, rule: str = DEFAULT_RULE) -> Chosen:
    """Return the mechanism for a domain of ``size`` values.

    >>> [choose(size, 1.0).mechanism.kind for size in (4, 20, 1000)]
    ['grr', 'subset', 'affine']
    """
    choice("rule", rule, RULES)
    direct = GRR(epsilon, size)
    if rule in (DEFAULT_RULE, UNSTATED_RULE):
        return _least_variance(_candidates(direct, rule))
    limit = 3 * exp(epsilon) + 2
    if size < limit:
        return Chosen(direct, f"size {size} is below 3 exp(epsilon) + 2 = {limit:.1f}")
    if rule == "unary":
        from sottovoce.mechanisms.oue import OUE

        reason = f"you prefer unary encoding: {-(-size // 8)} bytes a report"
        return Chosen(OUE(epsilon, size), reason)
    return Chosen(AffineResponse(epsilon, size), f"size {size} is not below 3 exp(epsilon) + 2")


def _candidates(direct: GRR, rule: str) -> list[PureMechanism]:
    """Return the mechanisms that a rule compares, those with the shorter report first."""
    epsilon, size = direct.epsilon, direct.size
    if size < AffineResponse.min_size:
        return [direct]
    if rule == UNSTATED_RULE:
        return [direct, AffineResponse(epsilon, size)]
    affine = AffineResponse(epsilon, size, 1 << best_rank(epsilon, size, hashing.MAX_RANK))
    if -(-size // 8) > MAX_WIDTH:
        return [direct, affine]
    return [direct, SubsetSelection(epsilon, size), affine]


def _least_variance(candidates: list[PureMechanism]) -> Chosen:
    if len(candidates) == 1:
        return Chosen(candidates[0], "two values: randomised response is optimal")
    variances = [average_variance(each.p, each.q, each.size) for each in candidates]
    # GRR is subset selection of one value: a difference in the last digits is no difference.
    best = min(range(len(candidates)), key=lambda index: (float(f"{variances[index]:.9g}"), index))
    chosen = candidates[best]
    others = [
        f"{variance:.3g} of {each.kind}"
        for each, variance in zip(candidates, variances, strict=True)
        if each is not chosen
    ]
    reason = (
        f"variance per user {variances[best]:.3g} against {' and '.join(others)},"
        f" in {chosen.width} bytes"
    )
    return Chosen(chosen, reason)
