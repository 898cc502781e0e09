"""Square Wave."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mechanisms.numeric import (
    every_numeric_check,
    exact_means,
    moments_are_as_stated,
    numbers_are_unbiased,
    the_mean_is_found,
)
from sottovoce.core.tally import Tally
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import (
    FIVE_SIGMA,
    RecordedRng,
    ScriptedRng,
    samples_follow_the_likelihood,
)
from sottovoce.lab.experiments.numbers import shapes
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.square_wave import SquareWave, half_width

SMALL = [SquareWave(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5, 12, 17)]
SMALL += [SquareWave(1.0, 8, reach=reach) for reach in (1, 4)]
# epsilon, b, p, q, slope of the mean, and the variance of one report of 1, of the continuous law
TABLE = [
    (1 / 16, 0.4795944395, 0.5267033484, 0.4947920057, 0.0306090050, 0.3198423921),
    (1 / 4, 0.4232245462, 0.6152900026, 0.4791883358, 0.1152031323, 0.2837448380),
    (1 / 2, 0.3581554246, 0.7559484589, 0.4585059175, 0.2130613194, 0.2442019936),
    (1.0, 0.2560829375, 1.1363051216, 0.4180232931, 0.3678794412, 0.1866306729),
    (3 / 2, 0.1824529819, 1.7005757968, 0.3794497499, 0.4820867734, 0.1481738490),
    (2.0, 0.1293370667, 2.5380104067, 0.3434823573, 0.5676676416, 0.1215978611),
    (5 / 2, 0.0911077512, 3.7835720944, 0.3105745102, 0.6328339994, 0.1026033792),
    (4.0, 0.0304277038, 12.6308801479, 0.2313426396, 0.7545789097, 0.0695469673),
]


@every_numeric_check(SMALL)
def test_contract(check, mechanism):
    check(mechanism)


def test_mean_and_variance_of_a_finer_grid_by_enumeration():
    moments_are_as_stated(SquareWave(1.0, 500))


@pytest.mark.parametrize(
    "mechanism",
    SMALL,
    ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}-{mechanism.reach}",
)
def test_the_mean_is_the_middle_of_the_bucket_in_exact_fractions(mechanism):
    end = Fraction(mechanism.size - 1, mechanism.size)
    means = [Fraction(2 * value + 1, mechanism.size) - 1 for value in range(mechanism.size)]
    assert [mean * end for mean in exact_means(mechanism)] == means
    np.testing.assert_allclose(
        mechanism.points(np.arange(mechanism.size)), [float(mean) for mean in means], atol=1e-15
    )


@pytest.mark.parametrize(("epsilon", "b", "p", "q", "slope", "variance"), TABLE)
def test_the_continuous_law_is_the_published_one(epsilon, b, p, q, slope, variance):
    reach = float(half_width(epsilon))
    assert reach == pytest.approx(b, abs=6e-11)
    density = 1 / (2 * reach * np.exp(epsilon) + 1)
    assert density == pytest.approx(q, abs=6e-11)
    assert density == pytest.approx(
        (np.exp(epsilon) - 1 - epsilon) / (epsilon * (np.exp(epsilon) - 1)), rel=1e-9
    )
    assert density * np.exp(epsilon) == pytest.approx(p, abs=6e-10)
    assert 2 * reach * density * (np.exp(epsilon) - 1) == pytest.approx(slope, abs=6e-11)
    assert slope == pytest.approx(1 - (1 - np.exp(-epsilon)) / epsilon, abs=1e-9)


@pytest.mark.parametrize(("epsilon", "b", "p", "q", "slope", "variance"), TABLE)
def test_many_buckets_tend_to_the_continuous_law(epsilon, b, p, q, slope, variance):
    """Densities, slope of the mean and the variance of a report of 1, up to the width of a
    bucket.
    """
    wave = SquareWave(epsilon, 2048)
    outputs = np.arange(wave.outputs) / 2048  # in parts of the range
    chances = wave.likelihood(wave.outcomes())[:, [0, -1]]
    means = outputs @ chances
    assert wave.reach == int(b * 2048)
    assert [wave.inside * 2048, wave.outside * 2048] == pytest.approx([p, q], rel=0.01)
    assert means[1] - means[0] == pytest.approx(slope, rel=0.01)
    assert outputs**2 @ chances[:, 1] - means[1] ** 2 == pytest.approx(variance, rel=0.01)


def test_the_reach_does_not_cancel_at_small_epsilon():
    """The closed form gives 0.50008 at a millionth; the series falls from one half at a slope of a
    third.
    """
    for epsilon in (1e-6, 1e-9, 1e-15):
        assert float(half_width(epsilon)) == pytest.approx(0.5 - epsilon / 3, abs=1e-12)
    assert SquareWave(1e-6, 1024).reach == 511


@pytest.mark.parametrize("size", [2, 7, 64, 1024, 4096])
def test_the_chances_are_those_of_buckets(size):
    """p = e^eps / ((2b + 1) e^eps + d - 1), q = p / e^eps, and (2b + 1) p + (d - 1) q = 1."""
    for epsilon in (0.25, 1.0, 4.0):
        wave, odds = SquareWave(epsilon, size), np.exp(epsilon)
        p = odds / ((2 * wave.reach + 1) * odds + size - 1)
        assert (wave.inside, wave.outside) == pytest.approx((p, p / odds), rel=1e-12)
        assert wave.keep / UNIT == pytest.approx((2 * wave.reach + 1) * p, rel=1e-12)
        assert (2 * wave.reach + 1) * wave.inside + (size - 1) * wave.outside == pytest.approx(
            1, abs=1e-15
        )


def test_without_a_reach_it_is_randomised_response():
    wave, grr = SquareWave(4.0, 20), GRR(4.0, 20)
    assert (wave.reach, wave.keep, wave.worst_ratio) == (0, grr.keep, grr.worst_ratio)
    np.testing.assert_allclose(wave.channel(), grr.likelihood(np.arange(20)), rtol=1e-14)


def test_scripted_draws_give_known_reports():
    """Eight outputs, windows of four: bucket 2 of 5 owns 2 .. 4; others are 0, 1, 5, 6."""
    wave = SquareWave(1.0, 5)
    assert (wave.reach, wave.outputs) == (1, 7)
    rng = ScriptedRng(bernoulli=[True, True, False, False], integers=[0, 2, 0, 0, 0, 0, 1, 2])
    assert wave.privatize(np.full(4, 2), rng).tolist() == [2, 4, 1, 5]


def test_recorded_bytes_give_a_known_report():
    """A long for the coin, a word for an output near, one for an output far: 1024 buckets of reach
    262.
    """
    wave, half = SquareWave(1.0, 1024), b"\0\0\0\x80"
    for coin, output in ((b"\0" * 8, 300 + 262), (b"\xff" * 8, 511 + 525)):
        recorded = RecordedRng(coin + half + half)
        assert wave.pack(wave.privatize(np.array([300]), recorded)) == output.to_bytes(2, "little")
        assert recorded.consumed == 16


def test_sampled_numbers_are_unbiased_and_clamping_is_caught():
    """Broken twin: reports beyond the range moved to its ends."""
    numbers_are_unbiased(SquareWave(1.0, 7))
    with pytest.raises(AssertionError):
        numbers_are_unbiased(Clamped(1.0, 7))
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Clamped(1.0, 7))


def test_the_mean_of_a_population_is_found_with_its_error():
    held = np.random.default_rng(23).binomial(255, 0.1, 50_000)
    the_mean_is_found(SquareWave(1.0, 256), held)
    with pytest.raises(AssertionError):
        the_mean_is_found(Clamped(1.0, 256), held)


def test_the_estimate_is_a_distribution_with_errors():
    wave, truth, estimate = _collected(1.0, "Beta(2, 5)")
    assert estimate.steps == ("ems", "bootstrap")
    assert estimate.totals.sum() == pytest.approx(estimate.users)
    assert (estimate.totals >= 0).all()
    assert estimate.errors.shape == (wave.size,)
    assert (estimate.errors > 0).all()
    assert np.abs(np.cumsum(estimate.frequencies - truth)).mean() < 0.01


def test_the_errors_are_those_of_repeated_collections():
    """Of eighths of the range, for a million users: the mean square error is the stated one within
    two fifths.

    The spread of the replicates alone, without their distance from the fit, would be a tenth of it.
    """
    wave, truth, eighths = (
        SquareWave(1.0, 128),
        shapes(128)["Beta(2, 5)"],
        np.repeat(np.eye(8), 16, axis=1),
    )
    estimates = [_estimate(wave, truth, 1_000_000, seed) for seed in range(16)]
    missed = np.mean(
        [(eighths @ (estimate.totals - estimate.users * truth)) ** 2 for estimate in estimates],
        axis=0,
    ).sum()
    stated = np.mean(
        [[estimate.weighted(eighth).variance for eighth in eighths] for estimate in estimates],
        axis=0,
    ).sum()
    alone = np.mean(
        [(estimate.noise.replicates @ eighths.T).var(axis=0) for estimate in estimates], axis=0
    ).sum()
    print(stated / missed, alone / missed)
    assert 0.6 < stated / missed < 1.4
    assert alone / missed < 0.2


def test_the_same_tally_gives_the_same_answer():
    wave, truth = SquareWave(1.0, 32), shapes(32)["bimodal"]
    first, second = (_estimate(wave, truth, 10_000, 3) for _ in range(2))
    np.testing.assert_array_equal(first.totals, second.totals)
    np.testing.assert_array_equal(first.variance, second.variance)


def test_reports_and_chances_lead_to_the_same_estimate():
    """The randomiser, packed and unpacked, against the law that the decoder believes in: 5 sigma
    per eighth.
    """
    wave, truth = SquareWave(1.0, 256), shapes(256)["Beta(2, 5)"]
    held = np.random.default_rng(24).choice(256, 200_000, p=truth)
    reports = wave.unpack(wave.pack(wave.privatize(held, SeededRng(25))))
    estimate, eighths = wave.estimate(wave.tally(reports)), np.repeat(np.eye(8), 32, axis=1)
    errors = np.array([estimate.weighted(eighth).error for eighth in eighths])
    true = eighths @ np.bincount(held, minlength=256)
    assert (np.abs(eighths @ estimate.totals - true) < FIVE_SIGMA * errors).all()
    shifted = Clamped(1.0, 256)
    estimate = shifted.estimate(shifted.tally(shifted.privatize(held, SeededRng(25))))
    assert not (np.abs(eighths @ estimate.totals - true) < FIVE_SIGMA * errors).all()


@pytest.mark.parametrize("data", [b"\x08", b"\x00\xff"], ids=["too big", "one too big"])
def test_a_report_that_could_not_have_been_made_is_refused(data):
    SquareWave(1.0, 6, reach=1).unpack(b"\x07")
    with pytest.raises(CodecError):
        SquareWave(1.0, 6, reach=1).unpack(data)


@pytest.mark.parametrize(
    "settings",
    [
        {"reach": -1}, {"reach": 9}, {"reach": 1.0}, {"reach": True}, {"size": 4097}, {"size": 1},
        {"keep": SquareWave(1.0, 17).keep + 1}, {"keep": 5}, {"keep": UNIT},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        SquareWave(1.0, **{"size": 17, **settings})


@cache
def _collected(epsilon, name):
    wave, truth = SquareWave(epsilon, 256), shapes(256)[name]
    return wave, truth, _estimate(wave, truth, 100_000, 1)


def _estimate(wave, truth, users, seed):
    counts = np.random.default_rng(seed).multinomial(users, wave.sliding.forward(truth))
    return wave.estimate(Tally(wave.key, users, {"outputs": counts}))


class Clamped(SquareWave):
    def privatize(self, values, rng):
        return np.clip(super().privatize(values, rng), self.reach, self.reach + self.size - 1)
