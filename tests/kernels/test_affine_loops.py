"""The compiled loops one by one, each against what it is defined to be."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.kernels.affine_loops import (
    fill_permutation,
    fill_span,
    gather,
    narrow,
    place,
    place_product,
    read,
    scatter,
)
from sottovoce.kernels.affine_words import Batch
from sottovoce.maths import hashing


def batch(count, bits, rank):
    dice = np.random.default_rng([count, bits, rank])
    seeds = dice.integers(0, 1 << 64, count, dtype=np.uint64)
    return Batch(seeds, dice.integers(0, 1 << rank, count).astype(np.uint16), bits, rank)


def terms(given):
    """Positions and signs of every report: (reports, 2^rank), the empty subset first."""
    masks, offsets = hashing.masks(given.seeds, given.bits, given.rank)
    positions = np.zeros((len(given.seeds), 1), np.int64)
    signs = np.ones((len(given.seeds), 1), np.int64)
    for r in range(given.rank):
        odd = ((given.buckets ^ offsets) >> np.uint16(r) & np.uint16(1)).astype(np.int64)
        positions = np.hstack([positions, positions ^ masks[:, r, None].astype(np.int64)])
        signs = np.hstack([signs, signs * (1 - 2 * odd[:, None])])
    return positions, signs


def test_the_span_holds_the_xor_of_every_subset():
    words = np.array([[1], [6], [24]], np.uint32)
    span = np.empty(8, np.uint32)
    fill_span(words, 0, span)
    expected = {0}
    for size in (1, 2, 3):
        expected |= {sum(chosen) for chosen in combinations([1, 6, 24], size)}
    assert set(span.tolist()) == expected
    assert span[0b101] == 1 ^ 24, "subset u stands at position u"


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5, 6])
def test_scattering_adds_the_terms_of_all_reports_but_the_empty_ones(rank):
    """Past one block of reports, in registers up to rank 4 and in Gray order beyond."""
    given = batch(1500, 9, rank)
    spectrum = np.zeros(1 << 9, np.int32)
    scatter(given, spectrum)
    positions, signs = terms(given)
    expected = np.zeros(1 << 9, np.int64)
    np.add.at(expected, positions[:, 1:].ravel(), signs[:, 1:].ravel())
    np.testing.assert_array_equal(spectrum, expected)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5, 6])
def test_gathering_sums_a_table_over_the_terms_of_every_report(rank):
    given = batch(1500, 9, rank)
    table = np.random.default_rng(rank).normal(size=1 << 9)
    scores = np.empty(1500)
    gather(given, table, scores)
    positions, signs = terms(given)
    np.testing.assert_allclose(scores, (table[positions] * signs).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("widths", [(8,), (1, 7), (3, 5), (2, 2, 4)])
def test_the_table_of_the_permutation_is_the_permutation(widths):
    table = np.empty(1 << 8, np.uint32)
    fill_permutation(np.array(widths), table)
    np.testing.assert_array_equal(table, hashing.permute(np.arange(1 << 8), 8, widths))


def test_values_and_products_are_placed_where_the_permutation_sends_them():
    table = np.array([2, 0, 3, 1], np.uint32)
    out = np.empty(4)
    place(np.array([10.0, 11.0, 12.0, 13.0]), table, out)
    assert out.tolist() == [11.0, 13.0, 10.0, 12.0]
    place_product(np.array([2.0]), np.array([5.0, 7.0]), table, 1.0, out)
    assert out.tolist() == [14.0, 1.0, 10.0, 1.0]


def test_a_narrow_copy_states_its_absolute_sum():
    spectrum, out = np.array([3, -4, 0], np.int64), np.empty(3, np.int32)
    assert narrow(spectrum, out) == 7
    assert out.tolist() == spectrum.tolist()


def test_reading_divides_by_the_number_of_buckets():
    out = np.empty(2, np.int64)
    read(np.array([8, 16, 24, -8], np.int64), np.array([2, 3], np.uint32), 3, out)
    assert out.tolist() == [3, -1]
