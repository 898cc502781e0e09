"""The contract of randomisers of a number, and the mean that all of them give.

The number travels as an index of a fine grid, and a report is one of finitely many outputs: no floating-point number is
drawn or sent, since its last digits would tell more than its law does.  Every output stands for an unbiased number, so
a tally, which counts the outputs, holds the mean and its error.

Source: Mironov 2012.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate, Total
from sottovoce.core.noise import Noise
from sottovoce.core.tally import Tally
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.mechanisms.base import Mechanism

LARGEST_CHANNEL = 1 << 26  # chances that are listed together


@dataclass(frozen=True)
class MeanNoise(Noise):
    """The error of a sum of independent numbers, each of this variance."""

    variance: float

    def variances(self, votes: Floats, users: int) -> Floats:
        return np.full(len(votes), users * self.variance)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return float(coefficients**2 @ self.variances(votes, users))


class NumericMechanism(Mechanism):
    """A randomiser of grid points in [-1, 1] whose reports are unbiased for the number they come from."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Return how many different reports there are."""

    @abstractmethod
    def codes(self, reports: Reports) -> Ints:
        """Return the output in [0, outputs) that each report is."""

    @abstractmethod
    def numbers(self, outputs: Ints) -> Floats:
        """Return the unbiased number that each output stands for; it may lie far outside of [-1, 1]."""

    @abstractmethod
    def variance(self, values: Values) -> Floats:
        """Return the exact variance of the number that comes out for each index."""

    @property
    def end(self) -> float:
        """Return the number that the last index stands for; the first one stands for minus that."""
        return 1.0

    def points(self, values: Values) -> Floats:
        """Return the number in [-1, 1] that each index stands for."""
        return np.asarray(self.end * (2 * values - (self.size - 1)) / (self.size - 1), np.float64)

    def channel(self) -> Floats:
        """Return (outputs, size): the chance of every output under every index."""
        if self.outputs * self.size > LARGEST_CHANNEL:
            raise ParameterError(f"a channel of more than {LARGEST_CHANNEL} chances is not listed: take a coarser grid")
        return self.likelihood(self.outcomes())

    def tally(self, reports: Reports) -> Tally:
        counts = np.bincount(self.codes(reports), minlength=self.outputs)
        return Tally(self.key, len(reports), {"outputs": counts.astype(np.int64)})

    def mean(self, tally: Tally) -> Total:
        """Return the mean on the scale of [-1, 1], unclipped, with the variance of the numbers over their count.

        That is the variance for the people whom the users were drawn from.  For the mean of the users themselves it is
        too large by the spread of what they hold.
        """
        counts, users = self.check_tally(tally)["outputs"], tally.users
        if users < 2:
            raise NoDataError("a mean with its error needs at least two reports")
        numbers = self.numbers(np.arange(self.outputs))
        mean = float(counts @ numbers) / users
        spread = float(counts @ (numbers - mean) ** 2) / (users - 1)
        return Total(mean, max(spread, self._least) / users)

    def estimate(self, tally: Tally) -> Estimate:
        """Return one cell, whose frequency is the mean."""
        mean = self.mean(tally)
        noise = MeanNoise(mean.variance * tally.users)
        return Estimate(np.array([mean.total * tally.users]), noise, tally.users, self.epsilon)

    @property
    def _least(self) -> float:
        # A few equal reports have no spread; the randomiser has at the middle or at the ends.
        return float(self.variance(np.array([0, self.size // 2, self.size - 1])).min())
