"""Pairs of equal seeds: the same number whether seeds stay in memory or go to files."""

import numpy as np
import pytest

from sottovoce.integrity import seed_pairs
from sottovoce.integrity.seed_pairs import SeedPairs


def by_counting(seeds):
    repeats = np.unique(seeds, return_counts=True)[1]
    return int((repeats * (repeats - 1) // 2).sum())


@pytest.mark.parametrize("max_seeds", [100, 1 << 22])
def test_pairs_are_counted_whether_or_not_seeds_fit_into_memory(monkeypatch, max_seeds):
    monkeypatch.setattr(seed_pairs, "MAX_SEEDS", max_seeds)
    seeds = np.random.default_rng(1).integers(0, 3_000, 5_000).astype(np.uint64)
    seeds[:700] = 17  # more of one seed than are read at once
    pairs = SeedPairs()
    for part in np.array_split(seeds, 13):
        pairs.add(part)
    assert pairs.count == 5_000
    assert pairs.equal() == by_counting(seeds) > 0
    pairs.add(seeds[:300])
    assert pairs.equal() == by_counting(np.concatenate([seeds, seeds[:300]]))


def test_no_seeds_have_no_pairs():
    assert SeedPairs().equal() == 0
