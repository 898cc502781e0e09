"""Buckets: intervals of equal width, closed below and open above but for the last."""

import numpy as np
import pytest

from sottovoce.domains.buckets import Buckets


def test_a_number_has_its_interval_as_index():
    income = Buckets(0.0, 10.0, 5)
    assert income.size == 5
    assert income.edges.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert income.labels == ("0 to 2", "2 to 4", "4 to 6", "6 to 8", "8 to 10")
    assert income.indices([0, 1.9, 2, 9.99, 10]).tolist() == [0, 0, 1, 4, 4]


@pytest.mark.parametrize("count", [2, 3, 7, 256])
def test_every_number_lies_between_the_edges_of_its_interval(count):
    buckets = Buckets(-1.0, 3.0, count)
    numbers = np.random.default_rng(count).uniform(-1, 3, 2000)
    indices = buckets.indices(numbers)
    assert (buckets.edges[indices] <= numbers + 1e-12).all()
    assert (numbers <= buckets.edges[indices + 1] + 1e-12).all()
