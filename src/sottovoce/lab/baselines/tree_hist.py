"""TreeHist: search for frequent long values along a tree of prefixes, level by level.

    1. The candidates of the first level are all prefixes of ``step`` bits.
    2. Everybody whose prefix is a candidate reports it, everybody else a dummy value.
    3. The ``kept`` most frequent candidates are extended by all continuations of ``step`` bits.

With a shuffler everybody answers every level, with (epsilon / levels, delta / levels) each; the
*local* epsilons add up to many times the central one.  Without a shuffler everybody answers one
level, drawn at random, with the whole epsilon.  Local hashing needs no dummy, and people can send
the reports of all levels at once.

Counts are drawn by their law, not made of reports.

Source: Wang 2021, section 9.6.3.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints, Longs
from sottovoce.core import settings
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.base import FrequencyMethod
from sottovoce.lab.baselines.shuffled.methods import METHODS, SHUFFLED
from sottovoce.lab.populations.shuffle_surveys import LongValues


@dataclass(frozen=True)
class TreeHist:
    """A search for the ``kept`` most frequent values of ``levels`` times ``step`` bits."""

    method: str
    levels: int = 6
    step: int = 8
    kept: int = 32

    def __post_init__(self) -> None:
        settings.choice("method", self.method, METHODS)
        settings.whole("levels", self.levels, 1)
        settings.whole("step", self.step, 1, 16)
        settings.whole("kept", self.kept, 1)

    @property
    def is_shuffled(self) -> bool:
        """Return whether everybody answers every level."""
        return self.method in SHUFFLED

    def oracle(self, target: PublishedTarget, size: int) -> FrequencyMethod:
        """Return the frequency oracle of one level over ``size`` values, the dummy included."""
        if not self.is_shuffled:
            return METHODS[self.method](target, size)
        level = PublishedTarget(
            target.central / self.levels, target.users, target.delta / self.levels
        )
        return METHODS[self.method](level, size)

    def local_epsilon(self, target: PublishedTarget) -> float | None:
        """Return what a person spends against everybody; None if there is no local guarantee."""
        first = self._local(target, 1 << self.step)
        later = self._local(target, self.kept << self.step)
        if first is None or later is None:
            return None
        if not self.is_shuffled:
            return max(first, later)
        return first + (self.levels - 1) * later

    def _local(self, target: PublishedTarget, candidates: int) -> float | None:
        claim = self.oracle(target, candidates + 1).claim
        return None if claim is None else claim.local

    def search(self, population: LongValues, target: PublishedTarget, seed: int) -> list[int]:
        """Return the codes that are found, the most frequent first."""
        generator = np.random.default_rng(seed)
        groups = self._groups(population, generator)
        found: Longs = np.zeros(1, np.uint64)
        for level in range(self.levels):
            candidates = _extended(found, self.step)
            shift = np.uint64(self.step * (self.levels - 1 - level))
            truth = _holders(population.codes >> shift, groups[level], candidates)
            shares = self.oracle(target, len(truth)).draw(truth, 0, generator)
            found = candidates[_largest(shares[:-1], self.kept)]
        return [int(code) for code in found]

    def _groups(self, population: LongValues, generator: np.random.Generator) -> list[Ints]:
        """Return how many holders of each value answer each level."""
        if self.is_shuffled:
            return [population.counts] * self.levels
        chances = np.full(self.levels, 1 / self.levels)
        return list(generator.multinomial(population.counts, chances).T)


def _extended(prefixes: Longs, bits: int) -> Longs:
    """Return all continuations of some prefixes, in ascending order."""
    ends = np.arange(1 << bits, dtype=np.uint64)
    extended = (np.sort(prefixes) << np.uint64(bits))[:, None] | ends
    return np.asarray(extended.ravel())


def _holders(pieces: Longs, counts: Ints, candidates: Longs) -> Ints:
    """Return how many people hold each candidate, and then those that hold none of them."""
    places = np.searchsorted(candidates, pieces)
    places[places == len(candidates)] = 0
    places[candidates[places] != pieces] = len(candidates)
    holders = np.bincount(places, weights=counts, minlength=len(candidates) + 1)
    return holders.astype(np.int64)


def _largest(shares: Floats, count: int) -> Ints:
    return np.argsort(-shares, kind="stable")[:count]
