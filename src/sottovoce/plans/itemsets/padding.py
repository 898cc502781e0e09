"""The arithmetic of padding and sampling: what sampling one of many items buys, and how far to pad.

A set is padded to ``length`` with distinct dummies and one element of it is reported.  That hides the set among others,
so direct randomised response may be given a larger epsilon inside; local hashing and unary encoding may not.

Source: Wang 2021, chapter 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, exp, expm1, log1p, sqrt
from statistics import NormalDist

from sottovoce.errors import ParameterError

SHARE = 0.9  # of the sets that padding covers
MISTAKE = 0.05  # the chance that any length is believed in vain


def amplified(epsilon: float, length: int) -> float:
    """Return the epsilon inside that direct response may spend, so that the whole report spends ``epsilon``.

    >>> round(amplified(1.0, 5), 2)
    2.26
    """
    if length < 1:
        raise ParameterError("sets are padded to at least one element")
    return log1p(length * expm1(epsilon))


@dataclass(frozen=True)
class Relaxed:
    """Amplification of local hashing that holds but for a chance ``delta``: for accounting, never with pure results."""

    epsilon: float
    buckets: int
    shared: int  # how many elements of a set may fall into one bucket


def amplified_but_for(delta: float, epsilon: float, length: int) -> Relaxed:
    """Return the largest epsilon inside for local hashing: no more than ``shared`` elements share a bucket but rarely.

    The condition is not monotone, because the buckets change with it; all choices are tried.
    """
    if not 0 <= delta < 1 or length < 1:
        raise ParameterError("a chance is from 0 to below 1, and sets are padded to at least one element")
    for shared in range(1, length):
        raised = length / shared * expm1(epsilon)
        buckets = ceil(raised + 2)
        if comb(length, shared + 1) <= delta * buckets**shared:
            return Relaxed(log1p(raised), buckets, shared)
    return Relaxed(epsilon, ceil(exp(epsilon) + 1), length)


def direct_is_better(epsilon: float, length: int, candidates: int) -> bool:
    """Return whether direct response, amplified, errs less than local hashing over so many candidates."""
    return candidates < length * (4 * length - 1) * exp(epsilon) + 1


@dataclass(frozen=True)
class Reach:
    """How far to pad, by what to multiply what sets beyond that lost, and whether any length was seen at all."""

    length: int
    correction: float
    confident: bool


def significant(lengths: int, users: int, epsilon: float) -> float:
    """Return the count above which a length is believed: one of them is reached by noise alone with chance 5 %."""
    deviation = sqrt(users) * 2 * exp(epsilon / 2) / expm1(epsilon)
    return -NormalDist().inv_cdf(MISTAKE / lengths) * deviation


def reach(counts: Sequence[float], threshold: float, *, guarded: bool = True) -> Reach:
    """Return what the estimated numbers of sets of length 1, 2, ... say; equation 5.5.

    Insignificant counts are left out.  Guarded, so is everything after the first gap beyond the length: one length
    believed in vain there would change every answer.

    >>> reach([50, 30, 15, 5], threshold=1)
    Reach(length=3, correction=1.0294117647058822, confident=True)
    """
    seen = [count if count > threshold else 0.0 for count in counts]
    if not any(seen):
        return Reach(1, 1.0, confident=False)
    total, covered, length = sum(seen), 0.0, 0
    while covered <= SHARE * total and length < len(seen):
        covered += seen[length]
        length += 1
    if guarded:
        gap = next((place for place in range(length, len(seen)) if not seen[place]), len(seen))
        seen = seen[:gap]
    items = sum(size * count for size, count in enumerate(seen, 1))
    lost = sum((size - length) * count for size, count in enumerate(seen, 1) if size > length)
    return Reach(length, items / (items - lost), confident=True)
