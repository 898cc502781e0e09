"""The claims of docs/affine-response.md that only samples or whole collections can show, and its
tables of losses.

Enumerations up to four bits are in tests/mechanisms/test_affine.py, decoding is in
tests/kernels/test_affine.py, the chooser in tests/frequencies/test_choose.py; the golden vectors,
and the mistakes they catch, in tests/test_hashing.py.
"""

from itertools import combinations
from math import exp, sqrt

import numpy as np
import pytest

from sottovoce.kernels import affine as kernels
from sottovoce.lab.aggregate import collections
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.wang_chapter3.error_laws import exact_covariance as covariance
from sottovoce.lab.experiments.wang_chapter3.error_laws import genuine_errors
from sottovoce.lab.experiments.wang_chapter3.error_laws import relative_mse_spread as mse_spread
from sottovoce.lab.populations.zipf import zipf
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import hashing, walsh
from sottovoce.maths.normal import quantile
from sottovoce.mechanisms.affine import AffineResponse, average_variance
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.frequencies.choose_mechanism import UNSTATED_RULE, choose

REPORTS = 1 << 18
USERS = 20_000
REACH = quantile(0.95)


class CountedSeeds(SeededRng):
    """Seeds 0, 1, 2, ... in the low or the high half; everything after them is random."""

    def __init__(self, seed, shift):
        super().__init__(seed)
        self.shift = shift

    def longs(self, count):
        if self.shift is None:
            return super().longs(count)
        counted, self.shift = np.arange(count, dtype=np.uint64) << np.uint64(self.shift), None
        return counted


COINS = {
    "random": SeededRng,
    "sequential": lambda seed: CountedSeeds(seed, 0),
    "sequential in the high half": lambda seed: CountedSeeds(seed, 32),
}


def watched(bits):
    """Points full of XOR relations: 1 ^ 2 = 3, and 1, the middle and its neighbour."""
    half = 1 << (bits - 1)
    return np.array([0, 1, 2, 3, half, half + 1, 2 * half - 1], np.uint64)


def supported(affine, held, rng):
    """(reports, watched points): what reports of the point at index ``held`` support."""
    values = hashing.unpermute(watched(affine.bits), affine.bits).astype(np.int64)
    reports = affine.privatize(np.full(REPORTS, values[held]), rng)
    return affine.support(reports, values)


def subset_chance(affine, others, holds):
    """The chance that a random subset has so many given ``others``, and the held value too if
    ``holds``.
    """
    p, cells, chosen = affine.p, affine.cells, affine.cells // affine.buckets
    with_it = without = 1.0
    for taken in range(others):
        with_it *= (chosen - 1 - taken) / (cells - 1 - taken)
        without *= (chosen - taken) / (cells - 1 - taken)
    return p * with_it + (0 if holds else (1 - p) * without)


def joint_scores(affine, held, inside):
    """Sigmas between sampled and exact chances of every single, every pair, and every triple with
    the held point.
    """
    scores, points = [], range(inside.shape[1])
    for group in [group for length in (1, 2, 3) for group in combinations(points, length)]:
        if len(group) == 3 and held not in group:
            continue
        chance = subset_chance(affine, len(group) - (held in group), holds=held in group)
        found = inside[:, group].all(axis=1).mean()
        scores.append((found - chance) / sqrt(chance * (1 - chance) / len(inside)))
    return np.array(scores)


@pytest.mark.parametrize("coin", COINS)
@pytest.mark.parametrize("bits", [6, 10, 16])
def test_three_values_are_supported_together_as_in_a_random_subset(bits, coin):
    """Beyond the four bits that can be listed, for seeds drawn at random and for seeds counted
    up.
    """
    affine = AffineResponse(1.0, 1 << bits)
    for held in (0, 3, 6):
        scores = joint_scores(affine, held, supported(affine, held, COINS[coin](held)))
        print(
            "bits",
            bits,
            "seeds",
            coin,
            "held",
            held,
            "largest sigma",
            np.abs(scores).max(),
            "of",
            len(scores),
        )
        assert np.abs(scores).max() < FIVE_SIGMA


