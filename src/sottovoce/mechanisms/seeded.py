"""Mechanisms whose reports carry a public seed: which hash, row or cohort the value was hashed by.

A device draws its seed, or a blind token gives it (``Collection.defence``).  A token gives a number
d uniform in [0, 2^64) for every report, and

    seed = d mod seed_count

which is uniform for 2^64 and 2^32 seeds.  Any other number of seeds is at most 2^32, so that no
seed is more likely than another by more than one part in 2^32.

The seed does not depend on the value, and the guarantee holds for every seed separately: the
probability of a report given its seed changes by a factor of at most e^epsilon between any two
values.  So a given seed spends exactly what a drawn one does.

A mechanism states how many seeds there are, how to read them from reports, and how to respond under
given ones.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from sottovoce.arrays import Bools, Longs, Reports, Values
from sottovoce.core.rng import Rng
from sottovoce.mechanisms.base import Mechanism


class SeededMechanism(Mechanism):
    """A mechanism with a public seed in every report."""

    has_seed: ClassVar[bool] = True

    @property
    @abstractmethod
    def seed_count(self) -> int:
        """Return how many seeds there are: they are the numbers from 0 up."""

    @abstractmethod
    def draw_seeds(self, rng: Rng, users: int) -> Values:
        """Return a random seed for every user."""

    @abstractmethod
    def respond(self, values: Values, seeds: Values, rng: Rng) -> Reports:
        """Return one randomised report per value, under given seeds."""

    @abstractmethod
    def seeds_of(self, reports: Reports) -> Values:
        """Return the seeds that reports carry."""

    def draw_blanket_under(self, seeds: Values, rng: Rng) -> Reports:
        """Return fake reports under given seeds."""
        return self.respond(rng.integers(self.size, len(seeds)), seeds, rng)

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        return self.respond(values, self.draw_seeds(rng, len(values)), rng)

    def privatize_seeded(self, values: Values, draws: Longs, rng: Rng) -> Reports:
        return self.respond(self.check(values), self.seeds_from(draws), rng)

    def draw_blanket_seeded(self, draws: Longs, rng: Rng) -> Reports:
        return self.draw_blanket_under(self.seeds_from(draws), rng)

    def carries_seeds(self, reports: Reports, draws: Longs) -> Bools:
        return np.asarray(self.seeds_of(reports) == self.seeds_from(draws))

    def seeds_from(self, draws: Longs) -> Longs:
        """Return the seeds that numbers in [0, 2^64) give."""
        if self.seed_count > int(np.iinfo(np.uint64).max):
            return draws
        return draws % np.uint64(self.seed_count)
