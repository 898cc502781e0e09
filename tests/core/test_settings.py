"""The shared validators: what each lets pass, and the one rule that its error states."""

import json
from pathlib import Path

import numpy as np
import pytest

from sottovoce.core import settings
from sottovoce.errors import ParameterError

NO_NUMBERS = (None, "3", True, False, [3], (), float("nan"), float("inf"), -float("inf"))


def refusal(validator, *arguments):
    """Return the text of the error with which a validator refuses a setting."""
    with pytest.raises(ParameterError) as caught:
        validator(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("value", [2, 3, 1 << 20])
def test_a_whole_number_within_its_bounds_passes(value):
    assert settings.whole("buckets", value, 2, 1 << 20) == value


@pytest.mark.parametrize("value", [*NO_NUMBERS, 3.0, np.int64(3), 1, (1 << 20) + 1, -3])
def test_anything_else_than_a_whole_number_within_its_bounds_is_refused(value):
    shown = repr(value) if type(value) is not int else str(value)
    expected = f"`buckets` must be a whole number from 2 to 1048576, not {shown}"
    assert refusal(settings.whole, "buckets", value, 2, 1 << 20) == expected


@pytest.mark.parametrize(
    ("low", "high", "rule"),
    [
        (None, None, "a whole number, not None"),
        (0, None, "a whole number of at least 0, not None"),
        (None, 9, "a whole number of at most 9, not None"),
        (1, 1 << 32, "a whole number from 1 to 2^32, not None"),
        (0, (1 << 63) - 1, "a whole number from 0 to 2^63 - 1, not None"),
        (3, (1 << 32) + 5, "a whole number from 3 to 4294967301, not None"),
    ],
)
def test_a_rule_names_the_bounds_that_there_are(low, high, rule):
    assert refusal(settings.whole, "count", None, low, high) == f"`count` must be {rule}"


def test_a_bound_is_allowed_where_the_other_is_missing():
    assert settings.whole("count", 10**30) == 10**30
    assert settings.whole("count", 0, 0) == 0
    assert settings.whole("count", -7, None, -7) == -7


def test_a_huge_number_is_not_written_out():
    assert refusal(settings.whole, "size", 3**1000, 2, 9).endswith("not a number of 1585 bits")


@pytest.mark.parametrize("value", [2, 4, 1024])
def test_a_power_of_two_within_its_bounds_passes(value):
    assert settings.power_of_two("columns", value, 2, 1024) == value


@pytest.mark.parametrize("value", [*NO_NUMBERS, 1, 3, 2048, 0, -2, 4.0])
def test_another_number_than_a_power_of_two_is_refused(value):
    text = refusal(settings.power_of_two, "columns", value, 2, 1024)
    assert text.startswith("`columns` must be a power of two from 2 to 1024, not ")


@pytest.mark.parametrize("value", [0, 0.5, 1, 1.0, np.float64(0.25), np.float32(0.5), np.int64(1)])
def test_a_real_number_within_its_bounds_becomes_a_float(value):
    passed = settings.real("margin", value, 0, 1)
    assert passed == value
    assert type(passed) is float


@pytest.mark.parametrize("value", [*NO_NUMBERS, -0.1, 1.1, 10**400])
def test_anything_else_than_a_real_number_within_its_bounds_is_refused(value):
    text = refusal(settings.real, "margin", value, 0, 1)
    assert text.startswith("`margin` must be a number from 0 to 1, not ")


def test_a_number_that_no_float_can_hold_is_refused_without_bounds():
    assert refusal(settings.real, "low", 10**400).startswith("`low` must be a number, not ")


@pytest.mark.parametrize("value", [1e-300, 1, 20, 20.0])
def test_a_positive_number_up_to_its_bound_passes(value):
    assert settings.positive("seconds", value, 20) == value


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, 0.0, -1, 20.5])
def test_a_number_that_is_not_positive_is_refused(value):
    text = refusal(settings.positive, "seconds", value, 20)
    assert text.startswith("`seconds` must be a number above 0 and at most 20, not ")
    if value != 20.5:
        assert refusal(settings.positive, "seconds", value).startswith(
            "`seconds` must be a number above 0, not "
        )


