"""Digits that an error allows: two of them, whatever the scale."""

import pytest

from sottovoce.answers.digits import figure, interval


@pytest.mark.parametrize(
    ("number", "error", "text"),
    [
        (1289.654321, 70.0, "1,290"),
        (0.0123456, 0.0004, "0.01235"),
        (4.48315e-10, 2.6, "0.0"),
        (-0.3, 40.0, "0"),
        (1e9, 1e7, "1,000,000,000"),
        (3.5, 0.0, "3.5"),
        (float("nan"), 1.0, "–"),
    ],
)
def test_a_number_has_two_digits_of_its_error(number, error, text):
    assert figure(number, error) == text


def test_bounds_have_the_digits_of_their_number():
    assert interval(1149.91, 1433.18, 70.0) == "[1,150, 1,433]"
    assert interval(None, 3.0, 1.0) == "no bound"
