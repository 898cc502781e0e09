"""The errors of counts of items and of sets of items, as the searches in baskets estimate them.

``PaddedNoise`` is the law of counts that were multiplied by the correction of the padding.  The
factor is right for all candidates together and not for each one: a candidate that only short sets
hold needs no factor, and one that only long sets hold needs more.  So the interval reaches from the
lower bound of the raw counts to the upper bound of counts times the factor for all that is lost,
sizes that were too rare to be seen included.

``JoinedNoise`` puts the estimates of several rounds side by side, each with its own law.
"""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import Noise
from sottovoce.core.support_law import Sampled
from sottovoce.errors import ParameterError
from sottovoce.postprocess.shifted_noise import ShiftedNoise


@dataclass(frozen=True, eq=False)
class PaddedNoise(ShiftedNoise):
    """The law of ``raw`` votes that were multiplied by at most ``highest``."""

    highest: float = 1.0

    def picked(self, indices: Ints) -> "PaddedNoise":
        return PaddedNoise(
            self.raw[indices], self.noise.picked(indices), whole=False, highest=self.highest
        )

    def bounds(self, votes: Floats, sample: Sampled, tail: float) -> tuple[Floats, Floats]:
        low, high = self.noise.bounds(self.raw, sample, tail)
        lowest = np.minimum(low, np.minimum(self.highest * low, votes))
        highest = np.maximum(high, np.maximum(self.highest * high, votes))
        return lowest, highest


@dataclass(frozen=True, eq=False)
class JoinedNoise(Noise):
    """The laws of several estimates of one population, whose totals stand side by side as votes.

    ``parts`` are the estimates, and ``cells`` the places among all their cells that are in use.
    """

    parts: tuple[Estimate, ...]
    cells: Ints

    complete = False
    has_sums = False

    def picked(self, indices: Ints) -> "JoinedNoise":
        return JoinedNoise(self.parts, self.cells[indices])

    def variances(self, votes: Floats, users: int) -> Floats:
        return np.concatenate([part.variance for part in self.parts])[self.cells]

    def unheld_votes(self, votes: Floats, users: int, tail: float) -> Floats:
        limits = [
            part.scale * part.noise.unheld_votes(part.votes, part.users, tail)
            for part in self.parts
        ]
        return np.concatenate(limits)[self.cells]

    def bounds(self, votes: Floats, sample: Sampled, tail: float) -> tuple[Floats, Floats]:
        low = []
        high = []
        for part in self.parts:
            own_sample = Sampled(part.users, part.population)
            part_low, part_high = part.noise.bounds(part.votes, own_sample, tail)
            low.append(part.scale * part_low)
            high.append(part.scale * part_high)
        return np.concatenate(low)[self.cells], np.concatenate(high)[self.cells]

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        if np.count_nonzero(coefficients) > 1:
            _refuse_sum()
        return float(coefficients**2 @ self.variances(votes, users))


def _refuse_sum() -> NoReturn:
    raise ParameterError(
        "a person may hold several items: the counts of several items do not add up to people"
    )
