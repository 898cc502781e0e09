"""Seeds expanded by compiled loops are those expanded by NumPy, also where words are redrawn."""

import numpy as np
import pytest

from sottovoce.kernels import jit
from sottovoce.kernels.affine_words import (
    BLOCK,
    LONG_SIGN,
    SIGN,
    Batch,
    draw,
    draw_long,
    draw_wide,
    fill_keys,
    mix,
    popcount,
    rank_test,
)
from sottovoce.maths import hashing


def drawn_seeds(count, seed=1):
    return np.random.default_rng(seed).integers(0, 1 << 64, count, dtype=np.uint64)


def twin(seeds, buckets, bits, rank):
    """The words as NumPy makes them: masks, with offset XOR bucket bit as a sign of their own."""
    masks, offsets = hashing.masks(seeds, bits, rank)
    signs = (buckets ^ offsets)[:, None] >> np.arange(rank, dtype=np.uint16) & np.uint16(1)
    return masks.T, signs.T.astype(bool)


@pytest.mark.parametrize(("bits", "rank"), [(3, 2), (5, 4), (12, 3), (31, 6)])
def test_words_of_up_to_31_bits_are_masks_with_a_sign_on_top(bits, rank):
    """With 3 bits and 2 masks, three in sixteen first words are dependent and drawn again."""
    seeds = drawn_seeds(BLOCK)
    buckets = (np.arange(BLOCK) % (1 << rank)).astype(np.uint16)
    words = np.empty((rank, BLOCK), np.uint32)
    draw(seeds, buckets, bits, words)
    masks, signs = twin(seeds, buckets, bits, rank)
    np.testing.assert_array_equal(words & ~SIGN, masks)
    np.testing.assert_array_equal(words & SIGN != 0, signs)


@pytest.mark.parametrize(("bits", "rank"), [(32, 2), (48, 5), (63, 3)])
def test_words_of_up_to_63_bits_are_masks_with_a_sign_on_top(bits, rank):
    seeds = drawn_seeds(BLOCK, 2)
    buckets = (np.arange(BLOCK) % (1 << rank)).astype(np.uint16)
    words = np.empty((rank, BLOCK), np.uint64)
    draw_long(seeds, buckets, bits, words)
    masks, signs = twin(seeds, buckets, bits, rank)
    np.testing.assert_array_equal(words & ~LONG_SIGN, masks)
    np.testing.assert_array_equal(words & LONG_SIGN != 0, signs)


# Seeds whose twelve first words of 64-bit masks are dependent, found by a search of 2^23.
DEPENDENT = [0x665D61645BBDB24E, 0xCA59026A2A07C7AF, 0x966013432BCE7339, 0x8455379C9ABC4101]


@pytest.mark.parametrize(("bits", "rank"), [(64, 1), (64, 12), (95, 2), (96, 3), (160, 7)])
def test_masks_beyond_63_bits_are_those_of_numpy(bits, rank):
    seeds = drawn_seeds(BLOCK, 3)
    seeds[: len(DEPENDENT)] = DEPENDENT
    buckets = (np.arange(BLOCK) % (1 << rank)).astype(np.uint16)
    found = np.empty((rank, bits // 32 + 1, BLOCK), np.uint32)
    wanted = np.empty(BLOCK, np.uint16)
    draw_wide(Batch(seeds, buckets, bits, rank), found, wanted)
    masks, offsets = hashing.masks(seeds, bits, rank)
    np.testing.assert_array_equal(found.transpose(2, 0, 1), masks)
    np.testing.assert_array_equal(wanted, buckets ^ offsets)


def test_dependent_first_words_are_really_tested():
    first_words = hashing.masks(np.array(DEPENDENT, np.uint64), 64, 12)[0][:, :, 0]
    for words in first_words.astype(np.uint32):
        least = np.empty(1, np.uint32)
        rank_test(words[:, None].copy(), 1, least)
        assert least[0] == 0


def test_a_sign_that_forgets_the_bucket_is_noticed():
    """The broken twin: all buckets 0."""
    seeds, rank = drawn_seeds(BLOCK), 3
    words = np.empty((rank, BLOCK), np.uint32)
    draw(seeds, np.zeros(BLOCK, np.uint16), 12, words)
    _, signs = twin(seeds, np.full(BLOCK, 5, np.uint16), 12, rank)
    assert (words & SIGN != 0)[1].tolist() == signs[1].tolist()
    assert (words & SIGN != 0)[0].tolist() != signs[0].tolist()


def test_mixing_one_word_is_mixing_an_array():
    words = np.random.default_rng(3).integers(0, 1 << 32, 500, dtype=np.uint32)
    assert [mix(word) for word in words] == hashing.mix(words).tolist()


def test_the_keys_of_a_report_follow_from_its_seed_alone():
    seeds = drawn_seeds(100)
    a, t = np.empty(100, np.uint32), np.empty(100, np.uint32)
    fill_keys(seeds, a, t)
    again, other = np.empty(1, np.uint32), np.empty(1, np.uint32)
    fill_keys(seeds[7:8], again, other)
    assert (again[0], other[0]) == (a[7], t[7])
    assert len(set(zip(a.tolist(), t.tolist(), strict=True))) == 100


def test_dependent_masks_leave_nothing():
    """3 = 1 XOR 2 and 5 XOR 5 are dependent, 1, 2 and 4 are not."""
    masks = np.array([[1, 5, 1], [2, 5, 2], [3, 1, 4]], np.uint32)
    least = np.empty(3, np.uint32)
    rank_test(masks, 3, least)
    assert (least == 0).tolist() == [True, True, False]


def test_bits_are_counted_in_one_instruction():
    counted = jit(lambda value: popcount(value))
    for value in (0, 1, 255, (1 << 63) - 1):
        assert counted(np.int64(value)) == value.bit_count()
