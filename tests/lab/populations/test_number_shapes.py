"""Every shape is a distribution, and the shapes are what their names say."""

import pytest

from sottovoce.lab.populations.number_shapes import number_shapes


@pytest.mark.parametrize("size", [16, 64, 500])
def test_shapes_are_distributions(size):
    for name, shares in number_shapes(size).items():
        assert len(shares) == size, name
        assert shares.sum() == pytest.approx(1), name
        assert shares.min() >= 0, name


def test_spikes_are_where_they_are_said_to_be():
    shapes = number_shapes(100)
    assert shapes["constant"][50] == 1
    assert shapes["both ends"][[0, 99]].tolist() == [0.6, 0.4]
    assert shapes["incomes and zeros"][0] > 0.3
    assert shapes["heaped ages"][20] / shapes["ages"][20] > 2 * (
        shapes["heaped ages"][21] / shapes["ages"][21]
    )
