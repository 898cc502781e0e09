"""Sums over reports of how full the named bucket is with some suspected values.

A report's public hash deals the suspects to buckets; the load of a bucket is how many it got.  Two
functions of the bucket b are summed, each less its mean over all buckets:

    fullest(b) = 1 / ties if no bucket has a larger load, else 0
    pairs(b)   = load (load - 1) / 2

With a_i such a function at the bucket that report i names, and e_it the function at the bucket of
candidate t, the sums are those of a_i, a_i^2, a_i where the report supports t, and e_it.
"""

from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Bools, Floats, Values
from sottovoce.kernels import jit
from sottovoce.kernels.pool import run


class LoadSums(NamedTuple):
    """Sums of one function of the named bucket; arrays have an entry per candidate."""

    total: float
    squares: float
    largest: float
    supported: Floats
    expected: Floats


def load_sums(
    table: Values, answers: Values, buckets: int, suspects: Bools, threads: int | None = None
) -> tuple[LoadSums, LoadSums]:
    """Return the sums for the fullest bucket, and those for pairs in the named bucket.

    ``table`` is (reports, candidates): the bucket of every candidate under every report's hash.
    """
    table = np.ascontiguousarray(table, np.uint16)
    answers = np.ascontiguousarray(answers, np.uint16)
    members = np.flatnonzero(suspects)

    def part(users: slice) -> Floats:
        sums = np.zeros((2, 3 + 2 * table.shape[1]))
        _add_loads(table[users], answers[users], buckets, members, sums)
        return sums

    parts = run(part, len(table), threads)
    total = np.sum(parts, axis=0)
    total[:, 2] = np.max([sums[:, 2] for sums in parts], axis=0)
    count = table.shape[1]
    fullest, pairs = (
        LoadSums(row[0], row[1], row[2], row[3 : 3 + count], row[3 + count :]) for row in total
    )
    return fullest, pairs


@jit
def _add_loads(table, answers, buckets, members, sums):  # type: ignore[no-untyped-def]
    count = table.shape[1]
    load = np.zeros(buckets, np.int64)
    for i in range(len(table)):
        pair_count = 0
        highest = 0
        ties = 0
        for member in members:
            bucket = table[i, member]
            pair_count += load[bucket]
            load[bucket] += 1
            if load[bucket] > highest:
                highest = load[bucket]
                ties = 1
            elif load[bucket] == highest:
                ties += 1
        share = 1.0 / ties
        mean_full = 1.0 / buckets
        mean_pairs = pair_count / buckets
        named = load[answers[i]]
        full = (share if named == highest else 0.0) - mean_full
        pairs = named * (named - 1) / 2 - mean_pairs
        sums[0, 0] += full
        sums[0, 1] += full * full
        sums[0, 2] = max(sums[0, 2], abs(full))
        sums[1, 0] += pairs
        sums[1, 1] += pairs * pairs
        sums[1, 2] = max(sums[1, 2], abs(pairs))
        for candidate in range(count):
            bucket = table[i, candidate]
            here = load[bucket]
            if bucket == answers[i]:
                sums[0, 3 + candidate] += full
                sums[1, 3 + candidate] += pairs
            sums[0, 3 + count + candidate] += (share if here == highest else 0.0) - mean_full
            sums[1, 3 + count + candidate] += here * (here - 1) / 2 - mean_pairs
        for member in members:
            load[table[i, member]] = 0
