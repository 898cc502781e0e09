"""Hadamard count-mean sketch."""

from itertools import product

import numpy as np
import pytest

from sottovoce.core.noise import IndependentNoise
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.baselines.hcms import HCMS
from sottovoce.lab.checks import (
    BASELINE_CHECKS,
    SAMPLED_CHECKS,
    RecordedRng,
    ScriptedRng,
    epsilon_is_spent_whole,
    sampled_variance_is_as_stated,
    samples_follow_the_likelihood,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR

SHAPES = ((3, 2, 4), (5, 3, 16), (40, 5, 256))
# The hashes are no coin of the report's: what they add to the variance is enumerated below, over
# all of them.
HASHED_CHECKS = [*BASELINE_CHECKS, epsilon_is_spent_whole, *SAMPLED_CHECKS]
CHECKS = [check for check in HASHED_CHECKS if check is not sampled_variance_is_as_stated]
SMALL = [HCMS(epsilon, *shape) for epsilon in (0.3, 1.0, 4.0) for shape in SHAPES]


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda one: f"{one.epsilon}-{one.size}-{one.rows}-{one.columns}"
)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


def test_scripted_draws_give_known_reports():
    """Row 1, coordinates 0 to 3 of 4, of the value 2; the last bit is turned."""
    sketch = HCMS(1.0, 5, rows=2, columns=4)
    place = int(sketch.hash(np.array(1), np.array([2]))[0])
    rng = ScriptedRng(bernoulli=[True, True, True, False], integers=[1, 1, 1, 1, 0, 1, 2, 3])
    odd = [(place & coordinate).bit_count() % 2 for coordinate in range(4)]
    odd[3] = 1 - odd[3]
    expected = [(1 * 4 + coordinate) * 2 + bit for coordinate, bit in enumerate(odd)]
    assert sketch.privatize(np.full(4, 2), rng).tolist() == expected


def test_recorded_bytes_give_a_known_report():
    """Row 5 * 0xC0000000 >> 32 = 3, coordinate 256 * 0x40000000 >> 32 = 64, then 64 bits against
    the threshold.
    """
    sketch = HCMS(1.0, 1000)
    place = (46407767 * 49 + 999606515 * 7 + 542197621) % (2**31 - 1) % 256  # mix of 9, 10 and 11
    for coin, turned in ((b"\x00" * 8, 0), (b"\xff" * 8, 1)):
        recorded = RecordedRng(b"\x00\x00\x00\xc0" + b"\x00\x00\x00\x40" + coin)
        report = (3 * 256 + 64) << 1 | ((place & 64).bit_count() % 2 ^ turned)
        assert sketch.pack(sketch.privatize(np.array([7]), recorded)) == report.to_bytes(
            2, "little"
        )
        assert recorded.consumed == 16


def test_the_hashes_never_change():
    """Rows 0 and 4; their coefficients are the mix of 0, 1, 2, a zero made 1, and of 12, 13, 14."""
    values = [0, 1, 1000, (1 << 20) - 1]
    found = HCMS(1.0, 1 << 20).hash(np.arange(5)[:, None], np.array(values))
    for row, (a, b, c) in {
        0: (1, 114555507, 229111015),
        4: (1519429047, 1156031814, 2075310427),
    }.items():
        assert found[row].tolist() == [(a * x * x + b * x + c) % (2**31 - 1) % 256 for x in values]


def test_values_collide_as_often_as_by_chance():
    """Pairs of 1,024 values in five rows: 523,776 / 256 of them in each, at five sigma; and in two
    rows alike.
    """
    found = HCMS(1.0, 1024).hash(np.arange(5)[:, None], np.arange(1024))
    left, right = np.triu_indices(1024, 1)
    alike = found[:, left] == found[:, right]
    pairs, chance = len(left), 1 / 256
    assert (abs(alike.sum(axis=1) - pairs * chance) < 5 * np.sqrt(pairs * chance)).all()
    twice = (alike.sum(axis=0) >= 2).sum()
    assert abs(twice - 10 * pairs * chance**2) < 5 * np.sqrt(10 * pairs * chance**2)


