"""A piece of a value with the channel of the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from sottovoce.domains.bits import Bits
from sottovoce.domains.integers import Integers
from sottovoce.domains.strings import Strings
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.channel_bits import ChannelBits
from sottovoce.lab.baselines.channel_segment import ChannelSegment, channel_of
from sottovoce.lab.checks import ScriptedRng
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec


def digest(number, bits):
    """xxh32 of one to three words, seed 0, by the letter of its specification."""
    p2, p3, p4, p5, low = 2246822519, 3266489917, 668265263, 374761393, (1 << 32) - 1
    words = [number >> shift & low for shift in range(0, max(bits, 1), 32)]
    total = p5 + 4 * len(words) & low
    for word in words:
        total = total + word * p3 & low
        total = (total << 17 | total >> 15) * p4 & low
    total = (total ^ total >> 15) * p2 & low
    total = (total ^ total >> 13) * p3 & low
    return total ^ total >> 16


@given(some.integers(2, 95), some.integers(2, 1 << 16), some.data())
def test_it_is_the_channel_above_the_piece(bits, channels, data):
    start = data.draw(some.integers(0, bits - 1))
    length = data.draw(some.integers(1, min(bits - start, 40)))
    numbers = data.draw(some.lists(some.integers(0, (1 << bits) - 1), min_size=1, max_size=5))
    encoding = ChannelSegment(bits, channels, start, length)
    found = encoding(hashing.indices_of(numbers, bits), ScriptedRng())
    pieces = [number >> (bits - start - length) & ((1 << length) - 1) for number in numbers]
    own = [digest(number, bits) * channels >> 32 for number in numbers]
    assert found.tolist() == [
        channel << length | piece for channel, piece in zip(own, pieces, strict=True)
    ]
    assert max(found.tolist()) < encoding.outputs(Bits(bits)) == channels << length


@pytest.mark.parametrize(
    ("bits", "channels", "numbers", "expected"),
    [
        (48, 64, (0, 1, 2, 0xDEADBEEF), [55, 2, 58, 46]),
        (64, 1000, (0, 1, 1 << 63, (1 << 64) - 1), [869, 34, 112, 755]),
    ],
)
def test_known_values_have_known_channels(bits, channels, numbers, expected):
    """Written down once, from the letter of the hash's specification: devices in every language
    must agree.
    """
    assert channel_of(hashing.indices_of(numbers, bits), bits, channels).tolist() == expected
    assert [digest(number, bits) * channels >> 32 for number in numbers] == expected


def test_channels_are_even():
    """Each of 64 has its share of 64,000 values within five sigma."""
    counts = np.bincount(channel_of(np.arange(64_000), 40, 64), minlength=64)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_a_bit_and_its_channel_are_an_index_of_the_vector():
    question = Question(ChannelBits(1.0, 2 * 8), ChannelSegment(16, 8, 3, 1))
    question.check_domain(Bits(16))
    with pytest.raises(ParameterError):
        Question(ChannelBits(1.0, 2 * 7), ChannelSegment(16, 8, 3, 1)).check_domain(Bits(16))


def test_texts_are_hashed_with_their_padding():
    domain = Strings(8)
    encoding = ChannelSegment(domain.bits, 16, 0, 8)
    found = encoding(domain.indices(["a", "a", "b"]), ScriptedRng()).tolist()
    assert found[0] == found[1]
    assert [index & 0xFF for index in found] == [ord("a"), ord("a"), ord("b")]


def test_no_document_can_name_it():
    asked = Round(0, Question(AffineResponse(1.0, 64 << 8), ChannelSegment(64, 64, 8, 8)))
    with pytest.raises(ParameterError, match="unknown encoding kind"):
        codec.round_(codec.parse(codec.canonical(codec.document(asked))))


@pytest.mark.parametrize(
    "settings",
    [
        (64, 1, 0, 8),
        (64, (1 << 16) + 1, 0, 8),
        (64, True, 0, 8),
        (64, 64.0, 0, 8),
        (64, 64, 60, 8),
        (64, 64, 0, 0),
        (64, 64, -1, 8),
        (64, 64, 0, 58),
        (128, 2, 0, 64),
    ],
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        ChannelSegment(*settings)


@pytest.mark.parametrize("domain", [Bits(63), Strings(9), Integers(0, 9)])
def test_another_domain_is_refused(domain):
    with pytest.raises(ParameterError):
        ChannelSegment(64, 64, 0, 8).outputs(domain)
