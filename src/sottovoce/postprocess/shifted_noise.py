"""The error of votes that post-processing shifted: the raw variance, and the square of the shift.

A shift has a bias that no replicate shows, because a bootstrap draws from a fit that is biased
itself.  The raw answer, though, is unbiased with a known variance V, so it says how far the new one
can be from the truth:

    variance of a sum shifted by m = V + m^2

An interval of z roots of V + m^2 covers at least as often as z roots of V around the raw answer:
for small m shift and width cancel up to m^2, and for larger m the width wins.  The price is that no
interval is narrower than that of the raw shares, once they sum to 1.

The interval of a single cell is that of the raw votes, stretched to where the new votes are.  It
covers whenever the raw interval does, and is never longer than z roots of V + m^2.

docs/evidence/post-processing.md has the measured coverage.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.noise import Noise
from sottovoce.core.support_law import Sampled


@dataclass(frozen=True, eq=False)
class ShiftedNoise(Noise):
    """The law of the ``raw`` votes, seen from votes elsewhere.

    Over a ``whole`` domain all votes sum to the users, so only the distance of the coefficients
    from their mean has an error.
    """

    raw: Floats
    noise: Noise
    whole: bool

    @property
    def has_sums(self) -> bool:  # type: ignore[override]
        return self.noise.has_sums

    def picked(self, indices: Ints) -> "ShiftedNoise":
        return ShiftedNoise(self.raw[indices], self.noise.picked(indices), self.whole)

    def variances(self, votes: Floats, users: int) -> Floats:
        return self.noise.variances(self.raw, users) + (votes - self.raw) ** 2

    def unheld_votes(self, votes: Floats, users: int, tail: float) -> Floats:
        return self.noise.unheld_votes(self.raw, users, tail)

    def bounds(self, votes: Floats, sample: Sampled, tail: float) -> tuple[Floats, Floats]:
        low, high = self.noise.bounds(self.raw, sample, tail)
        return np.minimum(low, votes), np.maximum(high, votes)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        mean = coefficients.mean() if self.whole else 0.0
        centred = coefficients - mean
        raw_total = self.noise.total(centred, self.raw, users) + mean * users
        shift = self.total(coefficients, votes, users) - raw_total
        return self.noise.linear(centred, self.raw, users) + shift**2
