"""The hash families against golden vectors, a slow reference, and the laws that decoding needs."""

import json
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import pytest
import xxhash

from sottovoce.errors import ParameterError
from sottovoce.maths import hashing

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "affine.json").read_text())
ROWS = GOLDEN["rows"]
WORD = 0xFFFFFFFF


def slow_mix(x):
    x ^= x >> 16
    x = x * 0x21F0AAAD & WORD
    x ^= x >> 15
    x = x * 0xD35A2D97 & WORD
    return x ^ x >> 15


def slow_words(seed):
    a = slow_mix((seed & WORD) + 0x7F4A7C15 & WORD)
    t = slow_mix((seed >> 32) + a & WORD)
    j = 0
    while True:
        j += 1
        yield slow_mix(slow_mix(t + j * 0x9E3779B9 & WORD) + a & WORD)


def slow_masks(seed, bits, rank, *, ranked=True, cut=True, dropped=True):
    """docs/affine-response.md, word for word, with a switch for each mistake the vectors must
    catch.
    """
    words, found, span, offsets = slow_words(seed), [], {0}, []
    while len(found) < rank:
        drawn = [next(words) for _ in range(bits // 32 + 1)]
        mask = sum(word << 32 * place for place, word in enumerate(drawn))
        offset = drawn[-1] >> 31
        mask &= (1 << bits if cut else 1 << 32 * len(drawn)) - 1
        if mask not in span or not ranked:
            found.append(mask)
            span |= {mask ^ other for other in span}
            offsets.append(offset)
        elif not dropped:
            offsets.append(offset)
    return found, sum(bit << r for r, bit in enumerate(offsets[:rank]))


def expected_masks(row):
    return [int(mask, 16) for mask in row["masks"]], row["offsets"]


def as_integers(rows):
    """Rows of 32-bit words, low word first, as Python integers."""
    return [sum(int(word) << 32 * place for place, word in enumerate(row)) for row in rows]


def name(row):
    return f"m{row['m']}k{row['k']}-{row['seed']}"


def test_mix_and_words_are_the_golden_ones():
    given, wanted = np.array(GOLDEN["mix"], np.uint32).T
    assert hashing.mix(given).tolist() == wanted.tolist()
    for seed, index, word in GOLDEN["word"]:
        assert next(islice(slow_words(int(seed, 16)), index - 1, None)) == word


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_a_golden_row_is_reproduced(row):
    """Masks, offsets, the permutation both ways, and the hashes with and without it."""
    bits, rank = row["m"], row["k"]
    seed = np.array([int(row["seed"], 16)], np.uint64)
    masks, offsets = hashing.masks(seed, bits, rank)
    assert (masks[0].tolist(), int(offsets[0])) == expected_masks(row)
    values, points = (
        np.array([int(each[column], 16) for each in row["values"]], np.uint64) for column in (0, 1)
    )
    assert hashing.permute(values, bits).tolist() == points.tolist()
    assert hashing.unpermute(points, bits).tolist() == values.tolist()
    for column, where in ((2, points), (3, values)):
        wanted = [each[column] for each in row["values"]]
        assert (
            hashing.affine_hash(np.repeat(seed, len(where)), where, bits, rank).tolist() == wanted
        )
        assert hashing.affine_hash_table(seed, where, bits, rank).tolist() == [wanted]


@pytest.mark.parametrize("bits", GOLDEN["pi_full"])
def test_the_whole_permutation_of_a_small_domain_is_the_golden_one(bits):
    assert hashing.permute(np.arange(1 << int(bits)), int(bits)).tolist() == GOLDEN["pi_full"][bits]


def test_the_slow_reference_reproduces_the_golden_rows():
    assert all(
        slow_masks(int(row["seed"], 16), row["m"], row["k"]) == expected_masks(row) for row in ROWS
    )


@pytest.mark.parametrize("mistake", ["ranked", "cut", "dropped"])
def test_the_golden_rows_catch_a_mistake_in_the_rule(mistake):
    """No rank test, a mask not cut to its bits, the offset of a rejected word kept."""
    assert any(
        slow_masks(int(row["seed"], 16), row["m"], row["k"], **{mistake: False})
        != expected_masks(row)
        for row in ROWS
    )


def test_the_golden_vectors_catch_signed_shifts():
    def signed(x):
        for shift, factor in ((16, 0x21F0AAAD), (15, 0xD35A2D97), (15, 1)):
            x = x.astype(np.int32)
            x = (x ^ x >> shift).astype(np.uint32) * np.uint32(factor)
        return x

    given, wanted = np.array(GOLDEN["mix"], np.uint32).T
    assert signed(given).tolist() != wanted.tolist()


@pytest.mark.parametrize("bits", range(2, 17))
def test_the_permutation_is_a_bijection(bits):
    points = hashing.permute(np.arange(1 << bits), bits)
    assert np.array_equal(np.sort(points), np.arange(1 << bits, dtype=np.uint64))
    assert np.array_equal(hashing.unpermute(points, bits), np.arange(1 << bits, dtype=np.uint64))


@pytest.mark.parametrize("bits", range(17, 64))
def test_the_permutation_of_a_large_domain_has_its_inverse(bits):
    values = np.random.default_rng(bits).integers(0, 1 << bits, 500, dtype=np.uint64)
    points = hashing.permute(values, bits)
    assert (points >> np.uint64(bits)).max() == 0
    assert np.array_equal(hashing.unpermute(points, bits), values)


def test_a_grouped_permutation_acts_on_each_group_by_itself():
    values = np.arange(1 << 10)
    low, single, high = values & 15, values >> 4 & 1, values >> 5
    wanted = (
        hashing.permute(low, 4)
        | (single << 4).astype(np.uint64)
        | hashing.permute(high, 5) << np.uint64(5)
    )
    assert np.array_equal(hashing.permute(values, 10, (4, 1, 5)), wanted)
    assert np.array_equal(hashing.unpermute(wanted, 10, (4, 1, 5)), values.astype(np.uint64))
    with pytest.raises(ParameterError):
        hashing.permute(values, 10, (4, 5))


@pytest.mark.parametrize(
    ("bits", "rank"), [(2, 1), (3, 2), (5, 4), (13, 12), (31, 3), (32, 4), (40, 12), (63, 5)]
)
def test_masks_are_independent_and_those_of_the_slow_reference(bits, rank):
    seeds = np.random.default_rng(bits).integers(0, 1 << 64, 300, dtype=np.uint64)
    masks, offsets = hashing.masks(seeds, bits, rank)
    spans = np.zeros((len(seeds), 1), np.uint64)
    for r in range(rank):
        spans = np.hstack([spans, spans ^ masks[:, r, None]])
    assert (spans[:, 1:] != 0).all()
    for seed, mask, offset in zip(seeds.tolist(), masks.tolist(), offsets.tolist(), strict=True):
        assert slow_masks(seed, bits, rank) == (mask, offset)


@pytest.mark.parametrize(("bits", "rank"), [(64, 2), (65, 1), (96, 3), (100, 12), (160, 2)])
def test_wide_masks_and_hashes_follow_the_same_rule(bits, rank):
    rng = np.random.default_rng(bits)
    seeds = rng.integers(0, 1 << 64, 200, dtype=np.uint64)
    masks, offsets = hashing.masks(seeds, bits, rank)
    assert masks.shape == (200, rank, bits // 32 + 1)
    for seed, mask, offset in zip(seeds.tolist(), masks, offsets.tolist(), strict=True):
        assert slow_masks(seed, bits, rank) == (as_integers(mask), offset)
    points = rng.integers(0, 1 << 32, (200, -(-bits // 32)), dtype=np.uint32)
    points[:, -1] >>= np.uint32(-bits % 32)
    wanted = [
        sum(((mask & point).bit_count() & 1) << r for r, mask in enumerate(as_integers(row)))
        ^ offset
        for row, point, offset in zip(masks, as_integers(points), offsets.tolist(), strict=True)
    ]
    assert hashing.affine_hash(seeds, points, bits, rank).tolist() == wanted
    assert np.diag(hashing.affine_hash_table(seeds, points, bits, rank)).tolist() == wanted
    own_rows = np.stack([points, points[::-1]], axis=1)
    by_row = hashing.affine_hash_rows(seeds, own_rows, bits, rank)
    assert by_row[:, 0].tolist() == wanted
    assert by_row[:, 1].tolist() == hashing.affine_hash(seeds, points[::-1], bits, rank).tolist()


@pytest.mark.parametrize(
    ("bits", "rank", "count"), [(3, 2, 2000), (31, 4, 2000), (32, 4, 2000), (63, 12, 300)]
)
def test_sequential_seeds_draw_the_masks_of_the_slow_reference_too(bits, rank, count):
    """Seeds that count up: among those of 3 bits many need a mask drawn again."""
    seeds = np.arange(count, dtype=np.uint64)
    masks, offsets = hashing.masks(seeds, bits, rank)
    wanted = [slow_masks(seed, bits, rank) for seed in range(count)]
    assert list(zip(masks.tolist(), offsets.tolist(), strict=True)) == wanted


COINS = {
    "random": lambda count: np.random.default_rng(8).integers(0, 1 << 64, count, dtype=np.uint64),
    "sequential": lambda count: np.arange(count, dtype=np.uint64),
    "sequential in the high half": lambda count: np.arange(count, dtype=np.uint64) << np.uint64(32),
}


def law_score(words):
    """How far, in sigmas, the joint law of (masks, offsets) of (3, 2) is from uniform over the 42 *
    4 possible.
    """
    masks, offsets = words
    cells = np.bincount(
        (masks[:, 0] << np.uint64(5) | masks[:, 1] << np.uint64(2) | offsets).astype(np.int64),
        minlength=256,
    )
    possible = [
        a << 5 | b << 2 | c for a in range(1, 8) for b in range(1, 8) if a != b for c in range(4)
    ]
    expected = np.zeros(256)
    expected[possible] = len(masks) / len(possible)
    wrong = cells[expected == 0].sum()
    square = ((cells - expected)[possible] ** 2 / expected[possible]).sum()
    freedom = len(possible) - 1
    return np.inf if wrong else (square - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize("coin", COINS)
def test_masks_and_offsets_are_jointly_uniform(coin):
    score = law_score(hashing.masks(COINS[coin](1 << 18), 3, 2))
    print("seeds", coin, "chi-square in sigmas", score, "expected within 5")
    assert abs(score) < 5


def test_the_joint_law_catches_offsets_that_follow_the_mask():
    masks, offsets = hashing.masks(COINS["random"](1 << 18), 3, 2)
    assert law_score((masks, offsets & 2 | (masks[:, 0] & 1).astype(np.uint16))) > 5


def collision_scores(table, bits, rank):
    """Sigmas between the sampled and the exact chance that two points share a bucket, for all pairs
    of points; the table has the bucket of every point for every seed.
    """
    chance = ((1 << bits >> rank) - 1) / ((1 << bits) - 1)
    rates = np.array(
        [(table[:, i] == table[:, j]).mean() for i, j in combinations(range(table.shape[1]), 2)]
    )
    return (rates - chance) / np.sqrt(chance * (1 - chance) / len(table))


@pytest.mark.parametrize("coin", COINS)
@pytest.mark.parametrize(("bits", "rank"), [(4, 2), (10, 2), (20, 3), (40, 1)])
def test_two_values_share_a_bucket_as_often_as_theory_says(bits, rank, coin):
    points = np.array(
        [0, 1, 2, 3, 5, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1], np.uint64
    )
    table = hashing.affine_hash_table(COINS[coin](1 << 16), points, bits, rank)
    scores = collision_scores(table, bits, rank)
    print("seeds", coin, "largest sigma", np.abs(scores).max(), "expected within 5")
    assert np.abs(scores).max() < 5


def test_the_collision_law_catches_masks_without_a_rank_test():
    """Free masks collide with chance 1/g, not (s - 1)/(D - 1)."""
    free = np.random.default_rng(1).integers(0, 1 << 4, (1 << 16, 2, 1))
    parities = np.bitwise_count(free & np.arange(1, 6)) & 1
    scores = collision_scores(parities[:, 0] + 2 * parities[:, 1], 4, 2)
    print("largest sigma", np.abs(scores).max(), "expected beyond 5")
    assert np.abs(scores).max() > 5


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 9])
def test_xxh32_is_the_published_one(width):
    rng = np.random.default_rng(width)
    words = rng.integers(0, 1 << 32, (200, width), dtype=np.uint32)
    seeds = rng.integers(0, 1 << 32, 200, dtype=np.uint32)
    wanted = [
        xxhash.xxh32_intdigest(row.astype("<u4").tobytes(), int(seed))
        for row, seed in zip(words, seeds, strict=True)
    ]
    assert hashing.xxh32(words, seeds).tolist() == wanted


def test_xxh32_broadcasts_seeds_against_values():
    words, seeds = np.arange(5, dtype=np.uint32)[:, None], np.arange(3, dtype=np.uint32)
    table = hashing.xxh32(words, seeds[:, None])
    assert table.shape == (3, 5)
    assert table[2, 4] == hashing.xxh32(words[4], 2)


def test_classical_hashes_and_buckets_are_the_agreed_ones():
    """The vectors shared with other languages: index, seed, hash, bucket of 55."""
    index, seed, digest, place = np.array(
        [
            (0, 0, 148298089, 1),
            (1, 0, 4089149075, 52),
            (0, 1, 2012518600, 25),
            (123456, 0xDEADBEEF, 2430225424, 31),
            (WORD, WORD, 551811927, 7),
        ],
        np.uint32,
    ).T
    hashes = hashing.xxh32(hashing.words_of(index, 32), seed)
    assert hashes.tolist() == digest.tolist()
    assert hashing.bucket(hashes, 55).tolist() == place.tolist()


def test_values_become_little_endian_words():
    assert hashing.words_of(np.array([5, 300]), 9).tolist() == [[5], [300]]
    assert hashing.words_of(np.array([1 << 40 | 7]), 41).tolist() == [[7, 1 << 8]]
    assert hashing.words_of(np.array([(1 << 64) - 1], np.uint64), 96).tolist() == [[WORD, WORD, 0]]
    rows = np.ones((3, 5), np.uint32)
    assert hashing.words_of(rows, 160) is rows
    with pytest.raises(ParameterError):
        hashing.words_of(rows, 64)


@pytest.mark.parametrize(("bits", "rank"), [(1, 1), (4, 0), (4, 4), (20, 17)])
def test_a_rank_that_does_not_fit_the_domain_is_refused(bits, rank):
    with pytest.raises(ParameterError):
        hashing.masks(np.zeros(1, np.uint64), bits, rank)


def test_hashing_nobody_gives_nothing():
    nobody = np.zeros(0, np.uint64)
    assert hashing.affine_hash(nobody, nobody, 10, 2).shape == (0,)
    assert hashing.permute(nobody, 10).shape == (0,)
    assert hashing.masks(nobody, 64, 2)[0].shape == (0, 2, 3)


@pytest.mark.parametrize("bits", [2, 31, 32, 33, 63, 64, 65, 96, 97, 160, 480])
def test_numbers_of_any_length_become_indices_and_words(bits):
    numbers = [0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << bits) // 3]
    indices = hashing.indices_of(numbers, bits)
    assert indices.dtype == (np.int64 if bits <= 63 else np.uint32)
    assert as_integers(hashing.words_of(indices, bits)) == numbers
    padded = hashing.padded(indices, bits)
    assert as_integers(padded) == numbers
    assert padded.shape[1] == bits // 32 + 1  # as many words as a mask has
    assert len(hashing.indices_of([], bits)) == 0


def test_points_of_63_bits_have_the_buckets_of_the_slow_reference():
    numbers = [0, 1, (1 << 63) - 1, 0x0123456789ABCDEF]
    table = hashing.affine_hash_table(
        np.arange(400, dtype=np.uint64), hashing.indices_of(numbers, 63), 63, 3
    )
    for seed, row in enumerate(table.tolist()):
        masks, offset = slow_masks(seed, 63, 3)
        parities = [[(mask & number).bit_count() & 1 for mask in masks] for number in numbers]
        assert row == [sum(bit << r for r, bit in enumerate(bits)) ^ offset for bits in parities]
