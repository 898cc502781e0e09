"""Compiled decoding against plain NumPy twins that count and add directly."""

import json
from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.kernels import affine, pool
from sottovoce.kernels.affine import AffineReports, PointLayout
from sottovoce.kernels.affine_words import BLOCK
from sottovoce.maths import hashing, walsh

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "affine.json").read_text())["tally"]
SIZES = [
    3,
    4,
    5,
    7,
    8,
    9,
    13,
    16,
    17,
    31,
    32,
    33,
    64,
    65,
    100,
    128,
    129,
    200,
    255,
    256,
    257,
    300,
    400,
    511,
    512,
]


def bits_of(size):
    return max(2, (size - 1).bit_length())


CASES = [(size, rank) for size in SIZES for rank in range(1, 7) if rank < bits_of(size)]


def reports(count, rank, seed=0):
    rng = np.random.default_rng([seed, count, rank])
    return rng.integers(0, 1 << 64, count, dtype=np.uint64), rng.integers(
        0, 1 << rank, count
    ).astype(np.uint16)


def supported(seeds, buckets, points, bits, rank):
    """The twin: ``(reports, points)``, hashed one by one."""
    return hashing.affine_hash_table(seeds, points, bits, rank) == buckets[:, None]


def spans(seeds, buckets, bits, rank):
    """The twin of the signed words: ``(reports, 2^rank)`` positions and signs."""
    masks, offsets = hashing.masks(seeds, bits, rank)
    positions, signs = np.zeros((len(seeds), 1), np.uint64), np.ones((len(seeds), 1), np.int64)
    for r in range(rank):
        sign = 1 - 2 * ((buckets ^ offsets) >> np.uint16(r) & np.uint16(1)).astype(np.int64)
        positions = np.hstack([positions, positions ^ masks[:, r, None]])
        signs = np.hstack([signs, signs * sign[:, None]])
    return positions, signs


@pytest.mark.parametrize(("size", "rank"), CASES)
def test_decoding_counts_what_direct_hashing_counts(size, rank):
    """Integers against direct counting, and the spectrum itself against its definition."""
    bits = bits_of(size)
    seeds, buckets = reports(700, rank, seed=size)
    spectrum = affine.spectrum(AffineReports(seeds, buckets, bits, rank))
    positions, signs = spans(seeds, buckets, bits, rank)
    wanted = np.zeros(1 << bits, np.int64)
    np.add.at(wanted, positions.astype(np.int64), signs)
    assert spectrum.dtype == np.int64
    assert np.array_equal(spectrum, wanted)
    assert spectrum[0] == len(seeds)
    points = hashing.permute(np.arange(size), bits)
    counts = supported(seeds, buckets, points, bits, rank).sum(axis=0)
    assert np.array_equal(affine.supports(spectrum, PointLayout(bits), rank, size), counts)
    assert np.array_equal(
        affine.candidate_supports(AffineReports(seeds, buckets, bits, rank), points), counts
    )
    straight = affine.candidate_supports(AffineReports(seeds, buckets, bits, rank), np.arange(size))
    assert np.array_equal(
        affine.supports(spectrum, PointLayout(bits, permuted=False), rank, size), straight
    )


@pytest.mark.parametrize(("bits", "rank"), [(17, 16), (18, 13)])
def test_many_buckets_are_decoded(bits, rank):
    seeds, buckets = reports(12, rank)
    given = AffineReports(seeds, buckets, bits, rank)
    points = np.arange(1 << bits)
    counts = supported(seeds, buckets, points, bits, rank).sum(axis=0)
    assert counts.sum() == 12 << bits - rank
    layout = PointLayout(bits, permuted=False)
    assert np.array_equal(affine.supports(affine.spectrum(given), layout, rank, 1 << bits), counts)
    assert np.array_equal(affine.candidate_supports(given, points[:5000]), counts[:5000])


@pytest.mark.parametrize(("size", "rank"), CASES)
def test_scoring_adds_what_a_direct_sum_adds(size, rank):
    """Random coefficients, the padding empty and filled; a constant scores alike for all."""
    bits = bits_of(size)
    seeds, buckets = reports(300, rank, seed=size)
    points = hashing.permute(np.arange(1 << bits), bits).astype(np.int64)
    votes = supported(seeds, buckets, points, bits, rank).astype(float)
    for filled in (False, True):
        cells = np.zeros(1 << bits)
        cells[:size] = np.random.default_rng(size).normal(size=size)
        cells[size:] = cells[:size].mean() if filled else 0
        target = np.zeros(1 << bits)
        target[points] = cells
        found = affine.scores(AffineReports(seeds, buckets, bits, rank), walsh.transform(target))
        assert np.abs(found - votes @ cells).max() < 1e-12 * max(1, np.abs(cells).sum())
    constant = affine.scores(
        AffineReports(seeds, buckets, bits, rank), walsh.transform(np.ones(1 << bits))
    )
    assert (constant == (1 << bits >> rank)).all()


