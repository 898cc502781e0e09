"""A piece of a long value equals the same piece of a Python integer."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from sottovoce.domains.bits import Bits
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.strings import Strings
from sottovoce.encodings.segment import Segment
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.tasks.question import Question

UNTOUCHED = RecordedRng(b"")


def piece(number, bits, start, length):
    """The twin, from the written number: bit 0 is the first digit."""
    return int(f"{number:0{bits}b}"[start : start + length], 2)


@some.composite
def cases(draw):
    bits = draw(some.integers(2, 480))
    start = draw(some.integers(0, bits - 1))
    length = draw(some.integers(1, bits - start))
    return (
        bits,
        start,
        length,
        draw(some.lists(some.integers(0, (1 << bits) - 1), min_size=1, max_size=4)),
    )


@given(cases())
@example((63, 0, 63, [(1 << 63) - 1]))
@example((64, 0, 63, [(1 << 64) - 1]))
@example((64, 0, 64, [(1 << 64) - 1]))
@example((64, 1, 63, [(1 << 64) - 1]))
@example((65, 1, 64, [(1 << 65) - 1]))
@example((160, 0, 32, [(1 << 160) - 1]))
@example((160, 96, 64, [(1 << 160) - 1]))
@example((160, 31, 65, [(1 << 160) - 2]))
@example((480, 479, 1, [(1 << 480) - 1]))
def test_a_segment_is_that_of_the_number(case):
    """Values and results on either side of 63 bits, given in the form that indices of so many bits
    have.
    """
    bits, start, length, numbers = case
    found = Segment(bits, start, length)(indices_of(numbers, bits), UNTOUCHED)
    wanted = indices_of([piece(number, bits, start, length) for number in numbers], length)
    assert found.dtype == wanted.dtype
    assert np.array_equal(found, wanted)


@given(cases())
def test_two_neighbouring_segments_are_the_whole(case):
    bits, _, length, numbers = case
    if length == bits:
        return
    first, second = Segment(bits, 0, length), Segment(bits, length, bits - length)
    for number in numbers:
        held = indices_of([number], bits)
        assert (
            _number(first(held, UNTOUCHED)) << (bits - length) | _number(second(held, UNTOUCHED))
            == number
        )


def _number(indices):
    words = indices.tolist()[0]
    return (
        words
        if isinstance(words, int)
        else sum(word << 32 * place for place, word in enumerate(words))
    )


@pytest.mark.parametrize("bits", [48, 160])
def test_the_check_catches_bits_counted_from_the_wrong_end(bits):
    number = (1 << bits - 3) + 5
    suffix = Segment(bits, bits - 12, 12)(indices_of([number], bits), UNTOUCHED)
    assert suffix.tolist() != [piece(number, bits, 0, 12)]


@pytest.mark.parametrize("bits", [12, 63, 64, 100, 160])
def test_what_a_segment_yields_is_what_its_mechanism_takes(bits):
    held = indices_of([0, (1 << bits) - 1, 1], bits)
    for length in range(2, bits + 1):
        question = Question(AffinePrefix(1.0, 1 << length), Segment(bits, 0, length))
        question.check_domain(Bits(bits))
        assert len(question.mechanism.check(question.encoding(held, UNTOUCHED))) == 3


@pytest.mark.parametrize(
    "settings",
    [
        (8, 0, 0),
        (8, -1, 3),
        (8, 8, 1),
        (8, 4, 5),
        (8, 0, 9),
        (8.0, 0, 2),
        (8, 0, 2.0),
        (8, False, 2),
    ],
)
def test_a_piece_that_there_is_not_is_refused(settings):
    with pytest.raises(ParameterError):
        Segment(*settings)


@pytest.mark.parametrize(
    "domain",
    [Bits(15), Bits(17), Strings(3), Integers(0, (1 << 16) - 1), Categories(("a", "b"))],
    ids=repr,
)
def test_other_domains_are_refused(domain):
    with pytest.raises(ParameterError):
        Segment(16, 0, 8).outputs(domain)


def test_it_yields_as_many_indices_as_its_bits_have():
    assert Segment(16, 3, 8).outputs(Bits(16)) == Segment(16, 3, 8).outputs(Strings(2)) == 1 << 8
