"""Randomness: exact thresholds, no bias, nothing but the operating system on devices."""

import numpy as np
import pytest

from sottovoce import exact
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.rng import KeyedRng, SystemRng
from sottovoce.testing import RecordedRng


def stream(*words, width=8):
    return RecordedRng(b"".join(word.to_bytes(width, "little") for word in words))


def test_a_coin_falls_exactly_at_its_threshold():
    rng = stream(41, 42, 43)
    assert rng.bernoulli(42, 3).tolist() == [True, False, False]


def test_a_word_that_would_favour_an_outcome_is_drawn_again():
    """2^32 mod 3 is 1: the word 0 is rejected; its place is filled after the others."""
    rng = stream(0, 1 << 31, 0xFFFFFFFF, 1, width=4)
    assert rng.integers(3, 3).tolist() == [0, 1, 2]
    assert rng.consumed == 16


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1 << 20, (1 << 32) - 1, 1 << 32, (1 << 40) + 1, 1 << 63])
def test_integers_are_uniform_and_below_their_limit(limit):
    drawn = SeededRng(1).integers(limit, 100_000)
    assert drawn.min() >= 0
    assert drawn.max() < limit
    mean = drawn.astype(float).mean() / limit
    assert abs(mean - 0.5 * (1 - 1 / limit)) < 5 * np.sqrt(1 / 12 / 100_000)


@pytest.mark.parametrize("limit", [0, -1, (1 << 63) + 1])
def test_an_impossible_range_is_refused(limit):
    with pytest.raises(ParameterError):
        SystemRng().integers(limit, 1)


def test_system_coins_have_their_probability():
    """Ten million coins of the operating system, five sigma; a threshold off by a thousandth is caught."""
    threshold, count = exact.UNIT // 3, 10_000_000
    heads = int(SystemRng().bernoulli(threshold, count).sum())
    sigma = np.sqrt(count * 2 / 9)
    assert abs(heads - count / 3) < 5 * sigma
    broken = int(SystemRng().bernoulli(threshold + exact.UNIT // 1000, count).sum())
    assert abs(broken - count / 3) > 5 * sigma


def test_long_streams_are_whole():
    assert len(SystemRng().bytes((1 << 20) * 2 + 3)) == (1 << 20) * 2 + 3


def test_a_keyed_stream_is_fixed_by_secret_and_context():
    first, same = KeyedRng(b"s" * 32, b"task|0"), KeyedRng(b"s" * 32, b"task|0")
    assert bytes(first.bytes(50)) + bytes(first.bytes(30)) == bytes(same.bytes(80))
    assert bytes(KeyedRng(b"s" * 32, b"task|1").bytes(16)) != bytes(KeyedRng(b"s" * 32, b"task|0").bytes(16))
    with pytest.raises(ParameterError):
        KeyedRng(b"short", b"")


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 5.0, 19.99, 20.0])
def test_thresholds_round_to_the_private_side(epsilon):
    odds = exact.exp(epsilon)
    chance = exact.divide(odds, exact.add(odds, 1))
    below, above = exact.threshold_below(chance), exact.threshold_above(chance)
    assert 0 <= above - below <= 1
    assert exact.log(exact.probability(below) / (1 - exact.probability(below))) <= exact.stated(epsilon)
