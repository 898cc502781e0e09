"""Post-Pos: a clamp when a question is asked, with the raw error."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, estimate
from sottovoce.errors import ParameterError
from sottovoce.postprocess.apply import apply
from sottovoce.postprocess.post_pos import answered, post_pos


def test_a_negative_sum_becomes_0_and_keeps_its_error():
    raw = estimate(ABOVE)
    low = post_pos(raw, np.array([5, 6]))
    assert low.total == 0
    assert low.variance == raw.sum(np.array([5, 6])).variance
    assert post_pos(raw, np.array([0, 6])).total == pytest.approx(420)


def test_answers_do_not_add_up():
    raw = estimate(ABOVE)
    parts = [post_pos(raw, np.array([cell])).total for cell in (4, 6)]
    assert sum(parts) == pytest.approx(50)
    assert post_pos(raw, np.array([4, 6])).total == 0


def test_it_looks_at_raw_votes_even_after_another_method():
    assert post_pos(apply(estimate(ABOVE), "norm-sub"), np.array([0])).total == pytest.approx(500)


def test_many_sets_at_once():
    sets = np.array([[1.0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1, 1]])
    assert answered(ABOVE, sets) == pytest.approx([0.42, 0])


def test_it_is_no_method_for_a_vector():
    with pytest.raises(ParameterError, match="norm-sub"):
        apply(estimate(ABOVE), "post-pos")
