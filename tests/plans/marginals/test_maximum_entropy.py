import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.marginal_table import project
from sottovoce.plans.marginals.maximum_entropy import MAX_SWEEPS, fit_table, fit_tables, maximal

BITS = {0: 2, 1: 2, 2: 2}
PAIRS = [(0, 1), (0, 2), (1, 2)]


def pairwise(seed):
    """A distribution of three bits with interactions of pairs only: the one of most entropy for its
    pairs.
    """
    fields, couplings = np.split(np.random.default_rng(seed).normal(0, 0.4, 6), 2)
    signs = 1 - 2 * np.indices((2, 2, 2))
    energy = sum(fields[one] * signs[one] for one in range(3))
    energy = energy + sum(
        couplings[place] * signs[a] * signs[b] for place, (a, b) in enumerate(PAIRS)
    )
    weights = np.exp(energy)
    return weights / weights.sum()


@pytest.mark.parametrize("seed", range(5))
def test_a_distribution_of_pairwise_interactions_is_recovered_from_its_pairs(seed):
    joint = pairwise(seed)
    made = fit_table((0, 1, 2), BITS, {pair: project(joint, (0, 1, 2), pair) for pair in PAIRS})
    np.testing.assert_allclose(made.table, joint, atol=1e-6)
    assert made.residual < 1e-7


def test_independent_attributes_are_multiplied():
    shares = {(0,): np.array([0.2, 0.8]), (1,): np.array([0.5, 0.3, 0.2])}
    made = fit_table((0, 1), {0: 2, 1: 3}, shares)
    np.testing.assert_allclose(made.table, np.outer(shares[0,], shares[1,]), atol=1e-12)
    assert made.sweeps == 2


def test_cells_that_are_zero_stay_zero():
    joint = np.array([[0.5, 0.0], [0.2, 0.3]])
    made = fit_table((0, 1, 2), BITS, {(0, 1): joint, (1, 2): np.full((2, 2), 0.25)})
    assert (made.table[0, 1] == 0).all()


def test_contradictions_are_told_by_their_residual():
    made = fit_table(
        (0, 1),
        {0: 2, 1: 2},
        {(0, 1): np.array([[0.5, 0.0], [0.0, 0.5]]), (0,): np.array([0.9, 0.1])},
    )
    assert made.residual > 0.1
    assert made.sweeps <= MAX_SWEEPS


def test_negative_cells_are_clipped_and_totals_are_one():
    made = fit_table((0,), {0: 3}, {(0,): np.array([0.8, 0.4, -0.2])})
    np.testing.assert_allclose(made.table, [2 / 3, 1 / 3, 0])


def test_an_attribute_without_a_view_and_a_table_of_too_many_cells_are_refused():
    with pytest.raises(ParameterError, match="no view"):
        fit_table((0, 1), {0: 2, 1: 2}, {(0,): np.array([0.5, 0.5])})
    with pytest.raises(ParameterError, match="cells"):
        fit_table(
            tuple(range(21)), dict.fromkeys(range(21), 2), {tuple(range(21)): np.ones((2,) * 21)}
        )


def test_rows_are_fitted_as_each_is_alone_and_each_stops_by_itself():
    joints = [pairwise(1), np.full((2, 2, 2), 0.125), pairwise(2)]
    alone = [
        fit_table((0, 1, 2), BITS, {pair: project(one, (0, 1, 2), pair) for pair in PAIRS})
        for one in joints
    ]
    marginals = {
        pair: np.stack([project(one, (0, 1, 2), pair) for one in joints]) for pair in PAIRS
    }
    together = fit_tables((0, 1, 2), BITS, marginals)
    assert [one.sweeps for one in together] == [one.sweeps for one in alone]
    assert together[1].sweeps == 1 < together[0].sweeps
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.table, other.table, atol=1e-14)
        assert one.residual == pytest.approx(other.residual, abs=1e-14)


def test_contradictions_cost_none_of_the_total():
    """A cell that one marginal forbids and another wants is lost on the way; the table still sums
    to 1.
    """
    wanted = {
        (0, 1): np.array([[0.5, 0.0], [0.0, 0.5]]),
        (1, 2): np.array([[0.0, 0.0], [0.5, 0.5]]),
    }
    made = fit_table((0, 1, 2), BITS, {**wanted, (0,): np.array([0.5, 0.5])})
    assert made.table.sum() == pytest.approx(1)
    assert made.residual > 0.1


def test_of_nested_views_the_largest_count():
    assert maximal([(1,), (0, 1), (1, 2), (2,), (0, 1)]) == [(0, 1), (1, 2)]
