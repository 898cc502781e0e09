from math import comb, prod

import numpy as np
import pytest

from plans.marginals.drawn_views import drawn
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.components import PooledComponents
from sottovoce.plans.marginals.covering import covers
from sottovoce.plans.marginals.view_planning import (
    CoveringLayout,
    ViewPlanning,
    choose_covering,
)


def test_views_contain_every_pair_unless_single_attributes_are_better():
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        planning = ViewPlanning(21_574, (2,) * 16, epsilon, 2)
        views = planning.views()
        layout = planning.layout()
        single = CoveringLayout(16, 1, 1)
        if layout.size == 1:
            pairs = ViewPlanning(21_574, (2,) * 16, epsilon, 2, view_size=2)
            assert planning.expected_distance(single) < planning.expected_distance(pairs.layout())
        else:
            assert covers(views, 16, 2)
    assert layout.size > 2


def test_more_users_and_more_epsilon_allow_larger_views():
    sizes = [
        ViewPlanning(users, (2,) * 16, epsilon, 2).layout().size
        for users, epsilon in ((2_000, 0.2), (50_000, 1.0), (50_000, 4.0), (1 << 24, 4.0))
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] > 2


def test_the_variance_of_a_component_is_that_of_pooled_views():
    """All pairs of equal attributes: the formula, and the weights of a collection by GRR."""
    users = 60_000
    joint = np.full((2,) * 5, 1 / 32)
    planning = ViewPlanning(users, joint.shape, 1.0, 2, method="pooled")  # equal shares
    layout = CoveringLayout(10, 2, 2)
    views = choose_covering(layout, 5)
    pooled = PooledComponents(drawn(joint, views, users, 1.0, np.random.default_rng(1)), (2,) * 5)
    for attributes in ((0,), (1, 3)):
        stated = planning.variance(layout, tuple(joint.shape[one] for one in attributes))
        # The formula draws people with replacement, which is a little more.
        assert pooled.variances[attributes] == pytest.approx(stated, rel=0.03)


def test_a_component_in_no_view_errs_as_much_as_it_is_strong():
    planning = ViewPlanning(10_000, (2,) * 6, 1.0, 3)
    pairs = CoveringLayout(15, 2, 2)
    triples = CoveringLayout(comb(6, 3), 3, 3)
    assert planning.risk(pairs, (2, 2, 2)) > planning.risk(triples, (2, 2, 2))
    assert planning.risk(pairs, (2, 2, 2)) == planning.risk(CoveringLayout(6, 1, 1), (2, 2, 2))


def test_the_asked_size_is_taken_and_an_impossible_one_refused():
    assert ViewPlanning(5_000, (2,) * 6, 0.2, 2, view_size=2).layout() == CoveringLayout(15, 2, 2)
    with pytest.raises(ParameterError, match="`view_size`"):
        ViewPlanning(5_000, (200,) * 6, 1.0, 2, view_size=2).layout()
    with pytest.raises(ParameterError, match="`view_size`"):
        ViewPlanning(100, (2,) * 16, 1.0, 2, view_size=2).layout()


def test_few_users_are_asked_about_single_attributes():
    assert len(ViewPlanning(30, (2,) * 16, 1.0, 3).views()) == 16


def test_mixed_attributes_are_averaged_over_their_tables():
    mixed = ViewPlanning(50_000, (2, 2, 9), 1.0, 2)
    layout = CoveringLayout(3, 2, 2)
    tables = [ViewPlanning(50_000, (2, 2, 9), 1.0, 2).expected_error(layout)]
    assert tables[0] == mixed.expected_error(layout)
    assert 0 < mixed.expected_distance(layout) <= 1
    many = ViewPlanning(50_000, (2, 3, 4, 5, 6) * 12, 1.0, 4)
    assert many.layout().views * prod((2,)) > 0


@pytest.mark.parametrize(
    "wrong", [{"users": 0}, {"order": 9}, {"epsilon": 0.0}, {"view_size": 9}, {"view_size": -1}]
)
def test_impossible_settings_are_refused_by_their_name(wrong):
    settings = {"users": 1 << 16, "sizes": (2,) * 8, "epsilon": 1.0, "order": 3, **wrong}
    with pytest.raises(ParameterError, match=f"`{next(iter(wrong))}`"):
        ViewPlanning(**settings)


def test_documents_of_the_earlier_rule_keep_their_views():
    """The rules differ in how even shares are taken to be, and in ties."""
    people = {"users": 20_000, "sizes": (2,) * 17, "epsilon": 2.0, "order": 2}
    assert ViewPlanning(**people, method="pooled").layout().size == 3
    assert ViewPlanning(**people).layout().size == 2
    with pytest.raises(ParameterError, match="`method` must be one of"):
        ViewPlanning(**people, method="calm")
