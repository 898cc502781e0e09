import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import Hierarchy


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
    assert (tree.height, tree.leaves, tree.nodes(0), tree.nodes(1), tree.children(0)) == (
        1,
        6,
        1,
        6,
        6,
    )


def test_impossible_trees_and_levels_are_refused():
    for size in (1, 5.0, True):
        with pytest.raises(ParameterError, match="`size` must be a whole number of at least 2"):
            Hierarchy(size)
    for fanout in (1, 2.0, True):
        with pytest.raises(ParameterError, match="`fanout` must be a whole number of at least 2"):
            Hierarchy(5, fanout)
    with pytest.raises(ParameterError):
        Hierarchy(25).width(3)


@pytest.mark.parametrize("fanout", [2, 3, 5])
@pytest.mark.parametrize("size", [2, 5, 8, 25, 26, 250])
def test_a_doubled_tree_has_the_two_halves_as_nodes_below_its_root(size, fanout):
    """Padding twice the values to a power of the fan-out would not: 250 of them end within a
    node.
    """
    plain, tree = Hierarchy(size, fanout), Hierarchy(size, fanout, doubled=True)
    assert (tree.height, tree.leaves) == (plain.height + 1, 2 * plain.leaves)
    assert (tree.nodes(0), tree.nodes(1), tree.width(1), tree.children(0)) == (
        1,
        2,
        plain.leaves,
        2,
    )
    for level in range(plain.height + 1):
        assert tree.width(level + 1) == plain.width(level)
        assert tree.nodes(level + 1) == 2 * plain.nodes(level)
        assert tree.children(level + 1) == plain.children(level)
        first = plain.real(level)
        assert tree.real(level + 1).tolist() == [*first, *(first + plain.nodes(level))]
    assert tree.real(0).tolist() == [0]


def test_a_doubled_flat_tree_has_three_levels():
    tree = Hierarchy(6, flat=True, doubled=True)
    assert (tree.height, tree.leaves, [tree.width(level) for level in range(3)]) == (
        2,
        12,
        [12, 6, 1],
    )
    assert tree.real(2).tolist() == list(range(12))
