"""What combining decompositions saves: squares of weights, counted by hand."""

import numpy as np
import pytest

from sottovoce.lab.experiments.xu.range_errors import layout
from sottovoce.lab.experiments.xu.range_gains import ADDED, gains, random_ranges, squared_weights
from sottovoce.plans.tables.coefficients import Target, coefficients
from sottovoce.plans.tables.method import Method

VALUES = np.arange(125)


def squares(method, *sets):
    factor = layout("hio", 125).factors[0]
    target = Target(factor, dict(enumerate(sets)))
    return squared_weights(coefficients(target, method).groups[0])


@pytest.mark.parametrize(
    ("values", "added", "signed"), [(25, 1, 1), (30, 2, 2), (100, 4, 2), (120, 8, 2), (124, 12, 2)]
)
def test_weights_of_one_are_nodes(values, added, signed):
    """Fan-out 5, so that the first 100 of 125 values are four nodes, or everything less one."""
    chosen = values > VALUES
    assert squares(ADDED, chosen) == pytest.approx(added)
    assert squares(Method("signed"), chosen) == pytest.approx(signed)


def test_nodes_of_two_columns_are_pairs():
    assert squares(ADDED, VALUES < 100, VALUES < 30) == pytest.approx(4 * 2)


def test_two_decompositions_without_a_common_node_halve_the_squares_of_equal_ones():
    """Three of five nodes, weighted 1 / 2; and the whole less two, of the same three squares."""
    chosen = VALUES < 75
    assert squares(Method("rdc", k=2), chosen) == pytest.approx(3 / 2)


def test_ranges_are_not_empty_and_gains_are_below_one():
    assert all(chosen.any() for chosen in random_ranges())
    means = list(gains(2, 5).values())
    assert means == sorted(means, reverse=True)
    assert 0 < means[-1] < means[0] < 1
