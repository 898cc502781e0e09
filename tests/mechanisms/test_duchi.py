"""Duchi's mechanism."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.numeric import (
    every_numeric_check,
    exact_means,
    numbers_are_unbiased,
    the_mean_is_found,
)
from sottovoce.errors import CodecError, NoDataError, ParameterError
from sottovoce.lab.checks import (
    RecordedRng,
    ScriptedRng,
    samples_follow_the_likelihood,
)
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.duchi import Duchi

SMALL = [Duchi(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5, 8, 17)]


@every_numeric_check(SMALL)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
def test_it_is_the_published_law(mechanism):
    """Pr[+c] = 1/2 + x / 2c with c = (e^epsilon + 1) / (e^epsilon - 1): unbiased, of variance c^2 -
    x^2.
    """
    values = np.arange(mechanism.size)
    x, odds = -1 + 2 * values / (mechanism.size - 1), np.exp(mechanism.epsilon)
    c = (odds + 1) / (odds - 1)
    chances = mechanism.channel()
    np.testing.assert_allclose(mechanism.points(values), x, atol=1e-15)
    np.testing.assert_allclose(mechanism.numbers(np.arange(2)), [-c, c], rtol=1e-12)
    np.testing.assert_allclose(chances[1], 1 / 2 + x / (2 * c), rtol=1e-12)
    np.testing.assert_allclose(mechanism.variance(values), c**2 - x**2, rtol=1e-12)


@pytest.mark.parametrize(
    "mechanism", [*SMALL, Duchi(1.0, 6, keep=3 * UNIT // 5)], ids=lambda mechanism: mechanism.key
)
def test_the_mean_is_the_number_in_exact_fractions(mechanism):
    assert exact_means(mechanism) == [
        Fraction(2 * value, mechanism.size - 1) - 1 for value in range(mechanism.size)
    ]


def test_scripted_draws_give_known_reports():
    """Of 0 .. 4: value 2 rounds up on a draw below 2; a coin that falls the other way flips."""
    rng = ScriptedRng(bernoulli=[True, True, False, True, False], integers=[1, 2, 1, 0, 3])
    assert Duchi(1.0, 5).privatize(np.array([2, 2, 2, 0, 4]), rng).tolist() == [1, 0, 0, 0, 0]


def test_recorded_bytes_give_a_known_report():
    """A word for the rounding, a long for the coin, one byte out."""
    for coin, packed in ((b"\0" * 8, b"\1"), (b"\xff" * 8, b"\0")):
        recorded = RecordedRng(b"\0\0\0\x40" + coin)
        assert Duchi(1.0, 5).pack(Duchi(1.0, 5).privatize(np.array([3]), recorded)) == packed
        assert recorded.consumed == 12


def test_the_mean_of_a_population_is_found_with_its_error():
    """The single cell says the same; a mechanism that flips too rarely overstates the mean."""
    duchi, held = Duchi(1.0, 5), np.repeat(np.arange(5), [1000, 3000, 9000, 15000, 12000])
    tally, found = the_mean_is_found(duchi, held)
    estimate = duchi.estimate(tally)
    assert estimate.frequencies == pytest.approx([found.total])
    assert estimate.variance == pytest.approx([found.variance * len(held) ** 2])
    assert estimate.sum(np.array([0])).variance == pytest.approx(estimate.variance[0])
    with pytest.raises(AssertionError):
        the_mean_is_found(Rare(1.0, 5), held)


def test_a_few_equal_reports_do_not_look_certain():
    duchi = Duchi(1.0, 5)
    found = duchi.mean(duchi.tally(np.array([1, 1])))
    assert found.variance == pytest.approx((2.163953414**2 - 1) / 2)
    with pytest.raises(NoDataError, match="two reports"):
        duchi.estimate(duchi.tally(np.array([1])))


def test_sampled_numbers_are_unbiased_and_rounding_to_the_nearest_end_is_caught():
    numbers_are_unbiased(Duchi(1.0, 7))
    with pytest.raises(AssertionError):
        numbers_are_unbiased(Nearest(1.0, 7))


def test_a_coin_that_flips_too_rarely_is_caught():
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Rare(1.0, 5))


@pytest.mark.parametrize("data", [b"\2", b"\0\xff"], ids=["no sign", "one of two"])
def test_a_report_that_could_not_have_been_made_is_refused(data):
    with pytest.raises(CodecError):
        Duchi(1.0, 5).unpack(data)


@pytest.mark.parametrize("keep", [Duchi(1.0, 5).keep + 1, UNIT // 2, 1, UNIT, -1])
def test_an_impossible_threshold_is_refused(keep):
    with pytest.raises(ParameterError):
        Duchi(1.0, 5, keep=keep)


@pytest.mark.parametrize("size", [1, True, (1 << 24) + 2])
def test_an_impossible_size_is_refused(size):
    with pytest.raises(ParameterError):
        Duchi(1.0, size)


class Nearest(Duchi):
    def _rounded(self, values, rng):
        rng.integers(self.size - 1, len(values))
        return (2 * values >= self.size - 1).astype(np.int64)


class Rare(Duchi):
    def privatize(self, values, rng):
        return super().privatize(values, Loyal(rng))


class Loyal:
    def __init__(self, rng):
        self.rng = rng
        self.integers = rng.integers

    def bernoulli(self, threshold, count):
        return self.rng.bernoulli(threshold + UNIT // 20, count)
