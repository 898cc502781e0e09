"""The expected errors of our method and its baselines against measured ones."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.marginals.expected_errors import compare_methods
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import MarginalsSetting, random_views
from sottovoce.lab.populations.records import movielens_like, true_table
from sottovoce.plans.marginals.view_planning import METHOD


def measured(records, order, method, epsilon, runs=2):
    """The mean squared error of raw tables, of our own as they are published."""
    sizes = (2,) * records.shape[1]
    setting, views, errors = (
        MarginalsSetting(sizes, order, method, epsilon),
        random_views(len(sizes), order, 15),
        [],
    )
    for seed in range(runs):
        model = setting.collect(records, seed)
        for view in views:
            table = model.fit(view).table if method == "pooled" else model.table(view).shares
            errors.append(((table - true_table(records, sizes, view)) ** 2).sum())
    return float(np.mean(errors))


@pytest.mark.parametrize(
    ("attributes", "order", "epsilon"),
    [(8, 3, 1.0), (5, 4, 2.0), (10, 2, 1.0)],
    ids=["many", "whole", "pairs"],
)
def test_the_ranking_is_that_of_measured_errors(attributes, order, epsilon):
    """Neighbours within a factor of 1.5 may change places; no other method may.

    The error of pooled views is an average over typical tables, and these are not: a factor of 3.
    """
    records = movielens_like(1 << 15, attributes)
    expected = compare_methods(len(records), (2,) * attributes, epsilon, order)
    found = {each.method: measured(records, order, each.method, epsilon) for each in expected}
    print({each.method: (each.squared, found[each.method]) for each in expected})
    for rank, better in enumerate(expected):
        for worse in expected[rank + 1 :]:
            factor = 3 if better.method == METHOD else 1.5
            if worse.squared > factor * better.squared:
                assert found[better.method] < found[worse.method], (better.method, worse.method)
    for each in expected:
        assert 0.4 < found[each.method] / each.squared < 2.5


def test_many_attributes_are_for_pooled_views():
    many = [each.method for each in compare_methods(1 << 18, [2] * 32, 1.0, 3)]
    assert many[:2] == [METHOD, "inp_ht"]
    assert "fc" not in many


def test_methods_that_cannot_be_asked_are_left_out():
    # 906,192 tables of six, and more than a million coefficients
    wide = compare_methods(1 << 20, [2] * 32, 1.0, 6)
    assert [each.method for each in wide] == [METHOD]


@pytest.mark.parametrize("wrong", [{"users": 0}, {"sizes": [2, 1]}, {"order": 4}, {"epsilon": 0.0}])
def test_an_impossible_setting_is_refused_by_its_name(wrong):
    settings = {"users": 1 << 16, "sizes": [2, 2, 2], "epsilon": 1.0, "order": 2, **wrong}
    with pytest.raises(ParameterError, match=f"`{next(iter(wrong))}`"):
        compare_methods(**settings)
