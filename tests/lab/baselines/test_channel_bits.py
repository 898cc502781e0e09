"""A bit for every channel: one of them randomised, all others fair coins."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest

from sottovoce.core.packing import unpack_bits
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.baselines.channel_bits import ChannelBits
from sottovoce.lab.checks import (
    BASELINE_CHECKS,
    FIVE_SIGMA,
    RecordedRng,
    epsilon_is_never_exceeded,
    epsilon_is_spent_whole,
    samples_follow_the_likelihood,
    worst_log_ratio,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR

SMALL = [
    ChannelBits(epsilon, 2 * channels) for epsilon in (0.1, 1.0, 4.0) for channels in (2, 3)
] + [ChannelBits(1.0, 18)]


def one(mechanism):
    """The mean and the covariance of one report's votes under every value, all reports listed."""
    outcomes = mechanism.outcomes()
    votes = np.array([mechanism.estimate(mechanism.tally(row[None])).votes for row in outcomes])
    for chances in mechanism.likelihood(outcomes).T:
        mean = chances @ votes
        yield mean, (votes * chances[:, None]).T @ votes - np.outer(mean, mean)


def centred(mechanism, value):
    """What the votes of a user who holds a value are to be on average."""
    truth = np.zeros(mechanism.size)
    truth[value], truth[value ^ 1] = 0.5, -0.5
    return truth


@pytest.mark.parametrize("mechanism", SMALL, ids=lambda one: f"{one.epsilon}-{one.size}")
@pytest.mark.parametrize(
    "check", [*BASELINE_CHECKS, epsilon_is_spent_whole], ids=lambda check: check.__name__
)
def test_contract(check, mechanism):
    check(mechanism)


def test_the_vector_of_three_channels_spends_exactly_epsilon():
    """In fractions, over all rows and all pairs of values: Wang 2021, section 4.1.2."""
    mechanism, half = ChannelBits(1.3, 6), Fraction(1, 2)
    keep, ratios = exact.probability(mechanism.keep), set()
    for row in product((0, 1), repeat=3):
        chances = [
            half**2 * (keep if row[channel] == bit else 1 - keep)
            for channel in range(3)
            for bit in (0, 1)
        ]
        ratios |= {one / other for one in chances for other in chances}
    assert max(ratios) == mechanism.worst_ratio == GRR(1.3, 2).worst_ratio
    assert worst_log_ratio(mechanism) == pytest.approx(1.3, abs=1e-9)


@dataclass(frozen=True)
class Quiet(ChannelBits):
    """A broken twin: silent channels send 0 instead of a coin, so a 1 gives the channel away."""

    def privatize(self, values, rng):
        rows, own = super().privatize(values, rng), np.zeros(len(values), np.uint8)
        shift = (values >> 1).astype(np.uint8)
        return (own[:, None] | (rows & (np.uint8(1) << shift)[:, None])).astype(np.uint8)

    def likelihood(self, reports):
        ones = unpack_bits(reports, self.channels)
        alone = ones.sum(axis=1, keepdims=True) == ones
        shown = np.stack([~ones, ones], axis=2).reshape(len(reports), self.size)
        return np.where(shown, self.p, 1 - self.p) * np.repeat(alone, 2, axis=1)


def test_the_checks_catch_channels_that_keep_silent():
    quiet = Quiet(1.0, 6)
    with pytest.raises(AssertionError):
        epsilon_is_never_exceeded(quiet)
    samples_follow_the_likelihood(quiet)  # its law is told truly: it is the law that is no good

    @dataclass(frozen=True)
    class Denied(Quiet):
        likelihood = ChannelBits.likelihood

    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Denied(1.0, 6))


