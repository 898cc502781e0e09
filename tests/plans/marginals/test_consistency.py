from math import sqrt

import numpy as np
import pytest

from plans.marginals.agreement import disagreement
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.consistency import agree, agree_on, make_consistent, overlaps
from sottovoce.plans.marginals.marginal_table import project

SIZES = {0: 2, 1: 3, 2: 2, 3: 4, 4: 2}
VIEWS = [(0, 1, 2), (1, 2, 3), (2, 3, 4), (0, 3, 4), (1, 4)]
EVEN = dict.fromkeys(VIEWS, 1.0)


def truth(seed=0):
    joint = (
        np.random.default_rng(seed)
        .dirichlet(np.ones(np.prod(list(SIZES.values()))))
        .reshape(tuple(SIZES.values()))
    )
    return {view: project(joint, tuple(SIZES), view) for view in VIEWS}


def noisy(tables, dice, deviation=0.05):
    return {
        view: table + deviation * dice.standard_normal(table.shape)
        for view, table in tables.items()
    }


def test_after_one_pass_all_views_agree_and_sum_to_one():
    tables = noisy(truth(), np.random.default_rng(1))
    assert disagreement(tables) > 0.1
    made = agree(tables, EVEN)
    assert disagreement(made) < 1e-12
    assert all(table.sum() == pytest.approx(1, abs=1e-12) for table in made.values())


def shared(views):
    return [overlap.attributes for overlap in overlaps(tuple(views))]


def test_the_sets_that_several_views_share_are_closed_under_intersection():
    assert shared([(0, 1, 2), (1, 2, 3)]) == [(), (1, 2)]
    assert shared(VIEWS) == [(), (0,), (1,), (2,), (3,), (4,), (1, 2), (2, 3), (3, 4)]


def test_without_the_smaller_sets_views_still_disagree():
    made = noisy(truth(), np.random.default_rng(2))
    for overlap in overlaps(tuple(VIEWS)):
        if len(overlap.attributes) > 1:
            agree_on(made, overlap, EVEN)
    assert disagreement(made) > 0.01


def test_views_that_agree_stay_as_they_are():
    tables = truth()
    made = agree(tables, EVEN)
    for view, table in tables.items():
        np.testing.assert_allclose(made[view], table, atol=1e-14)


def errors_of_agreement(before=lambda table: table, runs=2_000):
    """What agreement is off by over many collections, each view changed by ``before``."""
    tables, dice = truth(), np.random.default_rng(3)
    collections = {
        view: np.broadcast_to(table, (runs, *table.shape)) for view, table in tables.items()
    }
    changed = {view: before(table) for view, table in noisy(collections, dice).items()}
    made = agree(changed, EVEN)
    return {view: made[view] - table for view, table in tables.items()}


def bias(errors):
    """The largest mean error of any cell, in its standard errors."""
    return max(
        np.abs(one.mean(axis=0) / (one.std(axis=0) / sqrt(len(one)))).max()
        for one in errors.values()
    )


def test_agreement_keeps_estimates_unbiased_and_makes_them_more_precise():
    errors = errors_of_agreement()
    assert bias(errors) < 4.5
    cells = sum(one[0].size for one in errors.values())
    assert sum((one**2).mean(axis=0).sum() for one in errors.values()) < 0.8 * 0.05**2 * cells


def test_the_same_check_catches_cells_clipped_before_they_agree():
    assert bias(errors_of_agreement(before=lambda table: np.maximum(table, 0.0))) > 4.5


def test_two_views_are_averaged_by_the_precision_of_their_sums():
    one, other = np.array([[0.5, 0.1], [0.1, 0.3]]), np.full((2, 2, 2, 2), 1 / 16)
    made = agree({(0, 1): one, (0, 2, 3, 4): other}, {(0, 1): 1.0, (0, 2, 3, 4): 1.0})
    # 2 cells behind each of the first, 8 of the second: weights 0.8 and 0.2
    assert made[(0, 1)].sum(axis=1) == pytest.approx([0.8 * 0.6 + 0.2 * 0.5, 0.8 * 0.4 + 0.2 * 0.5])


def test_a_view_of_more_users_weighs_more():
    one, other = np.array([0.6, 0.4]), np.array([0.5, 0.5])
    made = agree({(0,): one, (0, 1): np.outer(other, [0.5, 0.5])}, {(0,): 1.0, (0, 1): 6.0})
    assert made[(0,)] == pytest.approx([(0.6 + 3 * 0.5) / 4, (0.4 + 3 * 0.5) / 4])


def test_repetitions_leave_little_below_zero_and_no_disagreement():
    tables = noisy(truth(), np.random.default_rng(4), deviation=0.03)
    raw, made = agree(tables, EVEN), make_consistent(tables, EVEN, rounds=20)
    assert disagreement(made) < 1e-12
    assert (
        min(table.min() for table in made.values()) > min(table.min() for table in raw.values()) / 5
    )


def test_collections_on_one_axis_are_what_each_is_alone():
    dice = np.random.default_rng(5)
    several = [noisy(truth(), dice, deviation=0.03) for _ in range(3)]
    together = make_consistent(
        {view: np.stack([one[view] for one in several]) for view in VIEWS}, EVEN
    )
    for row, alone in enumerate(several):
        for view, table in make_consistent(alone, EVEN).items():
            np.testing.assert_allclose(together[view][row], table, atol=1e-14)


def test_a_negative_number_of_repetitions_is_refused():
    with pytest.raises(ParameterError):
        make_consistent(truth(), EVEN, rounds=-1)
