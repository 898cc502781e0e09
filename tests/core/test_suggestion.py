"""Suggestions: the nearest known word, and silence where none is near."""

import pytest

from sottovoce.core.suggestion import did_you_mean


@pytest.mark.parametrize(
    ("word", "expected"),
    [("qota", "quota"), ("QUOTA", "quota"), ("minimun", "minimum"), ("histogramm", "histogram")],
)
def test_a_slip_is_recognised(word, expected):
    said = did_you_mean(word, ["quota", "minimum", "histogram"])
    assert said == f" Did you mean `{expected}`?"


@pytest.mark.parametrize("word", ["", "zebra", "q" * 100_000])
def test_nothing_is_suggested_where_nothing_is_near(word):
    assert did_you_mean(word, ["quota", "minimum"]) == ""


def test_nothing_is_suggested_of_nothing():
    assert did_you_mean("quota", []) == ""