@pytest.mark.parametrize(
    ("rows", "columns", "width"), [(1, 128, 1), (5, 256, 2), (128, 256, 2), (129, 256, 4)]
)
def test_a_report_takes_as_few_bytes_as_it_can(rows, columns, width):
    assert HCMS(1.0, 100, rows, columns).width == width


def test_the_transform_counts_what_support_says():
    sketch = HCMS(1.0, 300)
    reports = sketch.privatize(np.arange(3000) % 300, SeededRng(41))
    expected = PureMechanism.count(sketch, reports, np.arange(300))
    np.testing.assert_array_equal(sketch.supports(sketch.tally(reports)), expected)
    np.testing.assert_array_equal(sketch.count(reports, np.array([299, 3])), expected[[299, 3]])


def test_the_estimate_is_the_published_one():
    """w/(w-1) [1/g sum_j M[j, h_j(x)] - n/w], with M the transform of g c times the signs."""
    sketch, users = HCMS(float(np.log(3)), 50), 2000
    reports = sketch.privatize(np.arange(users) % 50, SeededRng(42))
    cells, sign = reports >> 1, 1 - 2 * (reports & 1)
    signs = np.bincount(cells, sign, 5 * 256).reshape(5, 256) * 5 * 2.0  # c = (3 + 1) / (3 - 1)
    walsh = 1 - 2.0 * (np.bitwise_count(np.arange(256)[:, None] & np.arange(256)) % 2)
    decoded = signs @ walsh
    mean = np.mean(
        [decoded[row, sketch.hash(np.array(row), np.arange(50))] for row in range(5)], axis=0
    )
    totals = sketch.estimate(sketch.tally(reports)).totals
    np.testing.assert_allclose(totals, 256 / 255 * (mean - users / 256), rtol=1e-9)


TRUTH = np.array([7.0, 2.0, 0.0, 1.0])
PEOPLE = 10


@pytest.mark.parametrize("rows", [1, 2])
def test_over_all_hashes_estimates_are_unbiased_and_vary_as_stated(rows):
    """Every choice of hash functions of four values into two buckets: collisions are shared by all
    people.
    """
    noise = HCMS(1.0, 4, rows, 2).noise
    errors, squares = _over_hashes(rows)
    np.testing.assert_allclose(errors, 0, atol=1e-9)
    np.testing.assert_allclose(noise.covariance(TRUTH, PEOPLE), squares, rtol=1e-9)
    np.testing.assert_allclose(noise.variances(TRUTH, PEOPLE), np.diag(squares), rtol=1e-9)


def test_collisions_that_are_forgotten_would_be_noticed():
    """Broken twin: every person draws hash functions of their own."""
    _, squares = _over_hashes(2)
    plain = IndependentNoise.of(HCMS(1.0, 4, 2, 2).p, HCMS(1.0, 4, 2, 2).q)
    assert (plain.variances(TRUTH, PEOPLE) < 0.9 * np.diag(squares)).any()
    assert abs(squares[0, 1]) > 0.1 * squares[0, 0]


def test_sums_vary_as_the_covariance_says():
    noise, votes = HCMS(1.0, 12).noise, np.arange(12.0)
    whole = noise.covariance(votes, 66)
    coefficients = np.random.default_rng(43).normal(size=12)
    assert noise.linear(coefficients, votes, 66) == pytest.approx(
        coefficients @ whole @ coefficients
    )
    places = np.arange(12) % 3
    sums = (places == np.arange(3)[:, None]).astype(float)
    totals, covariance = noise.grouped(places, votes, 66)
    np.testing.assert_allclose(totals, sums @ votes)
    np.testing.assert_allclose(covariance, sums @ whole @ sums.T, rtol=1e-9)


def test_people_who_hold_no_candidate_may_all_collide_with_them():
    """60 of 100 people hold something else; the worst is that it is one value."""
    noise = HCMS(1.0, 1000).noise.among()
    assert not noise.complete
    assert noise.among() is noise
    plain = 100 * noise.unheld + noise.held * np.array([40.0, 0.0])
    pairs = 40**2 + 60**2 - 100 + np.array([40 - 40**2, 0])
    found = noise.variances(np.array([40.0, -3.0]), 100)
    np.testing.assert_allclose(found, plain + pairs / (5 * 255), rtol=1e-12)


