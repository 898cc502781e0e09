"""What a collector learns from shuffled unary reports of one population, bit by bit or whole.

Of three values, everybody but one person holds the third; that person holds the first or the
second.  With n reports, of which N_k are of kind k,

    P[counts | person holds x] = C * sum over k of N_k P_x(k) / P_3(k)

so that the likelihood ratio of the two values is exact.  ``shuffled_vectors_delta`` draws counts of
whole vectors and averages (1 - e^epsilon / ratio)+: an unbiased estimate of

    delta(epsilon) = E[(1 - e^epsilon / ratio)+]

for this population, and thus of a lower bound of the delta that anybody may claim.
``shuffled_bits_delta`` is the same for bits that are shuffled one by one, summed without sampling:
the third location tells nothing, and the two others are independent.

Source: Wang 2021, section 9.3.1 (theorem 9.3.1, which holds for single bits only).
"""

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.mechanisms.sue import SUE

_DRAWS_AT_ONCE = 100_000
_DEVIATIONS = 12  # of a count, beyond which nothing is summed


@dataclass(frozen=True)
class SampledDelta:
    """A sampled delta and its standard error."""

    delta: float
    error: float


def shuffled_vectors_delta(
    local: float, users: int, epsilon: float, draws: int, seed: int
) -> SampledDelta:
    """Return a sampled lower bound of delta for vectors that are shuffled whole."""
    mechanism = SUE(local, 3)
    likelihood = mechanism.likelihood(mechanism.outcomes())
    generator = np.random.default_rng(seed)
    losses = [
        _vector_losses(likelihood, users, epsilon, min(_DRAWS_AT_ONCE, draws - start), generator)
        for start in range(0, draws, _DRAWS_AT_ONCE)
    ]
    joined = np.concatenate(losses)
    return SampledDelta(float(joined.mean()), float(joined.std() / sqrt(draws)))


def _vector_losses(
    likelihood: Floats, users: int, epsilon: float, draws: int, generator: np.random.Generator
) -> Floats:
    """Return (1 - e^epsilon / ratio)+ of drawn batches; the person holds the first value."""
    counts: Ints = generator.multinomial(users - 1, likelihood[:, 2], draws)
    counts = counts + generator.multinomial(1, likelihood[:, 0], draws)
    first = counts @ (likelihood[:, 0] / likelihood[:, 2])
    second = counts @ (likelihood[:, 1] / likelihood[:, 2])
    return np.maximum(0.0, 1 - exp(epsilon) * second / first)


def shuffled_bits_delta(local: float, users: int, epsilon: float) -> float:
    """Return the exact delta of this population for bits that are shuffled one by one."""
    from scipy.stats import binom

    mechanism = SUE(local, 3)
    p = mechanism.p
    q = mechanism.q
    spread = _DEVIATIONS * sqrt(users * q * (1 - q)) + _DEVIATIONS
    low = max(0, int(users * q - spread))
    high = min(users, int(users * q + spread))
    ones = np.arange(low, high + 1)
    # With n reports of which c are 1, relative to n people whose bit is 0:
    relative = (ones * p / q + (users - ones) * (1 - p) / (1 - q)) / users
    unheld = binom.pmf(ones, users, q)
    held = relative * unheld
    # The person holds the first value: the first location is held and the second is not.
    first = np.outer(held, unheld)
    second = np.outer(unheld, held)
    return float(np.maximum(0.0, first - exp(epsilon) * second).sum())