def test_the_joint_law_catches_masks_without_a_rank_test(monkeypatch):
    monkeypatch.setattr(hashing, "dependent_seeds", lambda rows: np.zeros(rows.shape[1], bool))
    affine = AffineResponse(1.0, 64)
    assert np.abs(joint_scores(affine, 3, supported(affine, 3, SeededRng(1)))).max() > FIVE_SIGMA


def test_four_values_whose_xor_is_zero_are_not_those_of_a_random_subset():
    """Held 3, and 0, 1, 2 supported together: p (s-1)(s-2) / ((D-1)(D-2)), since 0 and 1 and 2
    imply 3.
    """
    affine = AffineResponse(1.0, 64)
    found = supported(affine, 3, SeededRng(2))[:, :3].all(axis=1).mean()
    chance = affine.p * (16 - 1) * (16 - 2) / ((64 - 1) * (64 - 2))
    random_subset = subset_chance(affine, 3, holds=False)
    sigma = sqrt(chance * (1 - chance) / REPORTS)
    print(
        "three values with the held one implied",
        found,
        "expected",
        chance,
        "of a random subset",
        random_subset,
    )
    assert abs(found - chance) < FIVE_SIGMA * sigma
    assert abs(found - random_subset) > 20 * sigma


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("size", [1024, 1025])
def test_errors_over_a_zipf_population_are_the_exact_ones(size, epsilon):
    """Single cells, a power of two and one more, which doubles the padded domain."""
    mechanism, truth, runs = AffineResponse(epsilon, size), zipf(size, USERS), 40
    together = covariance(mechanism, truth)
    ratio = (genuine_errors(mechanism, truth, runs, seed=size) ** 2).mean() / np.diag(
        together
    ).mean()
    sigma = mse_spread(together, runs)
    print(
        "size",
        size,
        "epsilon",
        epsilon,
        "MSE over its expectation",
        ratio,
        "expected 1, sigma",
        sigma,
    )
    assert np.diag(together).mean() == pytest.approx(
        USERS * average_variance(mechanism.p, mechanism.q, size)
    )
    assert abs(ratio - 1) < FIVE_SIGMA * sigma


@pytest.mark.papers
def test_small_domains_err_less_than_with_independent_hashes():
    """At 16 values and epsilon 1 the variance is 0.85 of that of OLH with as many buckets: whose
    law is caught.
    """
    mechanism, truth, runs = AffineResponse(1.0, 16), zipf(16, USERS), 400
    hashed = OLH(1.0, 16, mechanism.buckets)
    error = (genuine_errors(mechanism, truth, runs, seed=3) ** 2).mean()
    ours, theirs = (
        error / (USERS * average_variance(one.p, one.q, 16)) for one in (mechanism, hashed)
    )
    sigma = mse_spread(covariance(mechanism, truth), runs)
    print(
        "MSE over that of affine maps",
        ours,
        "over that of independent hashes",
        theirs,
        "sigma",
        sigma,
    )
    assert abs(ours - 1) < FIVE_SIGMA * sigma
    assert abs(theirs - 1) > FIVE_SIGMA * sigma


