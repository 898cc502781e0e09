"""Amplification of local hashing by padding and sampling, which holds only but for a chance delta.

A set may fall into one bucket as a whole, so local hashing gains nothing in the worst case.  But
for a chance delta no more than ``shared`` elements of a set share a bucket, and then

    epsilon inside = log(1 + length / shared (e^epsilon - 1))

This is for accounting as in the paper; it must never be used where a pure epsilon is promised.

Source: Wang 2021, section 5.2.
"""

from dataclasses import dataclass
from math import ceil, comb, exp, expm1, log1p

from sottovoce.core.settings import whole
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class RelaxedAmplification:
    """The epsilon inside, the buckets of the hash, and how many elements may share a bucket."""

    epsilon: float
    buckets: int
    shared: int


def amplified_but_for(delta: float, epsilon: float, length: int) -> RelaxedAmplification:
    """Return the largest epsilon inside for local hashing.

    The condition is not monotone, because the buckets change with it, so all choices are tried.
    """
    if not 0 <= delta < 1:
        raise ParameterError("`delta` must be at least 0 and below 1")
    whole("length", length, 1)
    for shared in range(1, length):
        raised = length / shared * expm1(epsilon)
        buckets = ceil(raised + 2)
        if comb(length, shared + 1) <= delta * buckets**shared:
            return RelaxedAmplification(log1p(raised), buckets, shared)
    return RelaxedAmplification(epsilon, ceil(exp(epsilon) + 1), length)
