"""The errors of counts of items where every item was asked about in a group of its own size.

An item that n of N people were asked about, of whom some said yes, has the supports of n users: its
bounds and its threshold are those of the exact law.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.noise import StatedNoise
from sottovoce.core.support_law import Sampled, SupportLaw


@dataclass(frozen=True, eq=False)
class AskedNoise(StatedNoise):
    """The law of totals of items; ``times`` says how many people were asked about each."""

    law: SupportLaw
    times: Ints

    def picked(self, indices: Ints) -> "AskedNoise":
        return AskedNoise(self.stated[indices], self.law, self.times[indices])

    def unheld_votes(self, votes: Floats, users: int, tail: float) -> Floats:
        limits = [self.law.unheld_votes(tail, times) for times in self.times.tolist()]
        return np.array(limits) * users / self.times

    def bounds(self, votes: Floats, sample: Sampled, tail: float) -> tuple[Floats, Floats]:
        people = sample.population / self.times
        low = np.empty(len(votes))
        high = np.empty(len(votes))
        for cell, times in enumerate(self.times.tolist()):
            own = votes[cell : cell + 1] / people[cell]
            asked = Sampled(times, sample.population)
            own_low, own_high = self.law.bounds(own, asked, tail)
            low[cell] = own_low[0]
            high[cell] = own_high[0]
        return people * low, people * high