def test_the_golden_tally_is_reproduced():
    seeds = np.array([int(seed, 16) for seed, _ in GOLDEN["reports"]], np.uint64)
    buckets = np.array([bucket for _, bucket in GOLDEN["reports"]], np.uint16)
    spectrum = affine.spectrum(AffineReports(seeds, buckets, GOLDEN["m"], GOLDEN["k"]))
    assert spectrum.tolist() == GOLDEN["spectrum"]
    assert (
        affine.supports(spectrum, PointLayout(GOLDEN["m"]), GOLDEN["k"], GOLDEN["size"]).tolist()
        == GOLDEN["support"]
    )


@pytest.mark.parametrize(
    ("bits", "rank"), [(2, 1), (3, 2), (4, 3), (9, 8), (13, 12), (16, 2), (20, 3), (22, 4)]
)
def test_ranks_and_widths_at_the_edges_decode_like_the_plain_transform(bits, rank):
    """Degenerate words abound in the first of these; ranks above 6 have no other test."""
    seeds, buckets = reports(3000, rank, seed=bits)
    positions, signs = spans(seeds, buckets, bits, rank)
    wanted = np.zeros(1 << bits, np.int64)
    np.add.at(wanted, positions.astype(np.int64), signs)
    spectrum = affine.spectrum(AffineReports(seeds, buckets, bits, rank))
    assert np.array_equal(spectrum, wanted)
    table = np.random.default_rng(bits).normal(size=1 << bits)
    direct = (table[positions.astype(np.int64)] * signs).mean(axis=1)
    assert (
        np.abs(affine.scores(AffineReports(seeds, buckets, bits, rank), table) - direct).max()
        < 1e-12
    )
    points = hashing.permute(np.arange(1 << bits), bits).astype(np.int64)
    plain = walsh.transform(spectrum)[points] >> rank
    assert np.array_equal(affine.supports(spectrum, PointLayout(bits), rank, 1 << bits), plain)


def test_the_number_of_threads_changes_nothing():
    seeds, buckets = reports(pool.FEW + 1001, 3)
    spectra = [
        affine.spectrum(AffineReports(seeds, buckets, 9, 3), threads=threads)
        for threads in (1, 2, 3, None)
    ]
    assert all(np.array_equal(spectra[0], other) for other in spectra)
    table = np.random.default_rng(1).normal(size=1 << 9)
    sums = [
        affine.scores(AffineReports(seeds, buckets, 9, 3), table, threads=threads)
        for threads in (1, 2, None)
    ]
    assert all(np.array_equal(sums[0], other) for other in sums)


def test_spectra_of_disjoint_reports_add():
    seeds, buckets = reports(2500, 2)
    parts = affine.spectrum(AffineReports(seeds[:900], buckets[:900], 8, 2)) + affine.spectrum(
        AffineReports(seeds[900:], buckets[900:], 8, 2)
    )
    assert np.array_equal(parts, affine.spectrum(AffineReports(seeds, buckets, 8, 2)))


def test_no_reports_decode_to_nothing():
    nobody = np.zeros(0, np.uint64), np.zeros(0, np.uint16)
    assert not affine.spectrum(AffineReports(*nobody, 6, 2)).any()
    assert affine.scores(AffineReports(*nobody, 6, 2), np.zeros(64)).shape == (0,)
    assert affine.candidate_supports(AffineReports(*nobody, 6, 2), np.arange(3)).tolist() == [
        0,
        0,
        0,
    ]
    assert not affine.block_supports(AffineReports(*nobody, 6, 2), np.arange(2), 3).any()


def test_a_spectrum_too_large_for_32_bits_is_still_exact():
    small = affine.spectrum(AffineReports(*reports(400, 2), 7, 2))
    counts = affine.supports(small, PointLayout(7), 2, 128)
    assert np.array_equal(affine.supports(small << 30, PointLayout(7), 2, 128), counts << 30)


