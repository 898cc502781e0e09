"""Advice about marginals: the views of the plan, and the error of its formula."""

import json

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.populations.records import record_domain
from sottovoce.plans.marginals.advice import advise_marginals
from sottovoce.plans.marginals.view_planning import ViewPlanning


def test_the_views_are_those_that_the_plan_asks_about():
    for users, sizes in ((1 << 16, [2] * 16), (50_000, [2, 3, 4, 12]), (1 << 18, [2] * 8)):
        advice = advise_marginals(users, sizes, 2.0, 3)
        views = sv.Marginals(record_domain(sizes), users, 3).views(2.0)
        assert (len(views), len(views[0])) == (advice.views.views, advice.views.size)


def test_the_error_is_that_of_the_plan():
    advice = advise_marginals(1 << 16, [2] * 8, 2.0, 3)
    planning = ViewPlanning(1 << 16, (2,) * 8, 2.0, 3)
    assert advice.squared_error == planning.expected_error(planning.layout())
    assert advice.misplaced == planning.expected_distance(planning.layout())


def test_views_of_single_attributes_are_explained():
    advice = advise_marginals(1 << 12, [2] * 16, 0.2, 2)
    assert advice.views.size == 1
    assert "nothing is learnt about dependence" in str(advice)
    wider = advise_marginals(1 << 12, [2] * 16, 0.2, 2, view_size=2)
    assert wider.views.size == 2
    assert wider.misplaced > advice.misplaced


def test_more_users_and_more_epsilon_help():
    errors = [
        advise_marginals(users, [2] * 8, epsilon, 2).squared_error
        for users, epsilon in ((50_000, 1.0), (200_000, 1.0), (200_000, 2.0))
    ]
    assert errors == sorted(errors, reverse=True)


def test_advice_is_data_and_reads_as_text():
    advice = advise_marginals(1 << 16, [2, 3, 4, 2], 1.0, 2)
    content = json.loads(advice.to_json())
    assert content["squared_error"] == advice.squared_error
    assert content["views"] == {"views": 6, "size": 2, "covered": 2}
    assert "65,536 users, 4 attributes" in str(advice)
    assert 0 < advice.misplaced < 1


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("users", 0),
        ("users", 10.5),
        ("sizes", []),
        ("sizes", [2, 1]),
        ("sizes", [2, 2.5]),
        ("order", 0),
        ("order", 4),
        ("epsilon", 0.0),
        ("epsilon", float("nan")),
    ],
)
def test_an_impossible_setting_is_refused_by_its_name(name, setting):
    settings = {"users": 1 << 16, "sizes": [2, 2, 2], "epsilon": 1.0, "order": 2, name: setting}
    with pytest.raises(ParameterError, match=f"`{name}`"):
        advise_marginals(**settings)
