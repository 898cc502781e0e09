"""BLUE over layers with any chances: equal to generalised least squares, and to the product of one
BLUE per column where chances are even.
"""

from itertools import product

import numpy as np
import pytest

from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.plans.tables.blue import blue
from sottovoce.plans.tables.layered_blue import (
    added_by_level,
    known_root,
    layered_blue,
    seen_precisions,
    tree_parts,
)

TREES = (Hierarchy(4, 2), Hierarchy(3, flat=True))
TARGETS = (np.array([0.0, 1.0, 1.0, 0.0]), np.array([2.0, -1.0, 5.0]))


def axes_of(trees=TREES, targets=TARGETS):
    return [
        tree_parts(tree, tuple(range(tree.height + 1)), target)
        for tree, target in zip(trees, targets, strict=True)
    ]


def layers_of(trees=TREES):
    return list(product(*(range(tree.height + 1) for tree in trees)))


def by_layer(products, precisions, trees=TREES):
    """The coefficients of the cells of every layer."""
    products = list(products)
    coefficients = []
    for layer, precision in zip(layers_of(trees), precisions, strict=True):
        cells = np.zeros([tree.nodes(level) for tree, level in zip(trees, layer, strict=True)])
        for axes in products:
            vectors = [axis[level] for axis, level in zip(axes, layer, strict=True)]
            if all(vector is not None for vector in vectors):
                cells += np.multiply.outer(*vectors)
        coefficients.append(precision * cells)
    return coefficients


def least_squares(precisions, known):
    """The unbiased coefficients of least variance: every record's cells sum to its target."""
    rows = []
    for left, right in product(range(4), range(3)):
        row = []
        for layer in layers_of():
            cells = np.zeros([tree.nodes(level) for tree, level in zip(TREES, layer, strict=True)])
            cells[TREES[0].node(left, layer[0]), TREES[1].node(right, layer[1])] = 1.0
            row.append(cells.ravel())
        rows.append(np.concatenate(row))
    design = np.array(rows)
    sizes = [
        np.prod([t.nodes(k) for t, k in zip(TREES, layer, strict=True)]) for layer in layers_of()
    ]
    variances = np.repeat(1 / precisions, sizes)
    if known:
        variances[0] = 1e-9
    target = np.multiply.outer(*TARGETS).ravel()
    scaled = design / variances
    solution = scaled.T @ np.linalg.solve(scaled @ design.T, target)
    return np.split(solution, np.cumsum(sizes)[:-1])


@pytest.mark.parametrize("known", [False, True])
def test_it_is_generalised_least_squares_whatever_the_chances(known):
    precisions = np.random.default_rng(1).uniform(0.1, 3.0, len(layers_of()))
    found = by_layer(layered_blue(axes_of(), precisions, root_known=known), precisions)
    wanted = least_squares(precisions, known)
    if known:
        found[0] = found[0] + known_root(axes_of())  # what is added for everybody
    for own, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(own.ravel(), other, atol=1e-6)


def test_layers_left_out_are_not_used():
    precisions = np.random.default_rng(2).uniform(0.1, 3.0, len(layers_of()))
    precisions[[1, 3]] = 0.0
    found = by_layer(layered_blue(axes_of(), precisions, root_known=False), precisions)
    assert not found[1].any()
    assert not found[3].any()
    total = sum(
        np.repeat(np.repeat(cells, 4 // cells.shape[0], 0), 3 // cells.shape[1], 1)
        for cells in found
    )
    np.testing.assert_allclose(total, np.multiply.outer(*TARGETS), atol=1e-12)


def test_even_chances_give_the_product_of_one_blue_per_column():
    precisions = np.ones(len(layers_of()))
    found = by_layer(layered_blue(axes_of(), precisions, root_known=False), precisions)
    alone = [
        blue(tree, target, np.ones(tree.height + 1))
        for tree, target in zip(TREES, TARGETS, strict=True)
    ]
    for layer, cells in zip(layers_of(), found, strict=True):
        wanted = np.multiply.outer(alone[0][layer[0]], alone[1][layer[1]])
        np.testing.assert_allclose(cells, wanted, atol=1e-12)


def test_one_restricted_column_needs_one_product():
    axes = axes_of(targets=(TARGETS[0], np.ones(3)))
    precisions = np.random.default_rng(3).uniform(0.1, 3.0, len(layers_of()))
    assert len(list(layered_blue(axes, precisions, root_known=True))) == 1
    assert seen_precisions(axes, precisions).shape == (2, 1)  # the middle level adds nothing


def test_levels_add_up_to_the_target():
    tree = Hierarchy(8, 2)
    target = np.random.default_rng(4).normal(size=8)
    parts = added_by_level(tree, target)
    total = sum(np.repeat(added, tree.width(level)) for level, added in parts)
    np.testing.assert_allclose(total, target)