def test_candidates_are_estimated_as_within_the_whole_domain():
    sketch = HCMS(1.0, 300)
    reports = sketch.privatize(np.arange(3000) % 300, SeededRng(44))
    some = sketch.estimate_among(reports, np.array([7, 3]))
    np.testing.assert_allclose(some.totals, sketch.estimate(sketch.tally(reports)).totals[[7, 3]])
    assert not some.noise.complete


def test_the_error_does_not_vanish_with_more_users():
    """Everybody holds one value: the share of a value that collides with it in a row stays wrong by
    about 1/5.
    """
    sketch = HCMS(4.0, 1024)
    hashes = sketch.hash(np.arange(5)[:, None], np.arange(1024))
    alike = (hashes == hashes[:, :1]).sum(axis=0)
    victim = int(np.flatnonzero(alike == 1)[0])
    for users in (10_000, 200_000):
        totals = sketch.estimate(
            sketch.tally(sketch.privatize(np.zeros(users, np.int64), SeededRng(45)))
        ).totals
        bias = 256 / 255 * (1 / 5 - 1 / 256)
        assert abs(totals[victim] / users - bias) < 5 * np.sqrt(sketch.noise.unheld / users)


def test_a_coordinate_without_its_parity_is_caught():
    """Broken twin: the bit is randomised, but says nothing about the value."""
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Mute(1.0, 5, 3, 16))


def test_the_chance_of_a_plain_sketch_is_caught():
    """Broken twin: collisions are left out of q."""
    errors, _ = _over_hashes(2, Careless)
    assert abs(errors).min() > 0.1


@pytest.mark.parametrize("data", [b"\x60", b"\x00\xff"], ids=["too big", "one too big"])
def test_a_report_that_could_not_have_been_made_is_refused(data):
    with pytest.raises(CodecError):
        HCMS(1.0, 5, 3, 16).unpack(data)


@pytest.mark.parametrize("keep", [1, UNIT // 2, UNIT, GRR(1.0, 2).keep + 1])
def test_an_impossible_threshold_is_refused(keep):
    with pytest.raises(ParameterError):
        HCMS(1.0, 5, keep=keep)


@pytest.mark.parametrize(
    ("size", "rows", "columns"),
    [
        (1, 5, 256),
        ((1 << 20) + 1, 5, 256),
        (5, 0, 256),
        (5, 1025, 256),
        (5, True, 256),
        (5, 5, 1),
        (5, 5, 100),
        (5, 5, 1 << 17),
    ],
)
def test_an_impossible_shape_is_refused(size, rows, columns):
    with pytest.raises(ParameterError):
        HCMS(1.0, size, rows, columns)


def _over_hashes(rows, kind=HCMS):
    """The mean error of TRUTH and the mean of its square, over all hash functions of every row."""
    tables = [np.array(one).reshape(rows, 4) for one in product((0, 1), repeat=4 * rows)]
    found = [_moments(_placed(kind, table)) for table in tables]
    return np.mean([bias for bias, _ in found], axis=0), np.mean(
        [spread + np.outer(bias, bias) for bias, spread in found], axis=0
    )


def _placed(kind, table):
    sketch = kind(1.0, 4, len(table), 2)
    object.__setattr__(sketch, "hash", lambda row, values: table[row, values])
    return sketch


def _moments(sketch):
    """Given the hashes: the bias of TRUTH, and the covariance of its reports."""
    outcomes = sketch.outcomes()
    chances, votes = sketch.likelihood(outcomes), sketch.votes(outcomes, np.arange(4))
    means = chances.T @ votes
    spread = votes.T @ ((chances @ TRUTH)[:, None] * votes) - (means.T * TRUTH) @ means
    return TRUTH @ means - TRUTH, spread


class Mute(HCMS):
    def privatize(self, values, rng):
        reports = super().privatize(values, rng)
        return reports & ~1 | rng.bernoulli(self.keep, len(values))


class Careless(HCMS):
    @property
    def q(self):
        return 0.5
