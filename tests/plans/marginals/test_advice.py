import json

import numpy as np
import pytest

from papers.marginal_errors import collected, some_views, truth
from papers.records import movielens_like
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.advice import advise_marginals, coefficients


def measured(records, order, method, epsilon, runs=2):
    """The mean squared error of raw tables, of CALM's as they are published."""
    sizes = (2,) * records.shape[1]
    views, errors = some_views(len(sizes), order, 15), []
    for seed in range(runs):
        model = collected(records, sizes, order, method, epsilon, seed)
        for view in views:
            found = model.fit(view).table if method == "calm" else model.table(view).shares
            errors.append(((found - truth(records, sizes, view)) ** 2).sum())
    return float(np.mean(errors))


@pytest.mark.parametrize(
    ("attributes", "order", "epsilon"), [(8, 3, 1.0), (5, 4, 2.0), (10, 2, 1.0)], ids=["calm", "whole", "pairs"]
)
def test_the_ranking_is_that_of_measured_errors(attributes, order, epsilon):
    """Neighbours within a factor of 1.5 may change places; no other method may."""
    records = movielens_like(1 << 15, attributes)
    advice = advise_marginals(len(records), (2,) * attributes, epsilon, order)
    found = {one.method: measured(records, order, one.method, epsilon) for one in advice.methods}
    print({one.method: (one.squared, found[one.method]) for one in advice.methods})
    for place, better in enumerate(advice.methods):
        for worse in advice.methods[place + 1 :]:
            if worse.squared > 1.5 * better.squared:
                assert found[better.method] < found[worse.method], (better.method, worse.method)
    for one in advice.methods:
        if one.method != "calm":
            assert 0.5 < found[one.method] / one.squared < 2


def test_many_attributes_are_for_calm_and_few_combinations_for_the_whole_table():
    many = advise_marginals(1 << 18, [2] * 32, 1.0, 3)
    assert (many.method, many.unbiased) == ("calm", "inp_ht")
    assert "fc" not in {one.method for one in many.methods}
    few = advise_marginals(1 << 15, [2] * 5, 2.0, 4)
    assert few.method == few.unbiased == "fc"
    assert "whole record" in few.reason
    assert "biased" in many.reason


def test_methods_that_cannot_be_asked_are_left_out():
    small = advise_marginals(1_000, [2] * 4, 1.0, 2)
    assert small.views is None
    assert "calm" not in {one.method for one in small.methods}
    wide = advise_marginals(1 << 20, [2] * 32, 1.0, 6)  # 906,192 tables of six, more than a million coefficients
    assert [one.method for one in wide.methods] == ["calm"]
    assert wide.unbiased is None
    with pytest.raises(ParameterError, match="lower order"):
        advise_marginals(1_000, [2] * 32, 1.0, 6)


def test_advice_is_data_and_reads_as_text():
    advice = advise_marginals(1 << 16, [2, 3, 4, 2], 1.0, 2)
    content = json.loads(advice.to_json())
    assert content["method"] == advice.method == content["methods"][0]["method"]
    assert advice.method in str(advice)
    assert "65,536 users, 4 attributes" in str(advice)
    assert [one.squared for one in advice.methods] == sorted(one.squared for one in advice.methods)


def test_coefficients_are_counted_as_published():
    assert [coefficients([2] * 8, 2), coefficients([2] * 8, 3), coefficients([2] * 16, 3)] == [36, 92, 696]
    assert coefficients([3] * 8, 3) == 1788
    assert coefficients([2] * 32, 8) == 15_033_172


@pytest.mark.parametrize(
    "wrong",
    [
        {"users": 0},
        {"users": 10.5},
        {"sizes": []},
        {"sizes": [2, 1]},
        {"sizes": [2, 2.5]},
        {"order": 0},
        {"order": 4},
        {"epsilon": 0.0},
        {"epsilon": float("nan")},
    ],
)
def test_impossible_questions_are_refused(wrong):
    with pytest.raises(ParameterError):
        advise_marginals(**{"users": 1 << 16, "sizes": [2, 2, 2], "epsilon": 1.0, "order": 2, **wrong})
