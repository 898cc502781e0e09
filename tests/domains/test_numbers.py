"""Numbers: the nearest point of a grid."""

import numpy as np
import pytest

from sottovoce.domains.numbers import Numbers


def test_a_number_has_the_nearest_point_as_index():
    temperature = Numbers(0.0, 10.0, 101)
    assert temperature.size == 101
    assert temperature.indices([0, 0.04, 0.06, 9.96, 10]).tolist() == [0, 0, 1, 100, 100]


@pytest.mark.parametrize("points", [2, 3, 100, 1001])
def test_every_point_of_the_grid_has_its_own_index(points):
    grid = np.linspace(-2.0, 5.0, points)
    assert Numbers(-2.0, 5.0, points).indices(grid).tolist() == list(range(points))


def test_no_number_is_further_from_its_point_than_half_a_step():
    numbers = np.random.default_rng(1).uniform(-2, 5, 1000)
    domain = Numbers(-2.0, 5.0, 15)
    points = -2.0 + domain.indices(numbers) * 0.5
    assert np.abs(points - numbers).max() <= 0.25 + 1e-12
