"""Selection: what is chosen errs least on what it was tried on."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, estimate
from sottovoce.errors import ParameterError
from sottovoce.postprocess.apply import methods
from sottovoce.postprocess.select import membership, select


def test_all_methods_are_tried_and_the_least_error_wins():
    found = select(estimate(ABOVE), [np.array([0, 1]), np.array([5, 6])])
    assert set(found.errors) == {*methods(), "post-pos"}
    assert found.errors[found.method] == min(found.errors.values())
    assert select(estimate(ABOVE), [np.array([0])], among=("norm",)).method == "norm"


def test_base_errs_as_its_variance_says():
    """Two sets of two values each: the mean square over 20,000 repetitions is the variance, within
    five sigma.
    """
    found = select(estimate(ABOVE), [np.array([0, 6])], among=("base",), repetitions=20_000)
    stated = (2 * 3 + 0.47) / 1000
    assert found.errors["base"] == pytest.approx(stated, rel=5 * np.sqrt(2 / 20_000))


def test_sets_become_rows():
    assert membership([np.array([0, 2]), np.array([], np.int64)], 3).tolist() == [
        [1, 0, 1],
        [0, 0, 0],
    ]
    with pytest.raises(ParameterError):
        select(estimate(ABOVE), [])
