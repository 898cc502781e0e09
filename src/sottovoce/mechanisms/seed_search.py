"""The search for seeds that hash many wanted values into one bucket.

An attacker uses it to make one report of local hashing support several values: draw seeds, keep the
one whose fullest bucket holds the most of these values, and report that bucket.  Only the wanted
values are hashed.

Source: Cao, Jia and Gong 2021.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Ints, Values
from sottovoce.core.rng import Rng

_MAX_HASHES = 1 << 22  # in memory together


@dataclass(frozen=True)
class SeedSearch:
    """The search for the seeds of ``reports`` reports with ``wanted`` values each.

    ``draw`` returns so many seeds.  ``hashed`` returns (seeds, wanted): under every seed the
    buckets of the wanted values of a report, whose number is given beside the seed.
    """

    reports: int
    wanted: int
    draw: Callable[[int], Values]
    hashed: Callable[[Values, Ints], Values]

    def best(self, tries: int) -> Values:
        """Return for every report the best of ``tries`` seeds; of equally good ones the first."""
        everybody = np.arange(self.reports)
        seeds = self.draw(self.reports).copy()
        most = largest_loads(self.hashed(seeds, everybody))
        at_once = max(1, _MAX_HASHES // max(1, self.reports * self.wanted))
        for start in range(1, tries, at_once):
            count = min(at_once, tries - start)
            drawn = self.draw(count * self.reports)
            loads = largest_loads(self.hashed(drawn, np.tile(everybody, count)))
            by_try = loads.reshape(count, self.reports)
            winners = by_try.argmax(axis=0)
            better = by_try[winners, everybody] > most
            most = np.where(better, by_try[winners, everybody], most)
            candidates = drawn.reshape(count, self.reports)[winners, everybody]
            seeds[better] = candidates[better]
        return seeds

    def fullest_buckets(self, seeds: Values, rng: Rng) -> Values:
        """Return the fullest bucket under every seed; of equally full ones a random one."""
        buckets = self.hashed(seeds, np.arange(self.reports))
        loads = own_loads(buckets)
        # Equally full buckets have as many wanted values each, so that a random one of those
        # values picks a random one of those buckets.
        lots = rng.words(loads.size).reshape(loads.shape) / 2.0**32
        chosen = (loads + lots).argmax(axis=1)
        return np.asarray(buckets[np.arange(self.reports), chosen])


def largest_loads(buckets: Values) -> Ints:
    """Return for every row how often its most frequent entry occurs.

    >>> largest_loads(np.array([[3, 1, 3], [1, 2, 3]])).tolist()
    [2, 1]
    """
    begins = _run_begins(np.sort(buckets, axis=1))
    lengths = np.diff(np.flatnonzero(begins), append=begins.size)
    runs = begins.sum(axis=1)  # of every row
    return np.maximum.reduceat(lengths, np.cumsum(runs) - runs)


def own_loads(buckets: Values) -> Ints:
    """Return for every entry how often it occurs in its row.

    >>> own_loads(np.array([[3, 1, 3], [1, 2, 3]])).tolist()
    [[2, 1, 2], [1, 1, 1]]
    """
    order = np.argsort(buckets, axis=1, kind="stable")
    ordered = np.take_along_axis(buckets, order, axis=1)
    begins = _run_begins(ordered)
    runs = np.cumsum(begins.ravel()).reshape(begins.shape) - 1
    loads = np.empty(buckets.shape, np.int64)
    np.put_along_axis(loads, order, np.bincount(runs.ravel())[runs], axis=1)
    return loads


def _run_begins(ordered: Values) -> Bools:
    """Return flags of the first entry of every run of equal entries, in sorted rows."""
    begins = np.ones(ordered.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return begins
