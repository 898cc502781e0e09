"""Which mechanism for a domain and an epsilon, and why.

The mechanism with the least exact variance, averaged over the domain, is chosen among those whose
report has at most ten bytes and whose decoding does not compare every report with every value:

    GRR                 always
    subset selection    up to 80 values, one bit each
    affine response     always, ten bytes

Of equal variances the shorter report wins.  Subset selection has the least variance of all known
mechanisms; it equals GRR on the smallest domains, and affine response approaches it beyond 80
values.  Only above epsilon 9 and 60,000 values is there a better one with a short report, local
hashing (OLH), and its decoding costs a hash per report and value.

With the rule "grr or affine" subset selection is left out.  It is ``TASK_RULE``, the rule of tasks
and layers that name neither a mechanism nor a rule: a document that was published under it must be
read as the same task for ever.  A task may name a rule where it could name a mechanism
(``sv.Histogram(labels, "least variance")``); its document states the rule, so that each rule stays
what it is, and a better one gets a name of its own.  Joint tables use "least variance".

The published rule (GRR below 3 e^epsilon + 2 values) compares GRR with unary encoding, which affine
response beats on small domains; it stays available by name.

Source: Wang 2021, section 3.4; Ye and Barg 2018; docs/affine-response.md.
"""

from dataclasses import dataclass
from math import exp

from sottovoce.core.settings import choice
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine import AffineResponse, average_variance
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.subset import SubsetSelection

MAX_WIDTH = 10  # bytes of a report, that of affine response
RULES = ("least variance", "grr or affine", "published", "unary")
TASK_RULE = "grr or affine"  # of tasks that name no mechanism


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


def choose(size: int, epsilon: float, rule: str = "least variance") -> Chosen:
    """Return the mechanism for a domain of ``size`` values.

    >>> [choose(size, 1.0).mechanism.kind for size in (4, 20, 1000)]
    ['grr', 'subset', 'affine']
    """
    choice("rule", rule, RULES)
    direct = GRR(epsilon, size)
    if rule in ("least variance", "grr or affine"):
        return _least_variance(direct, with_subsets=rule == "least variance")
    limit = 3 * exp(epsilon) + 2
    if size < limit:
        return Chosen(direct, f"size {size} is below 3 exp(epsilon) + 2 = {limit:.1f}")
    if rule == "unary":
        from sottovoce.mechanisms.oue import OUE

        reason = f"you prefer unary encoding: {-(-size // 8)} bytes a report"
        return Chosen(OUE(epsilon, size), reason)
    return Chosen(AffineResponse(epsilon, size), f"size {size} is not below 3 exp(epsilon) + 2")


def _least_variance(direct: GRR, *, with_subsets: bool) -> Chosen:
    size = direct.size
    if size < 3:
        return Chosen(direct, "two values: randomised response is optimal")
    candidates: list[PureMechanism] = [direct]
    if with_subsets and -(-size // 8) <= MAX_WIDTH:
        candidates.append(SubsetSelection(direct.epsilon, size))
    candidates.append(AffineResponse(direct.epsilon, size))
    variances = [average_variance(each.p, each.q, size) for each in candidates]
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
    if isinstance(chosen, AffineResponse) and chosen.buckets == 1 << hashing.MAX_RANK:
        reason += "; at so large an epsilon OLH errs less, and decodes slowly"
    return Chosen(chosen, reason)
