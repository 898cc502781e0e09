"""Randomness: exact thresholds, no bias, nothing but the operating system on devices."""

import numpy as np
import pytest

from sottovoce.core.rng import KeyedRng, SystemRng
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact


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


@pytest.mark.parametrize(
    "limit", [1, 2, 3, 7, 1 << 20, (1 << 32) - 1, 1 << 32, (1 << 40) + 1, 1 << 63]
)
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
    """Ten million coins of the operating system, five sigma.

    A threshold off by two thousandths lies thirteen sigma away, so the broken twin is always seen.
    """
    threshold, count = exact.UNIT // 3, 10_000_000
    heads = int(SystemRng().bernoulli(threshold, count).sum())
    sigma = np.sqrt(count * 2 / 9)
    assert abs(heads - count / 3) < 5 * sigma
    broken = int(SystemRng().bernoulli(threshold + exact.UNIT // 500, count).sum())
    assert abs(broken - count / 3) > 5 * sigma


def test_long_streams_are_whole():
    assert len(SystemRng().bytes((1 << 20) * 2 + 3)) == (1 << 20) * 2 + 3


def test_a_keyed_stream_is_fixed_by_secret_and_context():
    first, same = KeyedRng(b"s" * 32, b"task|0"), KeyedRng(b"s" * 32, b"task|0")
    assert bytes(first.bytes(50)) + bytes(first.bytes(30)) == bytes(same.bytes(80))
    assert bytes(KeyedRng(b"s" * 32, b"task|1").bytes(16)) != bytes(
        KeyedRng(b"s" * 32, b"task|0").bytes(16)
    )
    with pytest.raises(ParameterError):
        KeyedRng(b"short", b"")


def test_each_of_several_limits_has_its_own_draw():
    """The high half of word times limit; for 3 the word 0 is drawn again, after the others."""
    rng = stream(0, 1 << 31, 0xFFFFFFFF, 3 << 30, 1, width=4)
    assert rng.below(np.array([3, 2, 5, 4])).tolist() == [0, 1, 4, 3]
    assert rng.consumed == 20


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1 << 20, (1 << 32) - 1])
def test_one_limit_for_all_draws_as_integers_do(limit):
    """The same words give the same draws; a rejected one is filled after the others in both."""
    first, second = SeededRng(8), SeededRng(8)
    np.testing.assert_array_equal(first.below(np.full(5000, limit)), second.integers(limit, 5000))


def test_draws_below_mixed_limits_are_uniform():
    """60,000 draws for each limit from 1 to 6: every cell within five sigma; a remainder of one
    word is not.
    """
    limits = np.tile(np.arange(1, 7), 60_000)
    assert _worst(limits, SeededRng(2).below(limits)) < 5
    crude = (SeededRng(2).words(len(limits)) >> 29) % limits  # three bits do not divide by 3, 5, 6
    assert _worst(limits, crude) > 5


def _worst(limits, drawn):
    """The largest distance of a cell from its expectation, in sigma."""
    assert (drawn < limits).all()
    counts = [np.bincount(drawn[limits == limit], minlength=limit) for limit in range(2, 7)]
    return max(
        np.abs(seen - seen.sum() / len(seen)).max()
        / np.sqrt(seen.sum() / len(seen) * (1 - 1 / len(seen)))
        for seen in counts
    )


def test_rejection_keeps_large_limits_uniform():
    """3 * 2^30 of 2^32 words are uneven without it: the first third would come up half the time."""
    limit, count = 3 << 30, 200_000
    low = int((SeededRng(3).below(np.full(count, limit)) < limit // 3).sum())
    assert abs(low - count / 3) < 5 * np.sqrt(count * 2 / 9)
    kept = SeededRng(3).words(count).astype(np.int64) % limit
    assert abs(int((kept < limit // 3).sum()) - count / 3) > 5 * np.sqrt(count * 2 / 9)


@pytest.mark.parametrize("limits", [[0], [3, -1], [1 << 32], [2, 1 << 40]])
def test_an_impossible_limit_is_refused(limits):
    with pytest.raises(ParameterError):
        SeededRng(1).below(np.array(limits))


def test_no_limits_draw_nothing():
    assert stream().below(np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize("limit", [1, 2, 3, 1000, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, 3 << 61])
def test_single_draws_are_those_of_arrays(limit):
    """Limits above half of the range are redrawn nearly every second time."""
    for seed in range(50):
        stream = bytes(SeededRng(seed).bytes(4096))
        alone, arrays = RecordedRng(stream), RecordedRng(stream)
        for threshold in (0, 1 << 63, (1 << 64) - 1):
            assert alone.coin(threshold) == arrays.bernoulli(threshold, 1)[0]
        assert alone.word() == arrays.words(1)[0]
        assert alone.long() == arrays.longs(1)[0]
        for _ in range(5):
            assert alone.integer(limit) == arrays.integers(limit, 1)[0]
        assert alone.consumed == arrays.consumed


def test_draws_one_by_one_are_those_of_single_draws():
    limits = [3, (1 << 31) + 1, 7, (3 << 30) + 1, 1, 1000]
    for seed in range(50):
        stream = bytes(SeededRng(seed).bytes(4096))
        alone, ahead = RecordedRng(stream), RecordedRng(stream)
        expected = [alone.integer(limit) for limit in limits]
        assert list(ahead.integers_one_by_one(limits, len(limits))) == expected
        assert alone.consumed == ahead.consumed


@pytest.mark.parametrize("limit", [0, -1, (1 << 63) + 1])
def test_a_single_draw_needs_a_limit_that_can_be_drawn(limit):
    with pytest.raises(ParameterError, match="`limit` must be"):
        RecordedRng(b"").integer(limit)
