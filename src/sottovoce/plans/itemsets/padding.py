"""Padding and sampling: what reporting one item of a set gains, and how far sets are padded.

A set is padded to ``length`` with distinct dummies, and one element of it is reported.  That hides
the element among the others, so direct response may spend a larger epsilon inside:

    epsilon inside = log(1 + length (e^epsilon - 1))

Local hashing and unary encoding gain nothing, because a whole set may fall into one bucket.

Who has more than ``length`` candidates reports each of them less often than counts assume.  For
single items one factor makes up for that (``fit_padding``).  It does not for candidates of several
items: a set of three comes with three pairs and three items, so its holders are those who have the
most candidates, and numbers of candidates have gaps (1, 3, 7, ...) at which a guard against single
errors would stop.  So ``pad_for_sets`` takes the least length beyond which at most one membership
in a hundred can be lost.  Amplified direct response makes that cheap: its variance grows with the
length only by length / candidates.

Source: Wang 2021, chapter 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, expm1, log1p

import numpy as np

from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError

SHARE = 0.9  # of the sets that padding covers
MAX_LOST = 0.01  # of all memberships in candidates of several items
_ERRORS = 1.0  # standard errors by which more may be lost than was estimated
_MOST_LOST = 0.5  # of all memberships: reports say too little for any more
MISTAKE = 0.05  # probability that any length is accepted although nobody has it


def amplified(epsilon: float, length: int) -> float:
    """Return the epsilon that direct response may spend inside a report that spends ``epsilon``.

    >>> round(amplified(1.0, 5), 2)
    2.26
    """
    if length < 1:
        raise ParameterError("`length` of padded sets must be at least 1")
    return log1p(length * expm1(epsilon))


def direct_is_better(epsilon: float, length: int, candidates: int) -> bool:
    """Return whether amplified direct response errs less than hashing so many candidates."""
    return candidates < length * (4 * length - 1) * exp(epsilon) + 1


@dataclass(frozen=True)
class Padding:
    """The padded length of sets, and the correction for longer sets.

    - ``correction`` multiplies the counts, to make up for items lost from sets beyond the length.
    - ``highest`` multiplies upper bounds: it also allows for sizes too rare to be seen.
    - ``confident`` is false if no length was seen at all.
    """

    length: int
    correction: float
    confident: bool
    highest: float = 1.0


def fit_padding(counts: Sequence[float], threshold: float, *, guarded: bool = True) -> Padding:
    """Return the padding for estimated numbers of sets of length 1, 2, ...; equation 5.5.

    Counts at or below the threshold are left out.  With ``guarded``, so is everything after the
    first gap beyond the length: one length believed in error there would change every answer.

    >>> fit_padding([50, 30, 15, 5], threshold=1)
    Padding(length=3, correction=1.0294117647058822, confident=True, highest=1.0)
    """
    seen = [count if count > threshold else 0.0 for count in counts]
    if not any(seen):
        return Padding(1, 1.0, confident=False)
    total = sum(seen)
    covered = 0.0
    length = 0
    while covered <= SHARE * total and length < len(seen):
        covered += seen[length]
        length += 1
    if guarded:
        gaps = [index for index in range(length, len(seen)) if not seen[index]]
        seen = seen[: min(gaps, default=len(seen))]
    sizes = range(1, len(seen) + 1)
    items = sum(size * count for size, count in zip(sizes, seen, strict=True))
    lost = sum(max(0, size - length) * count for size, count in zip(sizes, seen, strict=True))
    return Padding(length, items / (items - lost), confident=True)


def pad_for_sets(estimate: Estimate) -> Padding:
    """Return the padding for candidates of several items.

    ``estimate`` says how many people have 0, 1, 2, ... candidates.
    """
    for length in range(1, len(estimate.votes)):
        lost, possible = _lost_shares(estimate, length)
        if possible <= MAX_LOST:
            break
    return with_highest(Padding(length, 1 / (1 - lost), confident=True), estimate)


def with_highest(padding: Padding, estimate: Estimate) -> Padding:
    """Return the padding with the factor for all that is lost, unseen sizes included."""
    lost, _ = _lost_shares(estimate, padding.length)
    return replace(padding, highest=max(padding.correction, 1 / (1 - lost)))


def _lost_shares(estimate: Estimate, length: int) -> tuple[float, float]:
    """Return the share of memberships that is lost by so much padding, and a higher one.

    A person with s candidates loses s - length of them.  Both shares are sums over the raw counts,
    so that they include sizes that are individually too rare to be seen.
    """
    sizes = np.arange(len(estimate.votes), dtype=np.float64)
    memberships = max(estimate.weighted(sizes).total, 1.0)
    lost = estimate.weighted(np.maximum(sizes - length, 0.0))
    share = float(np.clip(lost.total / memberships, 0.0, _MOST_LOST))
    possible = (lost.total + _ERRORS * lost.error) / memberships
    return share, float(np.clip(possible, share, _MOST_LOST))
