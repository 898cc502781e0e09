"""How high the total of a band of values rises by noise alone, where nobody holds any of them.

The supports of a band are how many of its values the reports support, all together.  The reports of
an empty band are independent and alike, whoever holds which other value, so that the law of one
report gives that of all:

* ``IndependentSupports``: every value of the band is supported with q by itself, so that n reports
  give Binomial(n b, q) supports for b values.  Unary encoding.
* ``UniformSets``: a report is a set of k of the d values.  It holds its user's value with p, and
  every set of the others is equally likely, so that one report supports

      Hypergeometric(d - 1, b, k - 1) with p,  Hypergeometric(d - 1, b, k) otherwise

  values.  For k = 1 (GRR) n reports give Binomial(n, b q); other sums are powers of a Fourier
  transform.  GRR and subset selection.

Of other mechanisms only the variance v of one report's score is known, and the largest score m.
That is the case of hashed reports (affine response, local hashing, Hadamard response), whose law
depends on which values of the band lie in one bucket together.  Then

    P[S >= x] <= e^2 / 2 P[T >= x]        T = sum of n coins that show m with r = v / (m^2 + v),
                                              and -v / m otherwise

which is never too small.  For large n the bound is like a normal one for a tail 2 / e^2 as large,
so that a band has to be about a sixth higher than it would by the exact law.

The constant is that of theorem 1.1 of the source.

Source: Bentkus 2004.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, exp, floor, sqrt

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.maths import binomial

_FAR = 15  # standard deviations, beyond which sums of many reports do not lie
_MAX_SUMS = 1 << 22  # that are listed
_ROUNDING = 1e-9  # of a tail that was computed by Fourier transforms
_BENTKUS = exp(2) / 2


class BandSupports(ABC):
    """The exact law of the supports of an empty band."""

    @abstractmethod
    def least(self, width: int, users: int, tail: float) -> int | None:
        """Return the least supports of ``width`` values that have at most the probability ``tail``.

        None where there are too many possible sums to list.
        """


@dataclass(frozen=True)
class IndependentSupports(BandSupports):
    """Every value is supported by itself, with probability ``q``."""

    q: float

    def least(self, width: int, users: int, tail: float) -> int | None:
        return binomial.upper_quantile(tail, users * width, self.q) + 1


@dataclass(frozen=True)
class UniformSets(BandSupports):
    """Sets of ``chosen`` of ``size`` values, which hold the user's own with probability ``p``."""

    p: float
    size: int
    chosen: int

    def least(self, width: int, users: int, tail: float) -> int | None:
        if self.chosen == 1:
            falsely = (1 - self.p) * width / (self.size - 1)
            return binomial.upper_quantile(tail, users, falsely) + 1
        return _least_sum(self.of_one_report(width), users, tail)

    def of_one_report(self, width: int) -> Floats:
        """Return the probability of every number of supports that one report gives."""
        with_own = _hypergeometric(self.size - 1, width, self.chosen - 1)
        without = _hypergeometric(self.size - 1, width, self.chosen)
        chances = (1 - self.p) * without
        chances[: len(with_own)] += self.p * with_own
        return chances


def _hypergeometric(values: int, width: int, drawn: int) -> Floats:
    """Return the probability of every number of ``width`` values among ``drawn`` of all values."""
    chances = np.ones(1)
    for step in range(drawn):
        found = np.arange(len(chances))
        hit = np.clip((width - found) / (values - step), 0.0, 1.0)
        chances = np.append(chances * (1 - hit), 0.0) + np.append(0.0, chances * hit)
    return chances


def _least_sum(chances: Floats, users: int, tail: float) -> int | None:
    """Return the least sum of so many independent numbers that has at most this probability."""
    numbers = np.arange(len(chances))
    mean = float(chances @ numbers)
    deviation = sqrt(users * float(chances @ (numbers - mean) ** 2))
    possible = users * (len(chances) - 1) + 1
    needed = min(possible, ceil(2 * _FAR * (deviation + len(chances))))
    count = 1 << max(needed - 1, len(chances)).bit_length()
    if count > _MAX_SUMS:
        return None
    # Sums that are equal modulo ``count`` fall together: only those near the mean are likely.
    spectrum = np.fft.rfft(chances, count) ** users
    start = max(0, floor(users * mean) - count // 2)
    sums = start + np.arange(count)
    likely = np.fft.irfft(spectrum, count)[sums % count]
    tails = np.cumsum(likely[::-1])[::-1]
    return start + int(np.count_nonzero(tails > tail - _ROUNDING))


def conservative(variance: float, most: float, users: int, tail: float) -> float:
    """Return a sum of scores that is reached with at most the probability ``tail``.

    Scores have the mean 0, this variance, and are at most ``most``.
    """
    chance = variance / (most**2 + variance)
    least = binomial.upper_quantile(tail / _BENTKUS, users, chance) + 1
    low = -variance / most
    return users * low + least * (most - low)
