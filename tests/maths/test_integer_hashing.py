"""One value hashed in plain integers gives what arrays of values give."""

import numpy as np
import pytest

from sottovoce.maths import hashing, integer_hashing

RNG = np.random.default_rng(1)
SEEDS = RNG.integers(0, 1 << 64, 40, dtype=np.uint64)


def numbers(bits, count):
    """Return random numbers of so many bits."""
    width = -(-bits // 8)
    drawn = RNG.bytes(width * count)
    rows = [drawn[width * row : width * (row + 1)] for row in range(count)]
    return [int.from_bytes(row, "little") & (1 << bits) - 1 for row in rows]


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 8, 15])
def test_xxh32_is_that_of_arrays(words):
    bits = 32 * words
    values = numbers(bits, len(SEEDS))
    seeds = (SEEDS & np.uint64(0xFFFFFFFF)).tolist()
    rows = hashing.words_of(hashing.indices_of(values, bits), bits)
    expected = hashing.xxh32(rows, np.array(seeds, np.uint32)).tolist()
    pairs = zip(values, seeds, strict=True)
    assert [integer_hashing.xxh32(value, words, seed) for value, seed in pairs] == expected


@pytest.mark.parametrize(
    ("bits", "rank"),
    # With nearly as many masks as bits, many attempts depend on earlier ones.
    [(2, 1), (3, 2), (5, 4), (10, 2), (12, 11), (31, 12), (63, 12), (64, 2), (65, 3), (480, 12)],
)
def test_the_affine_hash_is_that_of_arrays(bits, rank):
    values = numbers(bits, len(SEEDS))
    expected = hashing.affine_hash(SEEDS, hashing.indices_of(values, bits), bits, rank).tolist()
    pairs = zip(SEEDS.tolist(), values, strict=True)
    found = [integer_hashing.affine_bucket(seed, value, bits, rank) for seed, value in pairs]
    assert found == expected


@pytest.mark.parametrize("seed", [0, 1, (1 << 32) - 1, 1 << 32, (1 << 64) - 1])
def test_seeds_at_the_edges_give_the_same(seed):
    expected = hashing.affine_hash(np.array([seed], np.uint64), np.array([77]), 10, 3)
    assert integer_hashing.affine_bucket(seed, 77, 10, 3) == expected[0]


@pytest.mark.parametrize(
    ("bits", "groups"), [(1, ()), (3, ()), (10, ()), (10, (3, 7)), (63, ()), (48, (1, 2, 45))]
)
def test_the_permutation_is_that_of_arrays(bits, groups):
    values = numbers(bits, 60)
    expected = hashing.permute(np.array(values, np.int64), bits, groups).tolist()
    assert [integer_hashing.permute(value, bits, groups) for value in values] == expected
