"""The arithmetic of prefix extension: prefix lengths, and the smallest visible frequency.

Source: Wang 2021, sections 4.2 and 4.3.
"""

from itertools import pairwise
from math import exp, sqrt
from statistics import NormalDist

from sottovoce.core.settings import whole
from sottovoce.errors import ParameterError

QUERY_BUDGET = 1 << 20  # candidates that are estimated in all, as published


def lengths(bits: int, kept: int, groups: int) -> tuple[int, ...]:
    """Return the prefix lengths s_0 .. s_g of all groups.

    They begin with the bits that ``kept`` candidates need and end with all bits.

    >>> lengths(64, 16, 6)
    (4, 14, 24, 34, 44, 54, 64)
    """
    first = _first_length(bits, kept)
    whole("groups", groups, 1, max(1, bits - first))
    return tuple(first - (-step * (bits - first) // groups) for step in range(groups + 1))


def queries(bits: int, kept: int, groups: int) -> int:
    """Return how many candidates are estimated in all: every extension of every kept prefix.

    >>> queries(64, 16, 5)
    327680
    """
    steps = list(pairwise(lengths(bits, kept, groups)))
    total = 0
    for step, (shorter, longer) in enumerate(steps):
        prefixes = 1 << shorter if step == 0 else min(kept, 1 << shorter)
        total += prefixes << (longer - shorter)
    return total


def fewest_groups(bits: int, kept: int, budget: int = QUERY_BUDGET) -> int:
    """Return the smallest number of groups that a budget of candidates allows.

    Fewer groups lose fewer values.

    >>> fewest_groups(48, 16)
    4
    """
    for groups in range(1, max(1, bits - _first_length(bits, kept)) + 1):
        if queries(bits, kept, groups) <= budget:
            return groups
    raise ParameterError("`queries` must be larger: it does not allow even one bit at a time")


def sensitivity(epsilon: float, candidates: int, users: float, strangers: float = 1.0) -> float:
    """Return the frequency from which a value stands out: Psi, Definition 4.3.1.

    Of all candidates without holders, ``strangers`` are expected to reach it by noise alone.
    """
    if users <= 0:
        raise ParameterError("`users` must be above 0")
    if not 0 < strangers < candidates:
        raise ParameterError("`strangers` must be above 0 and below `candidates`")
    # The standard deviation of one report of optimised local hashing for a rare value.  The tail is
    # computed as such, so 2^128 candidates are no problem.
    deviation = 2 * exp(epsilon / 2) / (exp(epsilon) - 1)
    return deviation / sqrt(users) * -NormalDist().inv_cdf(strangers / candidates)


def _first_length(bits: int, kept: int) -> int:
    """Return how many bits ``kept`` prefixes need: so many are known without a question."""
    first = (kept - 1).bit_length()
    if kept < 1 or first > bits:
        raise ParameterError("the number of kept prefixes must be from 1 to the number of values")
    return first
