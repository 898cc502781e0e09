"""A notice: what a device needs of a task, checked as the task itself is."""

from dataclasses import replace

import pytest

from sottovoce.domains.integers import Integers
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from tasks.toys import NARROW

NOTICE = Notice("pets", "", "digest", Integers(0, 3), 1.0, (), Round(0, NARROW))


def test_a_round_within_the_price_is_returned():
    later = Round(1, NARROW)
    assert NOTICE.check(later) is later


def test_a_round_that_costs_more_is_refused():
    with pytest.raises(ParameterError, match="this round spends more than the `epsilon`"):
        NOTICE.check(Round(1, Question(GRR(1.1, 4))))


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"epsilon": 0.0}, "`epsilon` must be a number above 0 and at most 20, not 0.0"),
        ({"name": ""}, "`name` must be text that is not empty, not ''"),
        ({"declares": ("age",)}, "`declares` must be one of subject, public, not 'age'"),
        ({"distinct": 0}, "`distinct` must be a whole number from 1 to 65535, not 0"),
        ({"distinct": 2}, "this round spends more than the `epsilon` that its task states"),
        ({"epsilon": 0.5}, "this round spends more than the `epsilon` that its task states"),
    ],
)
def test_each_setting_is_refused_by_its_own_rule(settings, rule):
    with pytest.raises(ParameterError) as caught:
        replace(NOTICE, **settings)
    assert str(caught.value) == rule
