"""Populations of numbers: inside of [0, 1], with the means that their laws have."""

import numpy as np
import pytest

from sottovoce.lab.populations.numbers import SHAPES

# The mean of every law; the taxi shape is clipped, which moves it by less than 0.001.
MEANS = {
    "Beta(2, 5)": 2 / 7,
    "Beta(5, 2)": 5 / 7,
    "taxi-like": 0.6 * 0.5 + 0.2 * 0.42 + 0.2 * 0.8,
    "retirement-like": 0.35 * 1.2 / 7.2 + 0.65 * 6 / 9.5,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_lie_in_the_range_and_have_their_mean(shape):
    numbers = SHAPES[shape](np.random.default_rng(1), 20_000)
    assert len(numbers) == 20_000
    assert numbers.min() >= 0
    assert numbers.max() <= 1
    error = numbers.std() / np.sqrt(20_000)
    assert abs(numbers.mean() - MEANS[shape]) < 5 * error + 0.001
