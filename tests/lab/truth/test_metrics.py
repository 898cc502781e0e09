"""How well a search found what is frequent."""

from math import isnan

from sottovoce.lab.truth.metrics import f1, ncr, squared_error


def test_two_of_four_with_the_first_among_them():
    assert f1("abcd", "acxy") == 0.5
    assert ncr("abcd", "acxy") == (4 + 2) / 10


def test_everything_and_nothing():
    assert (f1("ab", "ba"), ncr("ab", "ba")) == (1.0, 1.0)
    assert (f1("ab", "xy"), ncr("ab", "xy")) == (0.0, 0.0)
    assert f1("ab", "") == 0.0


def test_found_twice_counts_once():
    assert ncr("ab", "aa") == 2 / 3


def test_the_error_of_nothing_is_not_zero():
    assert isnan(squared_error({"a": 1}, {"b": 1}))
    assert squared_error({"a": 10, "b": 4}, {"a": 11, "b": 1}) == (1 + 9) / 2