@pytest.mark.parametrize("mechanism", SMALL[:6], ids=lambda one: f"{one.epsilon}-{one.size}")
def test_one_report_is_unbiased_for_the_centred_count_and_has_the_stated_variance(mechanism):
    for value, (mean, covariance) in enumerate(one(mechanism)):
        truth = centred(mechanism, value)
        np.testing.assert_allclose(mean, truth, atol=1e-9)
        np.testing.assert_allclose(
            np.diag(covariance), mechanism.noise.variances(truth, 1), rtol=1e-9, atol=1e-12
        )
        coefficients = np.random.default_rng(value).normal(size=mechanism.size)
        stated = mechanism.noise.linear(coefficients, truth, 1)
        assert coefficients @ covariance @ coefficients == pytest.approx(stated, rel=1e-9)


def test_the_variance_of_a_channel_whose_users_disagree_is_stated_too_large_by_a_quarter_of_each():
    """How many users a channel has does not show, so the difference cannot be told."""
    mechanism = ChannelBits(1.0, 4)
    (_, zero), (_, one_), *_ = one(mechanism)
    true = (zero + one_)[0, 0]  # of two users of one channel, one with each bit
    assert mechanism.noise.variances(np.zeros(1), 2)[0] == pytest.approx(true + 2 / 4)


def test_a_crowd_is_found_within_five_sigma():
    mechanism, held = ChannelBits(1.0, 10), np.repeat(np.arange(10), 1000 * np.arange(10))
    estimate = mechanism.estimate(mechanism.tally(mechanism.privatize(held, SeededRng(9))))
    counts = np.bincount(held, minlength=10)
    truth = counts - np.repeat(counts.reshape(-1, 2).sum(axis=1) / 2, 2)
    z = (estimate.totals - truth) / estimate.errors
    assert np.abs(z).max() < FIVE_SIGMA, z
    mirrored = (estimate.totals[::-1] - truth) / estimate.errors
    assert np.abs(mirrored).max() > FIVE_SIGMA  # the same check sees bits that are swapped


def test_golden_estimate():
    """Epsilon ln 3 keeps three of four: twice what exceeds half of the users."""
    mechanism = ChannelBits(log(3), 6)
    rows = np.array([[0b001]] * 3 + [[0b101]] * 4 + [[0b111]] * 1, np.uint8)
    estimate = mechanism.estimate(mechanism.tally(rows))
    assert estimate.totals == pytest.approx([-8, 8, 6, -6, -2, 2])
    assert estimate.variance[[0, 2]] == pytest.approx(
        [8 - 8 / 4, 8 - 8 / 4]
    )  # all eight users, as far as votes tell


def test_recorded_draws_give_known_reports():
    """The bytes of both rows, the padding cleared, then a coin each: the first keeps its bit, the
    second lies.
    """
    mechanism = ChannelBits(1.0, 20)
    assert (mechanism.channels, mechanism.width) == (10, 2)
    stream = b"\xff\xff\x00\x00" + bytes(8) + b"\xff" * 8
    rng = RecordedRng(stream)
    reports = mechanism.privatize(np.array([2 * 9, 2 * 3]), rng)
    assert reports.tolist() == [[0xFF, 0b01], [0b1000, 0]]
    assert rng.consumed == len(stream)


@pytest.mark.parametrize("data", [b"\x08", b"\x80", b"\x07\xff"])
def test_a_row_with_set_padding_is_refused(data):
    with pytest.raises(CodecError):
        ChannelBits(1.0, 6).unpack(data)


@pytest.mark.parametrize("size", [2, 3, 5, 7, (1 << 17) + 2, 4.0, True])
def test_an_impossible_size_is_refused(size):
    with pytest.raises(ParameterError):
        ChannelBits(1.0, size)


def test_a_threshold_that_spends_more_than_stated_is_refused():
    honest = ChannelBits(1.0, 6)
    ChannelBits(1.0, 6, keep=honest.keep - 1)
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        ChannelBits(1.0, 6, keep=honest.keep + 1)
    with pytest.raises(ParameterError):
        ChannelBits(1.0, 6, keep=1 << 62)


def test_too_many_reports_are_not_listed():
    with pytest.raises(ParameterError, match="too many to list"):
        ChannelBits(1.0, 34).outcomes()