@pytest.mark.parametrize("groups", [(), (4, 1, 6), (1, 1, 9), (5, 6)])
def test_the_compiled_permutation_is_that_of_hashing(groups):
    table = affine.permutation(11, 2000, groups)
    assert np.array_equal(table, hashing.permute(np.arange(2000), 11, groups))


@pytest.mark.parametrize("bits", range(2, 21))
def test_the_compiled_permutation_has_every_width(bits):
    assert np.array_equal(
        affine.permutation(bits, 1 << bits), hashing.permute(np.arange(1 << bits), bits)
    )


def test_supports_are_read_through_a_grouped_permutation():
    seeds, buckets = reports(800, 2)
    points = hashing.permute(np.arange(500), 9, (3, 1, 5))
    found = affine.supports(
        affine.spectrum(AffineReports(seeds, buckets, 9, 2)), PointLayout(9, (3, 1, 5)), 2, 500
    )
    assert np.array_equal(found, supported(seeds, buckets, points, 9, 2).sum(axis=0))


@pytest.mark.parametrize(
    ("widths", "rank"), [((5,), 2), ((3, 4), 2), ((1, 3, 5), 3), ((2, 3, 4), 6)]
)
def test_product_targets_score_like_the_whole_table(widths, rank):
    bits, rng = sum(widths), np.random.default_rng(3)
    seeds, buckets = reports(600, rank)
    factors = [rng.normal(size=1 << width) for width in widths]
    whole = np.ones(1)
    for factor in factors:
        whole = np.multiply.outer(factor, whole).ravel()
    transformed = [walsh.transform(factor) for factor in factors]
    found = affine.factor_scores(AffineReports(seeds, buckets, bits, rank), transformed, widths)
    wanted = affine.scores(AffineReports(seeds, buckets, bits, rank), walsh.transform(whole))
    assert np.abs(found - wanted).max() < 1e-12 * np.abs(whole).sum()


@pytest.mark.parametrize("terms", [1, 2, 7])
def test_several_products_score_like_one_after_another(terms):
    widths, rng = (3, 1, 5), np.random.default_rng(terms)
    seeds, buckets = reports(300, 3)
    tables = [rng.normal(size=(1 << width, terms)) for width in widths]
    batch = AffineReports(seeds, buckets, 9, 3)
    found = affine.term_scores(batch, tables, widths)
    for term in range(terms):
        alone = affine.factor_scores(batch, [table[:, term] for table in tables], widths)
        np.testing.assert_allclose(found[:, term], alone, rtol=1e-12, atol=1e-12)
    with pytest.raises(ParameterError):
        affine.term_scores(batch, tables[::-1], widths)


def test_product_targets_of_two_word_cells_score_like_their_definition():
    widths, rng = (10, 9, 12, 9), np.random.default_rng(4)
    seeds, buckets = reports(500, 3)
    factors = [rng.normal(size=1 << width) for width in widths]
    positions, signs = spans(seeds, buckets, 40, 3)
    product, shift = signs.astype(float), 0
    for factor, width in zip(factors, widths, strict=True):
        product = (
            product * factor[(positions >> np.uint64(shift)).astype(np.int64) & (1 << width) - 1]
        )
        shift += width
    found = affine.factor_scores(AffineReports(seeds, buckets, 40, 3), factors, widths)
    assert np.abs(found - product.mean(axis=1)).max() < 1e-12 * np.abs(product).max()


@pytest.mark.parametrize("bits", [8, 20, 31, 32, 48, 63])
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 7])
def test_prefix_blocks_count_every_extension(bits, rank):
    """The extension bits lowest, the identity instead of the permutation."""
    seeds, buckets = reports(1300, rank, seed=bits)
    prefixes = np.random.default_rng(bits).integers(0, 1 << (bits - 3), 5, dtype=np.uint64)
    points = (prefixes[:, None] << np.uint64(3) | np.arange(8, dtype=np.uint64)).ravel()
    wanted = supported(seeds, buckets, points, bits, rank).sum(axis=0).reshape(5, 8)
    assert np.array_equal(
        affine.block_supports(AffineReports(seeds, buckets, bits, rank), prefixes, 3), wanted
    )
    assert np.array_equal(
        affine.block_supports(AffineReports(seeds, buckets, bits, rank), prefixes, 3, threads=3),
        wanted,
    )


