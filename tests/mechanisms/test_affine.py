"""Affine response: its moments, its decoding and its contract."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sottovoce.core.noise import BalancedNoise, IndependentNoise
from sottovoce.errors import CodecError, ParameterError
from sottovoce.kernels.affine import AffineReports, scores
from sottovoce.lab.checks import HASHED_CHECKS, RecordedRng, sampled_estimates_are_unbiased
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import hashing, walsh
from sottovoce.mechanisms.affine import REPORT, AffineResponse
from sottovoce.mechanisms.subset import SubsetSelection

SMALL = [
    AffineResponse(epsilon, size)
    for epsilon, size in ((0.5, 3), (1.0, 6), (1.0, 16), (2.0, 33), (4.0, 200))
]


@pytest.mark.parametrize(
    "mechanism",
    SMALL,
    ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}-{mechanism.buckets}",
)
@pytest.mark.parametrize("check", HASHED_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


def full_rank_maps(bits, rank):
    """Every matrix of independent masks, each with every offset."""
    for masks in product(range(1, 1 << bits), repeat=rank):
        span = {0}
        for mask in masks:
            if mask in span:
                break
            span |= {mask ^ element for element in span}
        else:
            yield from ((masks, offset) for offset in range(1 << rank))


def supported_sets(bits, rank):
    """Every set of values that a report can support, as often as a map and a bucket give it."""
    for masks, offset in full_rank_maps(bits, rank):
        hashes = [
            sum(((mask & v).bit_count() & 1) << r for r, mask in enumerate(masks)) ^ offset
            for v in range(1 << bits)
        ]
        yield np.array(hashes)


@pytest.mark.parametrize(("bits", "rank"), [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2)])
def test_moments_over_all_maps_are_those_of_subset_selection(bits, rank):
    """Pairs given the held value, and the variance of random coefficients: exact, in rational
    arithmetic.
    """
    cells, buckets = 1 << bits, 1 << rank
    chosen = cells // buckets
    p = Fraction(3, 5)
    lie = (1 - p) / (buckets - 1)
    held, maps = 0, list(supported_sets(bits, rank))
    pair_held, pair_other, single = Fraction(0), Fraction(0), Fraction(0)
    coefficients = [Fraction(int(c)) for c in np.random.default_rng(bits).integers(-9, 9, cells)]
    q = (chosen - p) / (cells - 1)
    mean, square = Fraction(0), Fraction(0)
    for hashes in maps:
        for bucket in range(buckets):
            weight = (p if hashes[held] == bucket else lie) / len(maps)
            inside = hashes == bucket
            single += weight * bool(inside[1])
            pair_held += weight * bool(inside[0] and inside[1])
            pair_other += weight * bool(inside[1] and inside[2])
            score = sum(
                (c * ((1 if s else 0) - q) for c, s in zip(coefficients, inside, strict=True)),
                Fraction(0),
            ) / (p - q)
            mean += weight * score
            square += weight * score * score
    assert single == q
    assert pair_held == p * Fraction(chosen - 1, cells - 1)
    assert pair_other == Fraction(chosen - 1) * (chosen - 2 * p) / ((cells - 1) * (cells - 2))
    assert mean == coefficients[held]
    noise = BalancedNoise.subsets(float(p), cells, chosen)
    stated = noise.linear(np.array(coefficients, float), np.eye(cells)[held], 1)
    assert float(square - mean**2) == pytest.approx(stated, rel=1e-12)


def test_the_variance_of_one_cell_is_the_textbook_one():
    """The formula for sets, at one cell of a power of two, is equation 3.2."""
    affine = AffineResponse(1.0, 1024)
    votes = np.zeros(1024)
    votes[3] = 700
    cell = np.eye(1024)[3]
    assert affine.noise.linear(cell, votes + 300 / 1024, 1000) == pytest.approx(
        IndependentNoise.of(affine.p, affine.q).variances(votes + 300 / 1024, 1000)[3], rel=1e-9
    )


def test_the_whole_domain_is_known_exactly():
    for size in (16, 1025):
        affine = AffineResponse(1.0, size)
        reports = affine.privatize(np.arange(5000) % size, SeededRng(1))
        everyone = affine.estimate(affine.tally(reports)).sum(np.arange(size))
        assert everyone.total == pytest.approx(5000)
        assert everyone.variance == pytest.approx(0, abs=1e-6)
        np.testing.assert_allclose(affine.score(reports, np.ones(size)), 1.0, rtol=1e-9)


def test_every_report_supports_one_gth_of_the_padded_domain():
    affine = AffineResponse(1.0, 64)
    reports = affine.privatize(np.arange(64), SeededRng(2))
    assert set(affine.support(reports, np.arange(64)).sum(axis=1)) == {64 // affine.buckets}


@pytest.mark.parametrize("size", [3, 5, 11, 16, 100, 257, 512])
def test_the_spectrum_decodes_to_direct_support_counts(size):
    for rank in range(1, min((size - 1).bit_length() - 1, 6) + 1):
        affine = AffineResponse(1.0, size, 1 << rank)
        reports = affine.privatize(np.arange(700) % size, SeededRng(rank))
        direct = affine.support(reports, np.arange(size)).sum(axis=0)
        np.testing.assert_array_equal(affine.supports(affine.tally(reports)), direct)
        np.testing.assert_array_equal(affine.count(reports, np.arange(size)), direct)


@pytest.mark.parametrize("size", [12, 64, 300])
def test_a_score_is_the_direct_sum_of_votes(size):
    affine = AffineResponse(1.0, size)
    reports = affine.privatize(np.arange(500) % size, SeededRng(9))
    coefficients = np.random.default_rng(3).normal(size=size)
    padded = np.full(affine.cells, coefficients.mean())
    padded[:size] = coefficients
    direct = affine.votes(reports, np.arange(affine.cells)) @ padded
    np.testing.assert_allclose(affine.score(reports, coefficients), direct, rtol=1e-9, atol=1e-9)
    total = affine.estimate(affine.tally(reports)).weighted(coefficients)
    assert affine.score(reports, coefficients).sum() == pytest.approx(total.total)


def test_it_is_as_accurate_as_subset_selection_on_powers_of_two():
    for epsilon in (0.5, 1.0, 2.0):
        affine = AffineResponse(epsilon, 64)
        subset = SubsetSelection(epsilon, 64, 64 // affine.buckets)
        assert affine.noise.spread == pytest.approx(subset.noise.spread, rel=1e-9)
        assert affine.noise.swing == pytest.approx(subset.noise.swing, rel=1e-9)


def test_padding_filled_with_the_mean_keeps_large_ranges_sharp():
    """Variance per user of half of 1025 values at epsilon 1 is 946; of nine tenths, 340."""
    affine = AffineResponse(1.0, 1025)
    uniform = np.full(1025, 1 / 1025)
    for share, expected in ((0.5, 946), (0.9, 340)):
        chosen = (np.arange(1025) < share * 1025).astype(float)
        assert affine.noise.linear(chosen, uniform, 1) == pytest.approx(expected, rel=0.01)


def kurtosis(scores):
    centred = scores - scores.mean()
    return (centred**4).mean() / (centred**2).mean() ** 2


def test_aligned_ranges_need_the_permutation():
    """With pi a half-domain score has the tails of a normal law; the identity is caught by its
    kurtosis.
    """
    affine = AffineResponse(1.0, 1 << 10)
    reports = affine.privatize(np.arange(200_000) % 1024, SeededRng(12))
    half = (np.arange(1024) < 512).astype(float)
    assert kurtosis(affine.score(reports, half)) < 6
    decodable = AffineReports(reports["seed"], reports["bucket"], 10, affine.rank)
    unpermuted = scores(decodable, walsh.transform(half))
    assert kurtosis(unpermuted) > 100


class WrongQ(AffineResponse):
    """The collision chance of independent hashing, which affine maps do not have."""

    @property
    def q(self):
        return 1 / self.buckets


def test_the_collision_chance_of_independent_hashing_is_caught():
    with pytest.raises(AssertionError):
        sampled_estimates_are_unbiased(WrongQ(1.0, 16))


def test_half_as_hard_coded_chance_is_refused():
    """Keeping with one half when the buckets were rounded up spends more than epsilon."""
    with pytest.raises(ParameterError):
        AffineResponse(1.0, 64, 4, keep=1 << 63)


def test_the_number_of_buckets_follows_epsilon():
    chosen = [
        AffineResponse(epsilon, 1 << 16).rank for epsilon in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    ]
    assert chosen == [1, 2, 3, 4, 6, 7, 9]


def test_buckets_that_are_not_given_stop_at_4096():
    """Documents of tables and sets are read by computing them anew."""
    assert AffineResponse(10.0, 1 << 20).buckets == 1 << 12
    assert AffineResponse(10.0, 1 << 20, 1 << 16).width == AffineResponse(10.0, 1 << 20).width
    with pytest.raises(ParameterError, match="`buckets`"):
        AffineResponse(10.0, 1 << 20, 1 << 17)


def test_recorded_draws_give_a_known_report():
    """Seed first, then the coin that keeps, then the lie."""
    affine = AffineResponse(1.0, 11, 4)
    seed = bytes.fromhex("0123456789abcdef")
    rng = RecordedRng(seed + b"\0" * 8 + b"\1\0\0\0")
    report = affine.privatize(np.array([7]), rng)
    point = hashing.permute(np.array([7]), 4)
    honest = hashing.affine_hash(report["seed"], point, 4, 2)
    assert report["seed"][0] == int.from_bytes(seed, "little")
    assert report["bucket"][0] == honest[0]
    assert rng.consumed == 20


def test_an_impossible_bucket_is_refused():
    report = np.zeros(1, REPORT)
    report["bucket"] = 4
    with pytest.raises(CodecError):
        AffineResponse(1.0, 64, 4).unpack(report.tobytes())


@pytest.mark.parametrize("buckets", [3, 1, 64, -2])
def test_impossible_buckets_are_refused(buckets):
    with pytest.raises(ParameterError):
        AffineResponse(1.0, 64, buckets)


def test_grouped_permutations_decode_too():
    affine = AffineResponse(1.0, 1 << 9, groups=(4, 5))
    reports = affine.privatize(np.arange(900) % 512, SeededRng(5))
    direct = affine.support(reports, np.arange(512)).sum(axis=0)
    np.testing.assert_array_equal(affine.supports(affine.tally(reports)), direct)
    with pytest.raises(ParameterError):
        AffineResponse(1.0, 1 << 9, groups=(4, 4))


def test_a_domain_too_large_to_list_is_decoded_for_candidates():
    affine = AffineResponse(2.0, 1 << 48)
    values = np.repeat(np.array([5, 1 << 40], np.int64), [30_000, 10_000])
    reports = affine.privatize(values, SeededRng(6))
    estimate = affine.estimate_among(reports, np.array([5, 1 << 40, 77]))
    z = (estimate.totals - [30_000, 10_000, 0]) / estimate.errors
    assert np.abs(z).max() < 5
    with pytest.raises(ParameterError, match="candidates"):
        affine.tally(reports)


# --- whether reports can be honest ---


@pytest.mark.parametrize(("size", "buckets"), [(16, 2), (64, 4), (200, 8)])
def test_the_seed_spectrum_counts_annihilated_differences(size, buckets):
    mechanism = AffineResponse(epsilon=1.0, size=size, buckets=buckets)
    reports = mechanism.privatize(np.arange(300) % size, SeededRng(1))
    points = np.arange(mechanism.cells, dtype=np.uint64)
    table = hashing.affine_hash_table(reports["seed"], points, mechanism.bits, mechanism.rank)
    direct = np.count_nonzero(table == table[:, :1], axis=0)[1:]
    test = next(
        test
        for test in mechanism.plausibility(mechanism.evidence(reports))
        if test.name == "seed spectrum"
    )
    chance = mechanism.overlap
    deviation = np.sqrt(300 * chance * (1 - chance))
    assert test.statistic == pytest.approx((direct.max() - 300 * chance) / deviation)


def test_evidence_adds_over_batches():
    mechanism = AffineResponse(epsilon=1.0, size=64)
    reports = mechanism.privatize(np.arange(100) % 64, SeededRng(1))
    assert mechanism.evidence(reports[:30]) + mechanism.evidence(reports[30:]) == (
        mechanism.evidence(reports)
    )


def test_every_difference_is_annihilated_at_the_stated_rate():
    """Over many seeds, whatever people hold; the chance 1/g is the broken twin."""
    mechanism = AffineResponse(epsilon=1.0, size=16, buckets=4)
    users = 200_000
    reports = mechanism.privatize(np.zeros(users, np.int64), SeededRng(1))
    tests = {test.name: test for test in mechanism.plausibility(mechanism.evidence(reports))}
    assert not tests["seed spectrum"].alarm
    points = np.arange(16, dtype=np.uint64)
    table = hashing.affine_hash_table(reports["seed"], points, 4, 2)
    counts = np.count_nonzero(table == table[:, :1], axis=0)[1:]
    chance = mechanism.overlap
    assert chance == pytest.approx((16 / 4 - 1) / 15)
    deviations = (counts - users * chance) / np.sqrt(users * chance * (1 - chance))
    print(f"deviations from {users * chance:.0f}: {deviations.round(2)}")
    assert np.abs(deviations).max() < 5
    broken = (counts - users / 4) / np.sqrt(users * chance * (1 - chance))
    assert np.abs(broken).min() > 5


def test_searched_seeds_are_marked():
    mechanism = AffineResponse(epsilon=1.0, size=256)
    honest = mechanism.privatize(np.arange(5000) % 256, SeededRng(1))
    false = mechanism.draw_supporting(np.tile(np.arange(6), (400, 1)), 300, SeededRng(2))
    evidence = mechanism.evidence(np.concatenate([honest, false]))
    # Differences are annihilated with the chance 1/4 by honest seeds, and by most searched ones.
    marked = mechanism.seed_marks(false, evidence).mean()
    assert marked > 2 * mechanism.seed_marks(honest, evidence).mean()
    assert not mechanism.seed_marks(honest, mechanism.evidence(honest)).any()
