"""The contract of randomisers of a number, and the mean that all of them give.

The number travels as an index of a fine grid, and a report is one of finitely many outputs.  No
floating-point number is drawn or sent, because its last digits would tell more than its law does.
Every output stands for an unbiased number x, so a tally that counts the outputs holds the mean and
its error:

    mean = sum of x / n        variance of the mean = sum of (x - mean)^2 / (n (n - 1))

Source: Mironov 2012.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate, Total
from sottovoce.core.influence import Exposure, Influence, StatedInfluence
from sottovoce.core.noise import Noise
from sottovoce.core.tally import Tally
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from sottovoce.maths.em import Channel

MAX_CHANNEL = 1 << 26  # probabilities that are listed together


@dataclass(frozen=True)
class MeanNoise(Noise):
    """The error of a sum of independent numbers, each of this variance."""

    variance: float

    def variances(self, votes: Floats, users: int) -> Floats:
        return np.full(len(votes), users * self.variance)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return float(coefficients**2 @ self.variances(votes, users))


class NumericMechanism(Mechanism):
    """A randomiser of grid points in [-1, 1] whose reports are unbiased for their number."""

    randomises_numbers = True

    def numeric(self) -> "NumericMechanism":
        return self

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Return how many different reports there are."""

    @abstractmethod
    def codes(self, reports: Reports) -> Ints:
        """Return the output in [0, outputs) that each report is."""

    @abstractmethod
    def numbers(self, outputs: Ints) -> Floats:
        """Return the unbiased number of each output; it may lie far outside of [-1, 1]."""

    @abstractmethod
    def variance(self, values: Values) -> Floats:
        """Return the exact variance of the number that is reported for each index."""

    @property
    def influence(self) -> Influence:
        """Return the smallest and the largest number that one report can add to the sum."""
        numbers = self.numbers(np.arange(self.outputs))
        return Influence(float(numbers.max()), -float(numbers.min()))

    @property
    def influence_law(self) -> StatedInfluence:
        influence = self.influence
        return StatedInfluence(np.array([influence.up]), np.array([influence.down]), np.ones(1))

    @property
    def end(self) -> float:
        """Return the number of the last index; that of the first index is its negative."""
        return 1.0

    def points(self, values: Values) -> Floats:
        """Return the number in [-1, 1] of each index."""
        steps = 2 * values - (self.size - 1)
        return np.asarray(self.end * steps / (self.size - 1), np.float64)

    def channel(self) -> Floats:
        """Return (outputs, size): the probability of every output under every index."""
        if self.outputs * self.size > MAX_CHANNEL:
            raise ParameterError(
                f"a channel of more than {MAX_CHANNEL} probabilities is too large to list:"
                " choose a coarser grid"
            )
        return self.likelihood(self.outcomes())

    def output_counts(self, tally: Tally) -> Ints:
        return self.check_tally(tally)["outputs"]

    @property
    def output_channel(self) -> "Channel":
        from sottovoce.maths.em import Dense

        return Dense(self.channel())

    def tally(self, reports: Reports) -> Tally:
        counts = np.bincount(self.codes(reports), minlength=self.outputs)
        return Tally(self.key, len(reports), {"outputs": counts.astype(np.int64)})

    def evidence(self, reports: Reports) -> Tally:
        """Return how often every output was reported: some counts no population can cause."""
        return self.tally(reports)

    def mean(self, tally: Tally) -> Total:
        """Return the mean on the scale of [-1, 1], unclipped, with its variance.

        The variance is that of an estimate for the population from which the users were drawn.
        For the mean of the users themselves it is too large, by the variance of their values over
        their number.
        """
        counts = self.check_tally(tally)["outputs"]
        users = tally.users
        if users < 2:
            raise NoDataError("a mean with its error needs at least two reports")
        numbers = self.numbers(np.arange(self.outputs))
        mean = float(counts @ numbers) / users
        spread = float(counts @ (numbers - mean) ** 2) / (users - 1)
        exposure = Exposure(self.influence.times(1 / users), users)
        return Total(mean, max(spread, self._least_variance) / users, exposure)

    def estimate(self, tally: Tally) -> Estimate:
        """Return one cell, whose frequency is the mean."""
        mean = self.mean(tally)
        noise = MeanNoise(mean.variance * tally.users)
        votes = np.array([mean.total * tally.users])
        return Estimate(votes, noise, tally.users, self.epsilon, law=self.influence_law)

    @property
    def _least_variance(self) -> float:
        """Return the least variance of a report: a few equal reports have no spread of their own.

        It is reached at the middle of the grid or at its ends.
        """
        return float(self.variance(np.array([0, self.size // 2, self.size - 1])).min())
