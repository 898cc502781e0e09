import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.hierarchy import Hierarchy


@pytest.mark.parametrize("fanout", [2, 3, 5])
@pytest.mark.parametrize("size", [2, 5, 8, 25, 26, 125, 1000])
def test_every_value_is_in_one_node_of_every_level(size, fanout):
    tree = Hierarchy(size, fanout)
    assert tree.fanout ** (tree.height - 1) < max(size, 3) <= max(tree.leaves, 3)
    values = np.arange(size)
    for level in range(tree.height + 1):
        nodes = tree.node(values, level)
        assert nodes.min() == 0
        assert nodes.max() + 1 == len(tree.real(level)) <= tree.nodes(level)
        if level:
            assert (nodes // tree.children(level - 1) == tree.node(values, level - 1)).all()
    assert tree.nodes(0) == 1
    assert tree.nodes(tree.height) == tree.leaves


def test_categories_have_two_levels_and_no_padding():
    tree = Hierarchy(6, flat=True)
    assert (tree.height, tree.leaves, tree.nodes(0), tree.nodes(1), tree.children(0)) == (1, 6, 1, 6, 6)


def test_impossible_trees_and_levels_are_refused():
    for wrong in ((1, 5), (5, 1), (5.0, 2)):
        with pytest.raises(ParameterError):
            Hierarchy(*wrong)
    with pytest.raises(ParameterError):
        Hierarchy(25).width(3)