def test_an_epsilon_is_positive_and_at_most_twenty():
    assert settings.epsilon("epsilon", 20) == 20.0
    assert type(settings.epsilon("epsilon", 1)) is float
    for value in (*NO_NUMBERS, 0, -1.0, 20.001):
        text = refusal(settings.epsilon, "epsilon", value)
        assert text.startswith("`epsilon` must be a number above 0 and at most 20, not ")


def test_a_share_is_from_nought_to_one():
    assert [settings.share("honest", value) for value in (0, 0.3, 1)] == [0.0, 0.3, 1.0]
    for value in (*NO_NUMBERS, -1e-9, 1 + 1e-9):
        text = refusal(settings.share, "honest", value)
        assert text.startswith("`honest` must be a number from 0 to 1, not ")


def test_an_open_share_is_neither_nought_nor_one():
    assert settings.open_share("level", 0.95) == 0.95
    for value in (*NO_NUMBERS, 0, 1, 0.0, 1.0, -0.5, 95):
        text = refusal(settings.open_share, "level", value)
        assert text.startswith("`level` must be a number above 0 and below 1, not ")


def test_a_flag_is_true_or_false():
    assert settings.flag("clamped", True) is True
    assert settings.flag("clamped", False) is False
    for value in (0, 1, None, "true", np.True_):
        assert refusal(settings.flag, "clamped", value) == (
            f"`clamped` must be true or false, not {value!r}"
        )


def test_text_is_not_empty_and_not_too_long():
    assert settings.text("name", "a") == "a"
    assert settings.text("name", "abc", 3) == "abc"
    for value in ("", None, 3, b"abc"):
        assert refusal(settings.text, "name", value, 3) == (
            f"`name` must be text that is not empty, not {value!r}"
        )
    assert refusal(settings.text, "name", "abcd", 3) == (
        "`name` must be text of at most 3 characters, not 'abcd'"
    )


def test_a_long_setting_is_cut_in_the_error():
    text = refusal(settings.text, "name", "x" * 1000, 3)
    assert text.endswith("xxx...")
    assert len(text) < 130


def test_a_choice_is_one_of_the_options():
    assert settings.choice("rule", "auto", ("auto", "exact")) == "auto"
    assert settings.choice("rule", "auto", {"auto": 1, "exact": 2}) == "auto"
    for value in ("best", "", None, 1, ["auto"], np.arange(2)):
        text = refusal(settings.choice, "rule", value, ("auto", "exact"))
        assert text == f"`rule` must be one of auto, exact, not {value!r}"


def test_an_instance_is_of_a_class_and_its_error_shows_no_value():
    assert settings.instance("domain", "abc", str, bytes) == "abc"
    text = refusal(settings.instance, "domain", {"secret": 7}, str, bytes)
    assert text == "`domain` must be of class str or bytes, not dict"


@pytest.mark.parametrize(
    ("low", "high", "rule"),
    [
        (1, None, "at least 1 entry"),
        (2, None, "at least 2 entries"),
        (3, 3, "exactly 3 entries"),
        (1, 1, "exactly 1 entry"),
        (1, 4, "from 1 to 4 entries"),
    ],
)
def test_a_collection_has_as_many_entries_as_its_bounds_allow(low, high, rule):
    assert settings.entries("parts", range(low), low, high) == low
    assert refusal(settings.entries, "parts", (), low, high) == f"`parts` must have {rule}, not 0"
    if high is not None:
        excess = range(high + 1)
        assert refusal(settings.entries, "parts", excess, low, high) == (
            f"`parts` must have {rule}, not {high + 1}"
        )