@pytest.mark.parametrize(
    ("bits", "rank"), [(2, 1), (5, 4), (31, 2), (32, 2), (33, 12), (48, 3), (63, 1)]
)
def test_candidates_are_counted_like_direct_hashing(bits, rank):
    seeds, buckets = reports(2100, rank, seed=bits)
    points = np.random.default_rng(bits).integers(0, 1 << bits, 17, dtype=np.uint64)
    wanted = supported(seeds, buckets, points, bits, rank).sum(axis=0)
    assert np.array_equal(
        affine.candidate_supports(AffineReports(seeds, buckets, bits, rank), points), wanted
    )
    assert np.array_equal(
        affine.candidate_supports(AffineReports(seeds, buckets, bits, rank), points, threads=2),
        wanted,
    )


@pytest.mark.parametrize(("bits", "rank"), [(64, 1), (96, 2), (100, 3), (160, 2)])
def test_wide_candidates_are_counted_like_direct_hashing(bits, rank):
    seeds, buckets = reports(5000, rank, seed=bits)
    points = np.random.default_rng(bits).integers(0, 1 << 32, (9, -(-bits // 32)), dtype=np.uint32)
    points[:, -1] >>= np.uint32(-bits % 32)
    wanted = supported(seeds, buckets, points, bits, rank).sum(axis=0)
    assert np.array_equal(
        affine.candidate_supports(AffineReports(seeds, buckets, bits, rank), points), wanted
    )
    assert np.array_equal(
        affine.candidate_supports(AffineReports(seeds, buckets, bits, rank), points, threads=2),
        wanted,
    )


def test_settings_that_do_not_fit_are_refused():
    seeds, buckets = reports(5, 2)
    refused = [
        lambda: affine.spectrum(AffineReports(seeds, buckets, 29, 2)),
        lambda: affine.spectrum(AffineReports(seeds, buckets, 4, 4)),
        lambda: affine.spectrum(AffineReports(seeds, buckets[:3], 4, 2)),
        lambda: affine.supports(np.zeros(16, np.int64), PointLayout(4), 2, 17),
        lambda: affine.permutation(4, 16, (2, 3)),
        lambda: affine.scores(AffineReports(seeds, buckets, 4, 2), np.zeros(8)),
        lambda: affine.factor_scores(AffineReports(seeds, buckets, 4, 2), [np.zeros(4)], [2]),
        lambda: affine.block_supports(
            AffineReports(seeds, buckets, 4, 2), np.array([4], np.uint64), 2
        ),
    ]
    for call in refused:
        with pytest.raises(ParameterError):
            call()


WIDE = [
    *((bits, rank) for bits in (64, 65, 96, 100) for rank in (1, 3)),
    (160, 2),
    (160, 7),
    (480, 2),
]


def extensions(prefixes, extension, bits):
    """Every extension of every prefix, in order, as the indices that direct hashing takes."""
    return hashing.indices_of(
        [prefix << extension | low for prefix in prefixes for low in range(1 << extension)], bits
    )


def some_prefixes(bits, extension, count=5):
    rng = np.random.default_rng([bits, extension])
    drawn = int.from_bytes(rng.bytes(60 * count)), (1 << (bits - extension)) - 1
    return [0, drawn[1], *(drawn[0] >> 480 * index & drawn[1] for index in range(count - 2))]


def block_twin(seeds, buckets, prefixes, extension, bits, rank, *, order=1, sign=-1):
    """Plain NumPy: signed spans, cut to the extension, transformed; two switches for mistakes that
    must be caught.
    """
    masks, offsets = hashing.masks(seeds, bits, rank)
    low, total = (1 << extension) - 1, np.zeros((len(prefixes), 1 << extension), np.int64)
    for row, prefix in enumerate(prefixes):
        point = hashing.padded(hashing.indices_of([prefix << extension], bits), bits)[0]
        parity = np.bitwise_count(np.bitwise_xor.reduce(masks & point, axis=2)) & 1
        positions, signs = np.zeros((len(seeds), 1), np.int64), np.ones((len(seeds), 1), np.int64)
        for r in range(rank):
            odd = parity[:, r] ^ ((buckets ^ offsets) >> np.uint16(r) & np.uint16(1))
            positions = np.hstack([positions, positions ^ (masks[:, r, :1] & low)])
            signs = np.hstack([signs, signs * np.where(odd, sign, 1)[:, None]])
        np.add.at(total[row], positions.ravel(), signs.ravel())
    return walsh.transform(total)[:, ::order] >> rank


@pytest.mark.parametrize(("bits", "rank"), WIDE)
@pytest.mark.parametrize("extension", [0, 1, 6])
def test_wide_prefix_blocks_count_what_direct_hashing_counts(bits, rank, extension):
    seeds, buckets = reports(BLOCK + 104, rank, seed=bits)
    prefixes = some_prefixes(bits, extension)
    wanted = affine.candidate_supports(
        AffineReports(seeds, buckets, bits, rank), extensions(prefixes, extension, bits)
    )
    found = affine.block_supports(AffineReports(seeds, buckets, bits, rank), prefixes, extension)
    assert found.shape == (5, 1 << extension)
    assert np.array_equal(found.ravel(), wanted)
    assert np.array_equal(found, block_twin(seeds, buckets, prefixes, extension, bits, rank))
    for threads in (2, 3):
        parts = affine.block_supports(
            AffineReports(seeds, buckets, bits, rank), prefixes, extension, threads=threads
        )
        assert np.array_equal(parts, found)


@pytest.mark.parametrize("mistake", [{"order": -1}, {"sign": 1}])
def test_direct_counting_catches_a_wrong_sign_and_a_wrong_order_of_bits(mistake):
    seeds, buckets = reports(500, 2)
    prefixes = some_prefixes(100, 4)
    wanted = affine.candidate_supports(
        AffineReports(seeds, buckets, 100, 2), extensions(prefixes, 4, 100)
    ).reshape(5, 16)
    assert np.array_equal(block_twin(seeds, buckets, prefixes, 4, 100, 2), wanted)
    assert not np.array_equal(block_twin(seeds, buckets, prefixes, 4, 100, 2, **mistake), wanted)


@pytest.mark.parametrize(("bits", "rank"), [(2, 1), (8, 3), (13, 12), (16, 2)])
def test_a_prefix_of_no_bits_decodes_the_whole_domain(bits, rank):
    seeds, buckets = reports(900, rank, seed=bits)
    found = affine.block_supports(AffineReports(seeds, buckets, bits, rank), [0], bits)
    spectrum = affine.spectrum(AffineReports(seeds, buckets, bits, rank))
    assert np.array_equal(
        found[0], affine.supports(spectrum, PointLayout(bits, permuted=False), rank, 1 << bits)
    )


@pytest.mark.parametrize("bits", [8, 40, 64, 160])
def test_blocks_of_no_reports_and_of_no_prefixes_are_empty(bits):
    nobody = np.zeros(0, np.uint64), np.zeros(0, np.uint16)
    for extension in (0, 3):
        assert (
            affine.block_supports(AffineReports(*nobody, bits, 2), [0, 1], extension).tolist()
            == [[0] * (1 << extension)] * 2
        )
        assert affine.block_supports(
            AffineReports(*reports(10, 2), bits, 2), [], extension
        ).shape == (0, 1 << extension)


@pytest.mark.parametrize("bits", [8, 40, 64, 160])
def test_prefixes_of_other_lengths_are_refused(bits):
    for prefixes, extension in (
        ([1 << (bits - 3)], 3),
        ([-1], 3),
        ([0], -1),
        ([0], affine.MAX_SPECTRUM_BITS + 1),
    ):
        with pytest.raises(ParameterError):
            affine.block_supports(AffineReports(*reports(10, 2), bits, 2), prefixes, extension)


@pytest.mark.parametrize(("slow", "fast"), [(1, 7), (25, 5), (5, 25), (40, 30)])
def test_targets_are_placed_as_the_permutation_says_and_padded_with_their_mean(slow, fast):
    dice, size = np.random.default_rng(slow), slow * fast
    bits = (size - 1).bit_length()
    left, right = dice.normal(size=slow), dice.normal(size=fast)
    whole = np.multiply.outer(left, right).ravel()
    twin = np.full(1 << bits, whole.mean())
    twin[hashing.permute(np.arange(size), bits)] = whole
    np.testing.assert_array_equal(affine.placed(whole, PointLayout(bits)), twin)
    np.testing.assert_allclose(affine.placed_product(left, right, bits), twin, rtol=1e-12)
    stacked = np.stack([left, -0.5 * left]), np.stack([right, right])
    np.testing.assert_allclose(affine.placed_terms(*stacked, bits), 0.5 * twin, rtol=1e-12)
    flat = affine.placed(whole, PointLayout(bits, permuted=False))
    assert (flat[:size] == whole).all()
    assert (flat[size:] == whole.mean()).all()
    assert (flat != twin).any()  # without a permutation the target stands elsewhere
