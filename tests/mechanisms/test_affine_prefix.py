"""Affine response without the permutation, for prefixes and long strings."""

import numpy as np
import pytest

from sottovoce.errors import DomainError, NoDataError, ParameterError
from sottovoce.lab.checks import HASHED_CHECKS, RecordedRng
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine_prefix import AffinePrefix


@pytest.mark.parametrize("check", HASHED_CHECKS, ids=lambda check: check.__name__)
def test_contract(check):
    check(AffinePrefix(1.0, 24))


@pytest.mark.parametrize(("bits", "extension"), [(8, 3), (20, 5), (40, 4), (63, 6)])
def test_blocks_equal_direct_candidates(bits, extension):
    affine = AffinePrefix(2.0, 1 << bits)
    values = np.random.default_rng(bits).integers(0, 1 << bits, 3000)
    reports = affine.privatize(values, SeededRng(bits))
    prefixes = np.unique(values[:5] >> extension).astype(np.uint64)
    candidates = (prefixes[:, None] << np.uint64(extension)) | np.arange(
        1 << extension, dtype=np.uint64
    )
    blocks = affine.count_blocks(reports, prefixes, extension)
    np.testing.assert_array_equal(blocks.ravel(), affine.count(reports, candidates.ravel()))
    np.testing.assert_array_equal(
        blocks.ravel(), affine.support(reports, candidates.ravel()).sum(axis=0)
    )
    direct = affine.estimate_among(reports, candidates.ravel())
    np.testing.assert_allclose(
        affine.estimate_blocks(reports, prefixes, extension).totals, direct.totals
    )


@pytest.mark.parametrize("bits", [64, 160, 100])
def test_wide_values_are_rows_of_words(bits):
    """A 160-bit string held by two thirds of the people is found among candidates."""
    affine = AffinePrefix(2.0, 1 << bits)
    words = -(-bits // 32)
    rows = np.random.default_rng(bits).integers(0, 1 << 32, (3, words), dtype=np.uint32)
    if bits % 32:
        rows[:, -1] >>= np.uint32(32 - bits % 32)
    reports = affine.privatize(np.repeat(rows, [20_000, 10_000, 1], axis=0), SeededRng(1))
    estimate = affine.estimate_among(reports, rows)
    assert np.abs((estimate.totals - [20_000, 10_000, 1]) / estimate.errors).max() < 5


def test_wide_values_of_the_wrong_shape_are_refused_before_a_draw():
    affine, untouched = AffinePrefix(1.0, 1 << 100), RecordedRng(b"")
    for wrong in (
        np.zeros(3, np.int64),
        np.zeros((3, 5), np.uint32),
        np.full((1, 4), 1 << 4, np.uint32),
    ):
        with pytest.raises(DomainError):
            affine.privatize(wrong, untouched)
    with pytest.raises(NoDataError):
        affine.privatize(np.zeros((0, 4), np.uint32), untouched)


def test_sums_and_groups_are_refused():
    with pytest.raises(ParameterError):
        AffinePrefix(1.0, 64).score(np.zeros(1), np.ones(64))
    with pytest.raises(ParameterError):
        AffinePrefix(1.0, 64, groups=(3, 3))
    with pytest.raises(ParameterError):
        AffinePrefix(1.0, (1 << 70) + 1)


@pytest.mark.parametrize(("bits", "extension"), [(64, 6), (100, 4), (160, 5), (480, 3)])
def test_wide_blocks_equal_direct_candidates(bits, extension):
    affine = AffinePrefix(2.0, 1 << bits)
    numbers = [
        int.from_bytes(np.random.default_rng([bits, index]).bytes(bits // 8)) for index in range(5)
    ]
    held = hashing.indices_of([numbers[index % 5] for index in range(3000)], bits)
    reports = affine.privatize(held, SeededRng(bits))
    prefixes = sorted(number >> extension for number in numbers)
    every = [prefix << extension | low for prefix in prefixes for low in range(1 << extension)]
    candidates = hashing.indices_of(every, bits)
    blocks = affine.count_blocks(reports, prefixes, extension)
    np.testing.assert_array_equal(blocks.ravel(), affine.support(reports, candidates).sum(axis=0))
    found, direct = (
        affine.estimate_blocks(reports, prefixes, extension),
        affine.estimate_among(reports, candidates),
    )
    np.testing.assert_array_equal(found.totals, direct.totals)
    np.testing.assert_array_equal(found.variance, direct.variance)
    held_by_600 = np.isin(np.array(every, object), np.array(numbers, object))
    assert np.abs((found.totals - 600 * held_by_600) / found.errors).max() < 5


def null_ratio(estimates, affine, users):
    """The spread of estimates of values nobody holds, over the theoretical one; and its own
    standard deviation.

    The squares' correlations need only the joint laws of pairs of values, which are as good as
    independent.
    """
    deviation = np.sqrt(users * affine.noise.unheld)
    return np.sqrt(np.mean(estimates**2)) / deviation, 1 / np.sqrt(2 * len(estimates))


@pytest.mark.parametrize("bits", [24, 48, 64])
def test_what_nobody_holds_spreads_as_theory_says(bits):
    """16,384 candidates of one group of prefixes, genuine reports; the published check allows .97
    to 1.03.
    """
    affine, users = AffinePrefix(2.0, 1 << bits), 25_000
    held = hashing.indices_of([0xA5 << (bits - 8) | index % 7 for index in range(users)], bits)
    reports = affine.privatize(held, SeededRng(bits))
    estimate = affine.estimate_blocks(reports, range(16), 10)
    assert len(estimate.totals) == 16_384
    ratio, sigma = null_ratio(estimate.totals, affine, users)
    print("bits", bits, "ratio", ratio, "expected 1, sigma", sigma)
    assert abs(ratio - 1) < 5 * sigma
    assert 0.97 < ratio < 1.03


def test_the_spread_catches_the_wrong_chance_of_a_stranger():
    """The broken twin takes the response's own q, 1/(e^epsilon + buckets - 1), for that of the
    hash.
    """
    affine, users = AffinePrefix(2.0, 1 << 24), 25_000
    reports = affine.privatize(np.full(users, 0xA5A5A5), SeededRng(24))
    counts = affine.count_blocks(reports, range(16), 10).ravel()
    wrong = affine.p * np.exp(-affine.epsilon)
    ratio, sigma = null_ratio((counts - users * wrong) / (affine.p - wrong), affine, users)
    assert abs(ratio - 1) > 5 * sigma