def test_every_entry_is_a_whole_number_within_the_bounds():
    assert settings.wholes("masks", [3, 1], 1, 3) == (3, 1)
    assert settings.wholes("masks", ()) == ()
    for value in (*NO_NUMBERS, 0, 4, 2.0, np.int64(2)):
        text = refusal(settings.wholes, "masks", (2, value), 1, 3)
        assert text.startswith("each entry of `masks` must be a whole number from 1 to 3, not ")


def test_every_entry_is_text():
    assert settings.texts("labels", ["a", "b"]) == ("a", "b")
    assert settings.texts("labels", iter(())) == ()
    for value in ("", None, 3, b"abc", ["a"]):
        text = refusal(settings.texts, "labels", ("a", value))
        assert text == f"each entry of `labels` must be text that is not empty, not {value!r}"


def test_distinct_entries_differ():
    assert settings.distinct("labels", ["a", "b"]) == ("a", "b")
    assert refusal(settings.distinct, "labels", "abca") == (
        "the entries of `labels` must differ, but 1 and 4 are equal"
    )
    assert refusal(settings.distinct, "labels", "abcaa") == (
        "the entries of `labels` must differ, but 1 and 4 are equal"
    )


def test_ascending_numbers_grow():
    assert settings.ascending("columns", [0, 2, 5]) == (0, 2, 5)
    assert settings.ascending("columns", ()) == ()
    for values in ((2, 1), (1, 1), (0, 2, 1)):
        assert refusal(settings.ascending, "columns", values) == (
            f"`columns` must ascend without repetition, not {values}"
        )


def test_bytes_of_the_exact_length_pass():
    assert settings.octets("digest", bytes(32), 32) == bytes(32)


@pytest.mark.parametrize("value", [b"", bytes(31), bytes(33)])
def test_bytes_of_another_length_are_refused_and_not_shown(value):
    expected = f"`digest` must have exactly 32 bytes, not {len(value)}"
    assert refusal(settings.octets, "digest", value, 32) == expected


@pytest.mark.parametrize("value", [None, "secret", 32, bytearray(32), [0] * 32])
def test_anything_but_bytes_is_refused_and_not_shown(value):
    expected = f"`digest` must be of class bytes, not {type(value).__name__}"
    assert refusal(settings.octets, "digest", value, 32) == expected


def test_plain_text_shows_what_it_holds():
    for words in ("", "Which pet?", "città", "a\u200db", "x" * 20):
        assert settings.plain_text("name", words, 20) == words


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (3, "`name` must be text, not 3"),
        ("x" * 21, "`name` must be text of at most 20 characters, not 'xxxxxxxxxxxxxxxxxxxxx'"),
        ("e\u0301", "`name` must be text in composed form (NFC), not 'e\u0301'"),
        (
            "a\tb",
            "`name` must be text without control, invisible and direction characters, not 'a\\tb'",
        ),
    ],
)
def test_text_that_hides_something_is_refused(value, rule):
    assert refusal(settings.plain_text, "name", value, 20) == rule


def test_every_range_of_hidden_characters_is_refused_to_its_ends():
    ranges = json.loads(Path(settings.__file__).with_name("hidden_characters.json").read_text())
    assert len(ranges["ranges"]) == 13
    for low, high in ranges["ranges"]:
        for code_point in (int(low, 16), int(high, 16)):
            text = refusal(settings.plain_text, "name", chr(code_point), 20)
            assert "without control, invisible and direction characters" in text


def test_each_entry_of_plain_texts_is_plain():
    assert settings.plain_texts("names", ["a", "b"], 1) == ("a", "b")
    text = refusal(settings.plain_texts, "names", ["a", "b\0"], 9)
    assert text.startswith("each entry of `names` must be text without control")


def test_a_set_of_texts_means_the_same_in_every_process():
    """The order of a set depends on the seed of the hash, which differs between processes."""
    names = [f"name {number:03}" for number in range(100)]
    assert settings.texts("labels", set(names)) == tuple(names)
    assert settings.texts("labels", frozenset(names)) == tuple(names)
    assert settings.texts("labels", reversed(names)) == tuple(reversed(names))
