"""Sums over reports of how full the named bucket is with some suspected values.

A report's public hash deals the suspects to buckets; the load of a bucket is how many it got.  Two
functions of the bucket b are summed, each less its mean over all buckets:

    fullest(b) = 1 / ties if no bucket has a larger load, else 0
    pairs(b)   = load (load - 1) / 2

With a_i such a function at the bucket that report i names, and e_it the function at the bucket of
candidate t, the sums are those of a_i, a_i^2, a_i where the report supports t, and e_it.

``named_buckets`` gives for single reports how full the fullest bucket is, and how likely a greedy
report names the bucket that was named.
"""

from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Values
from sottovoce.kernels import jit
from sottovoce.kernels.pool import run

_FIRST = 3  # sums before those of every candidate


class LoadSums(NamedTuple):
    """Sums of one function of the named bucket; arrays have an entry per candidate."""

    total: float
    squares: float
    largest: float
    supported: Floats
    expected: Floats


class Hashed(NamedTuple):
    """Reports whose public hashes are known.

    ``table`` is (reports, candidates): the bucket of every candidate under every report's hash.
    """

    table: Values
    answers: Values
    buckets: int


def load_sums(
    hashed: Hashed, suspects: Bools, threads: int | None = None
) -> tuple[LoadSums, LoadSums]:
    """Return the sums for the fullest bucket, and those for pairs in the named bucket."""
    table = np.ascontiguousarray(hashed.table, np.uint16)
    answers = np.ascontiguousarray(hashed.answers, np.uint16)
    members = np.flatnonzero(suspects)

    def part(users: slice) -> Floats:
        sums = np.zeros((2, _FIRST + 2 * table.shape[1]))
        _add_loads(Hashed(table[users], answers[users], hashed.buckets), members, sums)
        return sums

    parts = run(part, len(table), threads)
    total = np.sum(parts, axis=0)
    total[:, 2] = np.max([sums[:, 2] for sums in parts], axis=0)
    count = table.shape[1]
    return _named(total[0], count), _named(total[1], count)


class NamedBuckets(NamedTuple):
    """Of every report: the largest load of a bucket, and the chance that a greedy one names its."""

    largest: Ints
    chance: Floats


def named_buckets(
    hashed: Hashed, suspects: Bools, together: int = 0, threads: int | None = None
) -> NamedBuckets:
    """Return how the named buckets look to reports that promote several suspects.

    Reports that promote all suspects name the fullest bucket, any of them if several are.  Those
    that each promote so many of them ``together`` name a bucket in proportion to how many such
    sets it holds; the fullest one where none holds any.
    """
    table = np.ascontiguousarray(hashed.table, np.uint16)
    answers = np.ascontiguousarray(hashed.answers, np.uint16)
    members = np.flatnonzero(suspects)
    largest = np.zeros(len(table), np.int64)
    chance = np.zeros(len(table))

    def part(users: slice) -> None:
        reports = Hashed(table[users], answers[users], hashed.buckets)
        _look_at_named(reports, members, together, largest[users], chance[users])

    run(part, len(table), threads)
    return NamedBuckets(largest, chance)


def _named(row: Floats, count: int) -> LoadSums:
    """Return the sums of one function by their names; ``count`` of them are of candidates."""
    total, squares, largest = row[:_FIRST].tolist()
    supported, expected = row[_FIRST : _FIRST + count], row[_FIRST + count :]
    return LoadSums(total, squares, largest, supported, expected)


@jit
def _fill_loads(row, members, load):  # type: ignore[no-untyped-def]
    """Count the members in every bucket, and return the largest count."""
    highest = 0
    for member in members:
        load[row[member]] += 1
        highest = max(highest, load[row[member]])
    return highest


@jit
def _add_loads(hashed, members, sums):  # type: ignore[no-untyped-def]
    """Add the sums of some reports; a row of ``sums`` has those of one function.

    Means over all buckets are added up apart and taken off at the end.
    """
    table, answers, buckets = hashed.table, hashed.answers, hashed.buckets
    count = table.shape[1]
    load = np.zeros(buckets, np.int64)
    fullest_at = np.zeros(buckets)
    pairs_at = np.zeros(buckets)
    expected = np.zeros((2, count))
    supported = np.zeros((2, count))
    all_pairs = 0.0
    mean_full = 1.0 / buckets
    for i in range(len(table)):
        row = table[i]
        answer = answers[i]
        highest = _fill_loads(row, members, load)
        ties = 0.0
        pair_count = 0.0
        for member in members:
            here = load[row[member]]
            # A bucket is met once for every value in it.
            ties += (1.0 if here == highest else 0.0) / here
            pair_count += (here - 1) / 2
        share = 1.0 / round(ties)
        for member in members:
            here = load[row[member]]
            fullest_at[row[member]] = share if here == highest else 0.0
            pairs_at[row[member]] = here * (here - 1) / 2
        full = fullest_at[answer] - mean_full
        pairs = pairs_at[answer] - pair_count / buckets
        all_pairs += pair_count
        sums[0, 0] += full
        sums[0, 1] += full * full
        sums[0, 2] = max(sums[0, 2], abs(full))
        sums[1, 0] += pairs
        sums[1, 1] += pairs * pairs
        sums[1, 2] = max(sums[1, 2], abs(pairs))
        for candidate in range(count):
            expected[0, candidate] += fullest_at[row[candidate]]
            expected[1, candidate] += pairs_at[row[candidate]]
        for candidate in range(count):
            hit = 1.0 if row[candidate] == answer else 0.0
            supported[0, candidate] += hit * full
            supported[1, candidate] += hit * pairs
        for member in members:
            load[row[member]] = 0
            fullest_at[row[member]] = 0.0
            pairs_at[row[member]] = 0.0
    sums[:, _FIRST : _FIRST + count] += supported
    sums[0, _FIRST + count :] += expected[0] - len(table) * mean_full
    sums[1, _FIRST + count :] += expected[1] - all_pairs / buckets


@jit
def _look_at_named(hashed, members, together, largest, chance):  # type: ignore[no-untyped-def]
    """Fill in the largest load and the chance of the named bucket for some reports."""
    table, answers, buckets = hashed.table, hashed.answers, hashed.buckets
    load = np.zeros(buckets, np.int64)
    sets = np.zeros(len(members) + 1)  # of so many suspects, by the load of a bucket
    for count in range(together, len(members) + 1):
        ways = 1.0
        for factor in range(together):
            ways *= (count - factor) / (factor + 1)
        sets[count] = ways
    for i in range(len(table)):
        row = table[i]
        highest = _fill_loads(row, members, load)
        only_fullest = together == 0 or highest < together
        total = 0.0
        for member in members:
            here = load[row[member]]
            # A bucket is met once for every value in it.
            if only_fullest:
                total += (1.0 if here == highest else 0.0) / here
            else:
                total += sets[here] / here
        named = load[answers[i]]
        largest[i] = highest
        if only_fullest:
            chance[i] = 1.0 / round(total) if named == highest else 0.0
        else:
            chance[i] = sets[named] / total
        for member in members:
            load[row[member]] = 0
