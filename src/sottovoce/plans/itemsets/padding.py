"""Padding and sampling: what reporting one item of a set gains, and how far sets are padded.

A set is padded to ``length`` with distinct dummies, and one element of it is reported.  That hides
the element among the others, so direct response may spend a larger epsilon inside:

    epsilon inside = log(1 + length (e^epsilon - 1))

Local hashing and unary encoding gain nothing, because a whole set may fall into one bucket.

Source: Wang 2021, chapter 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, log1p

from sottovoce.errors import ParameterError

SHARE = 0.9  # of the sets that padding covers
MISTAKE = 0.05  # the chance that any length is believed although nobody has it


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
    """How far sets are padded.

    Counts are multiplied by ``correction`` for what sets beyond the length lose.  ``confident`` is
    false if no length was seen at all.
    """

    length: int
    correction: float
    confident: bool


def fit_padding(counts: Sequence[float], threshold: float, *, guarded: bool = True) -> Padding:
    """Return the padding for estimated numbers of sets of length 1, 2, ...; equation 5.5.

    Counts at or below the threshold are left out.  With ``guarded``, so is everything after the
    first gap beyond the length: one length believed in error there would change every answer.

    >>> fit_padding([50, 30, 15, 5], threshold=1)
    Padding(length=3, correction=1.0294117647058822, confident=True)
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
