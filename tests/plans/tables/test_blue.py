"""The closed form equals dense least squares, and the golden variances are met."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.plans.tables.blue import blue, variance
from sottovoce.plans.tables.decompositions import additive, over_values

EVEN = np.ones(4)


def dense(tree, target, variances):
    """The same by weighted least squares over all nodes: minimise v c^2 so that every value sees
    its target.
    """
    nodes = [(level, node) for level in range(tree.height + 1) for node in range(tree.nodes(level))]
    asked = [one for one in nodes if np.isfinite(variances[one[0]])]
    holds = np.array([over_values(tree, {one: 1.0}) for one in asked]).T
    scale = np.sqrt([variances[level] for level, _ in asked])
    solved = np.linalg.pinv(holds / scale) @ target / scale
    return dict(zip(asked, solved, strict=True))


@pytest.mark.parametrize(
    ("size", "fanout", "variances"),
    [
        (8, 2, [1.0, 1.0, 1.0, 1.0]),
        (27, 3, [1.0, 2.0, 0.5, 1.5]),
        (25, 5, [np.inf, 1.0, 1.0]),
        (16, 4, [1e-9, 3.0, 1.0]),
        (20, 5, [2.0, np.inf, 1.0]),
    ],
)
def test_the_closed_form_is_least_squares(size, fanout, variances):
    tree, variances = Hierarchy(size, fanout), np.array(variances)
    target = np.random.default_rng(size).normal(size=tree.leaves)
    wanted, found = dense(tree, target, variances), blue(tree, target, variances)
    for (level, node), coefficient in wanted.items():
        assert found[level][node] == pytest.approx(coefficient, abs=1e-6)
    whole = {(level, node): one for level, row in enumerate(found) for node, one in enumerate(row)}
    np.testing.assert_allclose(over_values(tree, whole), target, atol=1e-9)


def test_golden_variances_of_125_values():
    tree, numbers = Hierarchy(125, 5), np.arange(1.0, 126.0)
    targets = {0.80128: np.ones(125), 9512.278: numbers, 6331.989: numbers - 63}
    for golden, target in targets.items():
        assert variance(blue(tree, target, EVEN), EVEN) == pytest.approx(golden, rel=1e-5)


@pytest.mark.parametrize(("size", "golden"), [(5, 17.5), (25, 394.6)])
def test_golden_variances_of_sums_of_numbers(size, golden):
    tree, numbers = Hierarchy(size, 5), np.arange(1.0, size + 1.0)
    variances = np.ones(tree.height + 1)
    assert variance(blue(tree, numbers, variances), variances) == pytest.approx(golden, rel=1e-3)


def test_the_best_is_never_worse_than_adding_nodes_up():
    tree, dice, ratios = Hierarchy(125, 5), np.random.default_rng(2), []
    for _ in range(600):
        low, high = sorted(dice.integers(0, 125, 2).tolist())
        nodes = additive(tree, low, high)
        ratios.append(variance(blue(tree, over_values(tree, nodes), EVEN), EVEN) / len(nodes))
    assert max(ratios) <= 1 + 1e-9
    assert np.mean(ratios) == pytest.approx(0.423, abs=0.03)


def test_single_values_must_be_asked_about():
    with pytest.raises(ParameterError):
        blue(Hierarchy(25), np.ones(25), np.array([1.0, 1.0, np.inf]))
    with pytest.raises(ParameterError):
        blue(Hierarchy(25), np.ones(24), np.ones(3))