@pytest.mark.papers
@pytest.mark.parametrize(
    ("epsilon", "size", "users", "runs"),
    [
        (1.0, 64, 4_000, 12_000),
        (1.0, 65, 4_000, 12_000),
        (3.0, 200, 4_000, 12_000),
        (1.0, 1024, USERS, 5_300),
        (1.0, 1025, USERS, 5_300),
    ],
)
def test_intervals_of_cells_and_ranges_cover_ninety_five_percent(epsilon, size, users, runs):
    """Common, rare and last value, aligned and unaligned ranges: within five sigma.

    At 65, 200 and 1025 values the padding is filled with the mean.  The exact chances for smaller
    domains are in tests/plans/frequencies/test_coverage.py.
    """
    mechanism, truth = AffineResponse(epsilon, size), zipf(size, users)
    cells = np.array([0, size // 2, size - 1])
    ranges = [np.arange(size // 2), np.arange(size // 4, size // 2)]
    ranges += [np.arange(size // 5, size - size // 7), np.arange(size * 9 // 10)]
    held = [truth[chosen].sum() for chosen in ranges]
    hits = np.zeros(len(cells) + len(ranges))
    for counts in collections(mechanism, truth, runs, seed=size):
        estimate = mechanism.estimate_counts(counts, users)
        sums = [estimate.sum(chosen) for chosen in ranges]
        off = [total.total - true for total, true in zip(sums, held, strict=True)]
        errors = [*estimate.errors[cells], *(total.error for total in sums)]
        hits += np.abs([*(estimate.totals - truth)[cells], *off]) <= REACH * np.array(errors)
    print("size", size, "covered", hits / runs, "expected 0.95")
    assert (np.abs(hits / runs - 0.95) < FIVE_SIGMA * sqrt(0.95 * 0.05 / runs)).all()


def target(affine, chosen):
    """The transform of a range: the padding filled with the mean, moved through the permutation if
    there is one.
    """
    cells = np.full(affine.cells, chosen.mean())
    cells[affine.points(np.arange(affine.size))] = chosen
    return walsh.transform(cells)


def scored(affine, reports, table):
    """One vote per report for a transformed target."""
    given = kernels.AffineReports(reports["seed"], reports["bucket"], affine.bits, affine.rank)
    raw = kernels.scores(given, table)
    return (raw - affine.q * table[0]) / (affine.p - affine.q)


def kurtosis(scores):
    centred = scores - scores.mean()
    return (centred**4).mean() / (centred**2).mean() ** 2


def half(size):
    return (np.arange(size) < size // 2).astype(float)


@pytest.mark.parametrize("bits", [6, 10])
def test_without_the_permutation_almost_no_report_answers_half_of_the_domain(bits):
    """Only spans with the leading bit do, g - 1 of D - 1: kurtosis (D-1)/(g-1), 21 and 341; with
    pi, 2.9 to 3.1.
    """
    answered, reports = {}, 200_000
    for kind in (AffineResponse, AffinePrefix):
        affine = kind(1.0, 1 << bits)
        made = affine.privatize(np.arange(reports) % affine.size, SeededRng(bits))
        answered[kind] = kurtosis(scored(affine, made, target(affine, half(affine.size))))
    expected = (affine.cells - 1) / (affine.buckets - 1)
    print("bits", bits, "kurtosis", answered, "expected 3 and", expected)
    assert abs(answered[AffineResponse] - 3) < 0.1 + FIVE_SIGMA * sqrt(24 / reports)
    assert abs(answered[AffinePrefix] / expected - 1) < FIVE_SIGMA * sqrt(expected / reports)


def covered(affine, truth, runs, seed):
    """How often the interval of half of the domain, by the spread of the scores, holds the
    truth.
    """
    table, rng = target(affine, half(affine.size)), SeededRng(seed)
    people, held = np.repeat(np.arange(len(truth)), truth), truth[: len(truth) // 2].sum()
    hits = 0
    for _ in range(runs):
        scores = scored(affine, affine.privatize(people, rng), table)
        hits += abs(scores.sum() - held) <= REACH * scores.std() * sqrt(len(scores))
    return hits / runs


@pytest.mark.papers
def test_without_the_permutation_intervals_of_aligned_ranges_fail_at_sixteen_bits():
    """Two collections in five have no report that answers, 1 - exp(-20,000 * 3/65,535) = 60 % have;
    with pi, 95 %.
    """
    truth, runs = zipf(1 << 16, USERS), 400
    without, with_pi = (
        covered(kind(1.0, 1 << 16), truth, runs, seed=6) for kind in (AffinePrefix, AffineResponse)
    )
    print(
        "covered without the permutation",
        without,
        "expected 0.60; with it",
        with_pi,
        "expected 0.95",
    )
    assert abs(without - 0.60) < FIVE_SIGMA * sqrt(0.6 * 0.4 / runs)
    assert abs(with_pi - 0.95) < FIVE_SIGMA * sqrt(0.95 * 0.05 / runs)


def slow_scores(affine, reports, table):
    """``scored`` from the masks as hashing gives them, and which reports have a mask that depends
    on others.
    """
    masks, offsets = hashing.masks(reports["seed"], affine.bits, affine.rank)
    positions, signs = np.zeros((len(reports), 1), np.uint64), np.ones((len(reports), 1))
    for r in range(affine.rank):
        bit = (reports["bucket"] ^ offsets) >> np.uint16(r) & np.uint16(1)
        positions = np.hstack([positions, positions ^ masks[:, r, None]])
        signs = np.hstack([signs, signs * (1.0 - 2.0 * bit[:, None])])
    raw = (signs * table[positions.astype(np.int64)]).mean(axis=1)
    return (raw - affine.q * table[0]) / (affine.p - affine.q), (positions[:, 1:] == 0).any(axis=1)


def test_without_the_rank_test_half_of_the_variance_sits_in_a_few_reports(monkeypatch):
    """Of 200,000 reports 3/D have a dependent mask, 586 at ten bits, and then answer with the whole
    domain.

    They make half of the variance and a kurtosis of about D/12 = 85; independent masks have that of
    a normal law.
    """
    affine, people = AffineResponse(1.0, 1 << 10), np.arange(200_000) % (1 << 10)
    table = target(affine, half(affine.size))
    sound = affine.privatize(people, SeededRng(7))
    scores, dependent = slow_scores(affine, sound, table)
    np.testing.assert_allclose(scores, scored(affine, sound, table), rtol=1e-9, atol=1e-9)
    assert not dependent.any()
    assert kurtosis(scores) < 3.2
    monkeypatch.setattr(hashing, "dependent_seeds", lambda rows: np.zeros(rows.shape[1], bool))
    scores, dependent = slow_scores(affine, affine.privatize(people, SeededRng(7)), table)
    squares = (scores - scores.mean()) ** 2
    share = squares[dependent].sum() / squares.sum()
    print(
        "dependent", dependent.sum(), "share of the variance", share, "kurtosis", kurtosis(scores)
    )
    assert abs(dependent.sum() - 586) < FIVE_SIGMA * sqrt(586)
    assert abs(share - 0.5) < FIVE_SIGMA * 0.25 * 1.25 / sqrt(
        586
    )  # share (1 - share) times the spread of their sum
    assert kurtosis(scores) > 40


def test_padding_left_at_zero_is_caught_by_the_spread_of_a_large_range():
    """Nine tenths of 1025 values, epsilon 1: variance per user 340 with the padding filled, 1,870
    without.
    """
    affine, reports = AffineResponse(1.0, 1025), 200_000
    chosen, uniform = (np.arange(1025) < 0.9 * 1025).astype(float), np.full(1025, 1 / 1025)
    stated, loose = (law.linear(chosen, uniform, 1) for law in (affine.noise, affine.noise.among()))
    made = affine.privatize(np.arange(reports) % 1025, SeededRng(8))
    empty = np.zeros(affine.cells)
    empty[affine.points(np.flatnonzero(chosen))] = 1
    filled, unfilled = (
        scored(affine, made, table).var()
        for table in (target(affine, chosen), walsh.transform(empty))
    )
    print("variance filled", filled, "expected", stated, "unfilled", unfilled, "expected", loose)
    tolerance = FIVE_SIGMA * sqrt(2 / reports)
    assert (stated, loose) == (pytest.approx(340, rel=0.01), pytest.approx(1870, rel=0.001))
    assert filled == pytest.approx(stated, rel=tolerance)
    assert unfilled == pytest.approx(loose, rel=tolerance)


# epsilon: buckets, and per cent lost against the best real number of buckets in a large domain
LOSSES = {
    0.25: (2, 1.6),
    0.5: (2, 6.4),
    0.75: (4, 3.1),
    1.0: (4, 0.24),
    1.5: (4, 4.1),
    2.0: (8, 0.07),
    2.5: (16, 1.1),
    3.0: (16, 2.1),
    3.5: (32, 0.1),
    4.0: (64, 0.5),
    5.0: (128, 0.6),
    6.0: (512, 1.4),
}


def loss(epsilon):
    """The exact variance over that of e^epsilon + 1 buckets, 4 e^epsilon / (e^epsilon - 1)^2, less
    one.
    """
    affine, odds = AffineResponse(epsilon, 1 << 40), exp(epsilon)
    return average_variance(affine.p, affine.q, affine.size) * (odds - 1) ** 2 / (4 * odds) - 1


@pytest.mark.parametrize("epsilon", LOSSES)
def test_a_power_of_two_of_buckets_loses_little(epsilon):
    buckets, percent = LOSSES[epsilon]
    assert AffineResponse(epsilon, 1 << 40).buckets == buckets
    assert 100 * loss(epsilon) == pytest.approx(percent, abs=0.05 if percent > 0.3 else 0.01)


def test_a_power_of_two_of_buckets_never_loses_eight_percent():
    """The worst is 7.7 %, where two buckets and four are alike: epsilon 0.549."""
    losses = {epsilon: loss(epsilon) for epsilon in np.arange(0.1, 6, 0.02).tolist()}
    assert max(losses.values()) < 0.078
    assert max(losses, key=losses.get) == pytest.approx(0.549, abs=0.02)
    assert loss(0.549) == pytest.approx(0.0772, abs=2e-4)


def against_subsets(epsilon, size):
    """The chosen mechanism's mean variance over that of subset selection with the best size of
    subset.
    """
    chosen, odds = choose(size, epsilon, UNSTATED_RULE).mechanism, exp(epsilon)
    subsets = np.arange(1, size)
    p = subsets * odds / (subsets * odds + size - subsets)
    ideal = average_variance(p, (subsets - p) / (size - 1), size).min()
    return average_variance(chosen.p, chosen.q, size) / ideal


def test_sizes_just_above_a_power_of_two_cost_some_of_the_accuracy_of_subset_selection():
    """At epsilon 1: 13.5 % at 9 values, 0.4 % at 1025; powers of two only lose what the number of
    buckets does.
    """
    costs = [against_subsets(1.0, size) for size in (9, 17, 33, 65, 257, 1025)]
    assert costs == pytest.approx([1.135, 1.077, 1.042, 1.022, 1.008, 1.004], abs=6e-4)
    assert [against_subsets(1.0, size) for size in (8, 16, 64, 1024)] == pytest.approx(
        [1, 1, 1.0024, 1.0024], abs=1e-4
    )


@pytest.mark.parametrize(
    ("epsilon", "worst", "size", "kind"),
    [
        (0.25, 1.21, 5, "affine"),
        (0.5, 1.21, 5, "grr"),
        (1.0, 1.14, 9, "affine"),
        (2.0, 1.15, 17, "affine"),
        (3.0, 1.13, 40, "grr"),
        (4.0, 1.13, 129, "affine"),
    ],
)
def test_the_worst_size_below_three_hundred(epsilon, worst, size, kind):
    """Where neither GRR nor affine response is close to subset selection."""
    costs = {each: against_subsets(epsilon, each) for each in range(2, 300)}
    assert max(costs, key=costs.get) == size
    assert costs[size] == pytest.approx(worst, abs=0.005)
    assert choose(size, epsilon, UNSTATED_RULE).mechanism.kind == kind


def test_doubling_the_padded_domain_costs_single_cells_little():
    """1025 values against 1024, a value that nobody holds, epsilon 0.5 to 4."""
    unheld = [
        [AffineResponse(epsilon, size).noise.unheld for size in (1024, 1025)]
        for epsilon in (0.5, 1.0, 2.0, 3.0, 4.0)
    ]
    percent = [100 * (more / less - 1) for less, more in unheld]
    assert percent == pytest.approx([0.10, 0.13, 0.23, 0.47, 1.5], abs=0.025)


def test_affine_maps_beat_independent_hashes_with_as_many_buckets():
    """The variance of a value nobody holds, epsilon 1: 0.70 of OLH's at 8 values, 0.84 at 16,
    0.9975 at 1024.
    """
    pairs = [
        (affine, OLH(1.0, affine.size, affine.buckets))
        for affine in (AffineResponse(1.0, size) for size in (8, 16, 1024))
    ]
    ratios = [affine.noise.unheld / olh.noise.unheld for affine, olh in pairs]
    assert ratios == pytest.approx([0.70, 0.84, 0.9975], abs=0.005)
