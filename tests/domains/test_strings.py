"""Texts of bounded length."""

from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

import sottovoce as sv
from sottovoce.domains.strings import MAX_LENGTH, Strings
from sottovoce.errors import DomainError, ParameterError
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.wire import codec

characters = some.characters(exclude_categories=("Cs",), exclude_characters="\0")
texts = some.text(characters, max_size=30)


def number_of(domain, text):
    row = domain.indices([text])[0]
    return (
        int(row)
        if row.ndim == 0
        else sum(word << 32 * place for place, word in enumerate(row.tolist()))
    )


def fitting(text, length):
    """The twin of the cut: whole characters while they fit."""
    kept = b""
    for character in normalize("NFC", text):
        if len(kept) + len(character.encode()) > length:
            break
        kept += character.encode()
    return kept


@given(texts, some.integers(1, MAX_LENGTH))
@example("aé", 2)
@example("ab€", 4)
@example("abc😀", 6)
@example("€" * 30, MAX_LENGTH)
@example("", 3)
@example("e\u0301", 2)
@example("\ufb2c", 2)  # longer in normal form than as it stands
def test_a_text_is_cut_after_its_last_whole_character_and_filled_with_zeros(text, length):
    kept = fitting(text, length)
    assert number_of(Strings(length), text).to_bytes(length, "big") == kept.ljust(length, b"\0")


@given(texts, some.integers(1, MAX_LENGTH))
def test_the_label_is_the_inverse_and_a_fixed_point(text, length):
    domain = Strings(length)
    number = number_of(domain, text)
    assert domain.label(number) == fitting(text, length).decode()
    assert number_of(domain, domain.label(number)) == number


@pytest.mark.parametrize(
    ("text", "length", "kept"),
    [
        ("aé", 3, "aé"),
        ("aé", 2, "a"),
        ("€", 3, "€"),
        ("€", 2, ""),
        ("a😀", 4, "a"),
        ("a😀", 5, "a😀"),
        ("hi", 1, "h"),
    ],
)
def test_no_character_is_torn_at_the_edge(text, length, kept):
    domain = Strings(length)
    assert domain.label(number_of(domain, text)) == kept


def test_the_cut_that_tears_characters_would_be_noticed():
    """The broken twin: bytes instead of characters."""
    torn = int.from_bytes("a€".encode()[:3], "big")
    assert number_of(Strings(3), "a€") != torn


def test_composed_and_decomposed_letters_are_one_text():
    assert number_of(Strings(8), "cafe\u0301") == number_of(Strings(8), "café")
    assert number_of(Strings(2), "e\u0301") == number_of(
        Strings(2), "é"
    )  # composed before it is cut


def test_the_first_character_is_the_most_significant():
    assert number_of(Strings(2), "hi") == 0x6869
    assert number_of(Strings(3), "h") == 0x680000
    assert number_of(Strings(3), "") == 0


@given(texts, some.integers(1, 12))
def test_whole_texts_are_kept_or_refused(text, length):
    domain = Strings(length, whole=True)
    if len(normalize("NFC", text).encode()) > length:
        with pytest.raises(DomainError):
            domain.indices([text])
    else:
        assert number_of(domain, text) == number_of(Strings(length), text)


@pytest.mark.parametrize(
    "value", ["a\0b", "\0", "\ud800", "x\udfff", "\ud83d\ude00", b"hi", 7, None, ["hi"], 1.5]
)
def test_what_is_no_text_is_refused(value):
    with pytest.raises(DomainError) as refused:
        Strings(8).indices(["fine", value])
    assert refused.value.__context__ is None


@pytest.mark.parametrize("value", ["quagga\0", "quagga\ud800", "quagga" * 9])
def test_a_refusal_never_names_the_value(value):
    with pytest.raises(DomainError) as refused:
        Strings(8, whole=True).indices([value])
    assert "quagga" not in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "settings",
    [(0,), (-1,), (MAX_LENGTH + 1,), (True,), (2.0,), ("2",), (2, 1), (2, None)],
    ids=repr,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        Strings(*settings)


@pytest.mark.parametrize(
    "domain", [Strings(1), Strings(8), Strings(20, whole=True), Strings(MAX_LENGTH)]
)
def test_a_domain_survives_its_document(domain):
    task = sv.Task("words", HeavyHitters(domain, 2), epsilon=1.0)
    read = codec.task(codec.parse(codec.canonical(codec.document(task))))
    assert read.plan.domain == domain
    assert codec.notice(codec.document(task)).domain == domain


