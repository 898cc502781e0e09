"""Support counts and scores are exactly those of hashing every candidate under every seed."""

import numpy as np
import pytest
import xxhash

from sottovoce.arrays import Bools, Words
from sottovoce.errors import DomainError, ParameterError
from sottovoce.kernels import olh, pool
from sottovoce.kernels.olh import support_counts, weighted_scores
from sottovoce.maths.hashing import bucket, xxh32

USERS = [0, 1, 15, 16, 17, 63, 64, 65, 1000, 1023, 1024, 1025]
BUCKETS = [1, 2, 3, 4, 56, 1 << 20, 1 << 32]


def twin(seeds: Words, reported: Words, candidates: Words, buckets: int) -> Bools:
    """``(users, candidates)``: does the report support the candidate?"""
    return bucket(xxh32(candidates, seeds[:, None]), buckets) == reported[:, None]


def drawn(users: int, candidates: int, words: int, buckets: int) -> tuple[Words, Words, Words]:
    """Every second report names the bucket of some candidate: many buckets are hardly ever hit by
    chance.
    """
    rng = np.random.default_rng([users, candidates, words, buckets])
    seeds = rng.integers(0, 1 << 32, users, dtype=np.uint32)
    rows = rng.integers(0, 1 << 32, (candidates, words), dtype=np.uint32)
    reported = rng.integers(0, buckets, users).astype(np.uint32)
    if candidates:
        true = bucket(xxh32(rows[rng.integers(0, candidates, users)], seeds), buckets)
        reported[::2] = true[::2]
    return seeds, reported, rows


@pytest.mark.parametrize("buckets", BUCKETS)
@pytest.mark.parametrize("users", USERS)
def test_counts_are_those_of_hashing_each_pair(users, buckets):
    given = drawn(users, 33, 1, buckets)
    counts = support_counts(*given, buckets)
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, twin(*given, buckets).sum(axis=0))


@pytest.mark.parametrize("candidates", [0, 1, 7, 8, 9, 63, 64, 65, 1000, 1024, 1025])
def test_any_number_of_candidates_is_counted(candidates):
    given = drawn(65, candidates, 1, 4)
    np.testing.assert_array_equal(support_counts(*given, 4), twin(*given, 4).sum(axis=0))


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 7, 8, 9, 17])
@pytest.mark.parametrize("buckets", [2, 3, 56, 1 << 20])
def test_candidates_of_any_number_of_words_are_counted_and_weighed(words, buckets):
    given, weights = drawn(1030, 21, words, buckets), np.arange(21.0) - 7
    supported = twin(*given, buckets)
    np.testing.assert_array_equal(support_counts(*given, buckets), supported.sum(axis=0))
    np.testing.assert_array_equal(weighted_scores(*given, weights, buckets), supported @ weights)


@pytest.mark.parametrize("words", [1, 2, 3, 4, 6, 8])
def test_the_hash_is_the_published_xxh32(words):
    """Against the ``xxhash`` package on the little-endian bytes: each report names the bucket of
    one candidate.
    """
    seeds, _, rows = drawn(40, 40, words, 1 << 32)
    digests = [
        xxhash.xxh32_intdigest(row.astype("<u4").tobytes(), int(seed))
        for row, seed in zip(rows, seeds, strict=True)
    ]
    scores = weighted_scores(
        seeds, np.array(digests, np.uint32), rows, 2.0 ** np.arange(40), 1 << 32
    )
    assert scores.tolist() == [2.0**j for j in range(40)]


@pytest.mark.parametrize("buckets", [1, 2, 3, 5, 56, 65535, 1 << 20, (1 << 32) - 1, 1 << 32])
def test_ranges_meet_exactly_where_the_bucket_changes(buckets):
    reported = np.unique(np.linspace(0, buckets - 1, 200).astype(np.uint32))
    low, span = np.empty_like(reported), np.empty_like(reported)
    olh.fill_ranges(reported, np.uint64(buckets), low, span)
    high = low + span
    np.testing.assert_array_equal(bucket(low, buckets), reported)
    np.testing.assert_array_equal(bucket(high, buckets), reported)
    below, above = reported > 0, reported < buckets - 1
    np.testing.assert_array_equal(bucket(low[below] - np.uint32(1), buckets), reported[below] - 1)
    np.testing.assert_array_equal(bucket(high[above] + np.uint32(1), buckets), reported[above] + 1)


@pytest.mark.parametrize("users", [1, 2, 1025, 3000])
def test_two_threads_count_and_weigh_like_one(users, monkeypatch):
    given = drawn(users, 50, 1, 3)
    weights = np.random.default_rng(1).normal(size=50)
    counts = support_counts(*given, 3, threads=1)
    np.testing.assert_array_equal(support_counts(*given, 3, threads=2), counts)
    scores = weighted_scores(*given, weights, 3)
    monkeypatch.setattr(olh, "run", lambda function, count: pool.run(function, count, threads=2))
    np.testing.assert_array_equal(weighted_scores(*given, weights, 3), scores)


@pytest.mark.parametrize("users", USERS)
def test_scores_add_coefficients_in_the_order_of_the_candidates(users):
    """Equal to the last bit, since no sum is reordered."""
    given, weights = drawn(users, 40, 1, 4), np.random.default_rng(2).normal(size=40)
    expected = np.zeros(users)
    for supported, weight in zip(twin(*given, 4).T, weights, strict=True):
        expected += np.where(supported, weight, 0.0)
    np.testing.assert_array_equal(weighted_scores(*given, weights, 4), expected)


def test_strided_columns_of_unpacked_reports_are_counted():
    """As they come from packed reports: seed and bucket interleaved, read-only."""
    seeds, reported, rows = drawn(500, 20, 1, 4)
    table = np.frombuffer(np.stack([seeds, reported], axis=1).tobytes(), np.uint32).reshape(500, 2)
    counts = support_counts(table[:, 0], table[:, 1], rows, 4)
    np.testing.assert_array_equal(counts, twin(seeds, reported, rows, 4).sum(axis=0))


def test_impossible_arguments_are_refused():
    seeds, reported, rows = drawn(10, 5, 1, 4)
    with pytest.raises(DomainError):
        support_counts(seeds, reported + np.uint32(4), rows, 4)
    with pytest.raises(ParameterError):
        support_counts(seeds, reported * np.uint32(0), rows, 0)
    with pytest.raises(ParameterError):
        support_counts(seeds[1:], reported, rows, 4)
    with pytest.raises(ParameterError):
        support_counts(seeds, reported, rows[:, 0], 4)
    with pytest.raises(ParameterError):
        weighted_scores(seeds, reported, rows, np.ones(4), 4)
