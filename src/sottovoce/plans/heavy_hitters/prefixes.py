"""The arithmetic of prefix extension: how long a prefix each group of users reports, and what can be seen at all.

Source: Wang 2021, sections 4.2 and 4.3.
"""

from itertools import pairwise
from math import exp, sqrt
from statistics import NormalDist

from sottovoce.errors import ParameterError

QUERY_BUDGET = 1 << 20  # candidates estimated in all, the published choice


def lengths(bits: int, kept: int, groups: int) -> tuple[int, ...]:
    """Return the prefix lengths s_0 .. s_g: from as many bits as ``kept`` candidates need to all of them.

    >>> lengths(64, 16, 6)
    (4, 14, 24, 34, 44, 54, 64)
    """
    first = _first(bits, kept)
    if not 1 <= groups <= max(1, bits - first):
        raise ParameterError("there is at least one group, and each adds at least one bit")
    return tuple(first - (-step * (bits - first) // groups) for step in range(groups + 1))


def queries(bits: int, kept: int, groups: int) -> int:
    """Return how many candidates are estimated in all: every extension of every kept prefix.

    >>> queries(64, 16, 5)
    327680
    """
    found = lengths(bits, kept, groups)
    prefixes = [1 << found[0], *(min(kept, 1 << length) for length in found[1:])]
    return sum(count << (longer - shorter) for count, (shorter, longer) in zip(prefixes, pairwise(found), strict=False))


def fewest_groups(bits: int, kept: int, budget: int = QUERY_BUDGET) -> int:
    """Return the smallest number of groups that a budget of candidates allows; fewer groups lose fewer values.

    >>> fewest_groups(48, 16)
    4
    """
    most = max(1, bits - _first(bits, kept))
    for groups in range(1, most + 1):
        if queries(bits, kept, groups) <= budget:
            return groups
    raise ParameterError("this budget is too small even for one bit at a time")


def sensitivity(epsilon: float, candidates: int, users: float, strangers: float = 1.0) -> float:
    """Return the frequency from which a value stands out: Psi, Definition 4.3.1.

    Of so many candidates that nobody holds, ``strangers`` are expected to reach it by noise alone.  The tail is
    computed as such, so 2^128 candidates are no more than any other number.
    """
    if not 0 < strangers < candidates or users <= 0:
        raise ParameterError("sensitivity needs users, and more candidates than strangers that may pass")
    deviation = 2 * exp(epsilon / 2) / (exp(epsilon) - 1)  # of one report: optimised local hashing, a rare value
    return deviation / sqrt(users) * -NormalDist().inv_cdf(strangers / candidates)


def _first(bits: int, kept: int) -> int:
    first = (kept - 1).bit_length()
    if kept < 1 or first > bits:
        raise ParameterError("from 1 to all values can be kept")
    return first