def test_indices_have_the_shape_of_their_bits():
    assert Strings(7).indices(["a", "b"]).dtype == np.int64
    assert Strings(8).indices(["a", "b"]).shape == (2, 2)
    assert Strings(20).indices([]).shape == (0, 5)


ASCII = [chr(code) for code in range(1, 0x80)]
SHORT = {
    1: ["", *ASCII],
    2: [
        "",
        *(chr(code) for code in range(1, 0x800)),
        *(first + second for first in ASCII for second in ASCII),
    ],
}


@pytest.mark.parametrize("length", SHORT)
def test_possible_is_exactly_that_some_text_begins_so(length):
    """All prefixes of all lengths against all texts: torn, overlong, zero-filled and decomposed
    ones do not occur.
    """
    domain = Strings(length)
    numbers = domain.indices(SHORT[length]).tolist()
    for bits in range(8 * length + 1):
        begun = {number >> (8 * length - bits) for number in numbers}
        found = {prefix for prefix in range(1 << bits) if domain.possible(prefix, bits)}
        assert found == begun, bits


@given(texts, some.integers(1, MAX_LENGTH))
@example("e\u0301\u0323", 5)
@example("각", 3)
def test_no_prefix_of_a_real_text_is_called_impossible(text, length):
    domain = Strings(length)
    number = number_of(domain, text)
    assert all(
        domain.possible(number >> (8 * length - bits), bits) for bits in range(8 * length + 1)
    )


@given(some.binary(min_size=1, max_size=6))
@example(b"\xed\xa0\x80")  # half of a surrogate pair
@example(b"\xf4\x90\x80\x80")  # beyond the last character
@example(b"\xe0\x80\xaf")  # a slash, overlong
@example(b"e\xcc\x81")  # not in composed form
@example(b"a\0b")
def test_whole_bytes_are_possible_if_and_only_if_they_are_their_own_label(coded):
    """Beyond two bytes the texts are too many to list, but a whole value decodes to itself or is
    none.
    """
    domain, number = Strings(len(coded)), int.from_bytes(coded, "big")
    try:
        same = number_of(domain, coded.rstrip(b"\0").decode()) == number
    except (UnicodeDecodeError, DomainError):
        same = False
    assert domain.possible(number, domain.bits) == same


@given(some.integers(2, 5), some.integers(0, 1 << 40), some.integers(0, 39))
def test_a_possible_prefix_has_a_possible_extension_and_an_impossible_one_none(length, drawn, bits):
    domain = Strings(length)
    bits %= domain.bits
    prefix = drawn & ((1 << bits) - 1)
    extended = [domain.possible(prefix << 1 | bit, bits + 1) for bit in (0, 1)]
    assert domain.possible(prefix, bits) == any(extended)


@pytest.mark.parametrize("length", [4, 8, 12, 16])
@pytest.mark.parametrize("step", [4, 8])
def test_a_prefix_is_finished_if_only_one_text_begins_with_it(length, step):
    """All texts of up to two bytes: what is possible and finished begins exactly one of them."""
    domain = Strings(2)
    # Some characters are composed to others, so that several texts are the same value.
    numbers = sorted({number_of(domain, text) for text in SHORT[2]})
    prefixes = list(range(1 << (length - min(step, length))))
    extension = min(step, length)
    finished = domain.finished(prefixes, extension, length)
    beginning = np.bincount([number >> (16 - length) for number in numbers], minlength=1 << length)
    possible = [domain.possible(prefix, length) for prefix in range(1 << length)]
    known = finished & possible
    assert (beginning[known] == 1).all()
    if length % 8 == 0:  # elsewhere the end of a text may be guessed before its byte is whole
        assert known.sum() == (1 if length == 8 else len(numbers))


def test_the_chances_of_lengths_are_a_law_that_falls():
    for length in (1, 2, 20, 60):
        endings = Strings(length).endings
        assert sum(endings.values()) == pytest.approx(1.0)
        assert max(endings) == 8 * length
    chances = list(Strings(20).endings.values())[:-1]
    assert chances == sorted(chances, reverse=True)


@given(texts, texts)
@example("\x07", "\\x07")
@example("\\\x07", "\\\\x07")
@example("\\\\x07", "\\\x07")
def test_no_two_texts_are_shown_alike(first, second):
    domain = Strings(30)
    numbers = [number_of(domain, text) for text in (first, second)]
    shown = [domain.shown(number) for number in numbers]
    assert (numbers[0] == numbers[1]) == (shown[0] == shown[1])


def test_ordinary_backslashes_are_shown_as_they_are():
    domain = Strings(20)
    assert domain.shown(number_of(domain, "C:\\dir")) == "C:\\dir"
