"""The search for seeds: the best of the tries, the fullest bucket, ties broken evenly."""

from itertools import product

import numpy as np
import pytest

from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.seed_search import SeedSearch, largest_loads, own_loads


def loads_of(buckets):
    return [max(row.count(entry) for entry in row) for row in buckets.tolist()]


def test_the_largest_load_is_that_of_the_most_frequent_bucket():
    buckets = np.array(list(product(range(3), repeat=4)))
    assert largest_loads(buckets).tolist() == loads_of(buckets)


def test_the_load_of_an_entry_is_how_often_it_stands_in_its_row():
    buckets = np.array(list(product(range(3), repeat=4)))
    expected = [[row.count(entry) for entry in row] for row in buckets.tolist()]
    assert own_loads(buckets).tolist() == expected


def table_search(reports, wanted, seeds=64):
    """Return a search over a fixed table of buckets, and the table."""
    table = np.random.default_rng(1).integers(0, 3, (seeds, reports, wanted))
    rng = SeededRng(2)
    drawn = []

    def draw(count):
        drawn.append(rng.integers(seeds, count))
        return drawn[-1]

    return SeedSearch(reports, wanted, draw, lambda seed, row: table[seed, row]), table, drawn


@pytest.mark.parametrize("tries", [1, 2, 7])
def test_no_try_was_better_than_the_seed_that_is_kept(tries):
    search, table, drawn = table_search(5, 6)
    best = search.best(tries)
    seen = np.concatenate(drawn)
    assert len(seen) == 5 * tries
    for report in range(5):
        own = [seen[report], *seen[5:].reshape(-1, 5)[:, report]]
        assert len(own) == tries
        loads = largest_loads(table[own, report])
        assert largest_loads(table[best[report], report][None])[0] == loads.max()


def test_of_equally_full_buckets_each_is_taken_equally_often():
    """Two buckets with two values each, and one with one: 5 sigma of a fair coin.

    The twin that takes the first of them is caught.
    """
    count = 4000
    buckets = np.tile([4, 7, 4, 9, 7], (count, 1))
    search = SeedSearch(count, 5, np.zeros, lambda seeds, rows: buckets[rows])
    chosen = search.fullest_buckets(np.zeros(count), SeededRng(3))
    fours = int((chosen == 4).sum())
    print("bucket 4", fours, "expected", count / 2, "window", 5 * np.sqrt(count) / 2)
    assert set(chosen.tolist()) == {4, 7}
    assert abs(fours - count / 2) < 5 * np.sqrt(count) / 2
    assert abs(count - count / 2) > 5 * np.sqrt(count) / 2
