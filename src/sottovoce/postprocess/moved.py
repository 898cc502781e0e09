"""The error of votes that were moved: the raw variance, and the square of the move.

A move has a bias that no replicate shows: a bootstrap draws from a fit that is biased itself.  The raw answer, though,
is unbiased with a known variance V, so it says how far the new one can be from the truth.  Moved by m, an interval of z
roots of V + m^2 covers at least as often as z roots of V around the raw answer: shift and width cancel up to m^2, and
beyond that the width wins.  The price: no interval is narrower than that of the raw shares, once they sum to 1.

docs/evidence/post-processing.md has the measured coverage.
"""

from dataclasses import dataclass

from sottovoce.arrays import Floats, Ints
from sottovoce.core.noise import Noise


@dataclass(frozen=True, eq=False)
class MovedNoise(Noise):
    """The law of the ``raw`` votes, seen from votes elsewhere.

    Over a ``whole`` domain all votes sum to the users: only the coefficients' distance from their mean can err.
    """

    raw: Floats
    noise: Noise
    whole: bool

    def picked(self, places: Ints) -> "MovedNoise":
        return MovedNoise(self.raw[places], self.noise.picked(places), self.whole)

    def variances(self, votes: Floats, users: int) -> Floats:
        return self.noise.variances(self.raw, users) + (votes - self.raw) ** 2

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        mean = coefficients.mean() if self.whole else 0.0
        apart = coefficients - mean
        expected = self.noise.total(apart, self.raw, users) + mean * users
        return self.noise.linear(apart, self.raw, users) + (self.total(coefficients, votes, users) - expected) ** 2
