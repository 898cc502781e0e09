"""Affine response without the permutation, for prefixes and long strings."""

import numpy as np
import pytest

from sottovoce.errors import DomainError, NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.testing import HASHED_CHECKS, RecordedRng


@pytest.mark.parametrize("check", HASHED_CHECKS, ids=lambda check: check.__name__)
def test_contract(check):
    check(AffinePrefix(1.0, 24))


@pytest.mark.parametrize(("bits", "extension"), [(8, 3), (20, 5), (40, 4), (63, 6)])
def test_blocks_equal_direct_candidates(bits, extension):
    affine = AffinePrefix(2.0, 1 << bits)
    values = np.random.default_rng(bits).integers(0, 1 << bits, 3000)
    reports = affine.privatize(values, SeededRng(bits))
    prefixes = np.unique(values[:5] >> extension).astype(np.uint64)
    candidates = (prefixes[:, None] << np.uint64(extension)) | np.arange(1 << extension, dtype=np.uint64)
    blocks = affine.count_blocks(reports, prefixes, extension)
    np.testing.assert_array_equal(blocks.ravel(), affine.count(reports, candidates.ravel()))
    np.testing.assert_array_equal(blocks.ravel(), affine.support(reports, candidates.ravel()).sum(axis=0))
    direct = affine.estimate_among(reports, candidates.ravel())
    np.testing.assert_allclose(affine.estimate_blocks(reports, prefixes, extension).totals, direct.totals)


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
    for wrong in (np.zeros(3, np.int64), np.zeros((3, 5), np.uint32), np.full((1, 4), 1 << 4, np.uint32)):
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
