"""A notice: what a device needs of a task, checked as the task itself is."""

from dataclasses import replace

import pytest

from sottovoce.domains.integers import Integers
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import MAX_ROUNDS, Round
from sottovoce.tasks.round_limits import RoundLimits
from tasks.toys import NARROW

NOTICE = Notice("pets", "", "digest", b"fingerprint", Integers(0, 3), 1.0, (), Round(0, NARROW))


LIMITS = RoundLimits.of(3, [NARROW])


def test_a_round_within_the_price_and_the_limits_is_returned():
    later = Round(1, NARROW)
    assert replace(NOTICE, rounds=LIMITS).check(later) is later


def test_a_round_that_costs_more_is_refused():
    with pytest.raises(ParameterError, match="this round spends more than the `epsilon`"):
        NOTICE.check(Round(1, Question(GRR(1.1, 4))))


def test_the_opening_round_is_the_one_that_the_task_states():
    assert NOTICE.check(Round(0, NARROW)) == NOTICE.opening
    for other in (Round(0, NARROW, high=7), Round(0, Question(GRR(0.9, 4)))):
        with pytest.raises(MismatchError, match="another opening round"):
            NOTICE.check(other)


def test_a_task_that_states_no_later_rounds_has_none():
    with pytest.raises(MismatchError, match="an opening round only"):
        NOTICE.check(Round(1, NARROW))


def test_a_later_round_keeps_to_what_the_task_states():
    with pytest.raises(MismatchError, match="states 3 rounds"):
        replace(NOTICE, rounds=LIMITS).check(Round(3, NARROW))


def test_a_longitudinal_task_asks_the_same_in_any_round():
    lasting = replace(NOTICE, distinct=1)
    asked = Round(MAX_ROUNDS - 1, NARROW)
    assert lasting.check(asked) is asked
    with pytest.raises(MismatchError, match="the same question in every round"):
        lasting.check(Round(1, Question(GRR(0.9, 4))))


def test_declared_and_public_columns_agree():
    NOTICE.check_public()
    with pytest.raises(MismatchError, match="asks for no public columns"):
        replace(NOTICE, declares=("public",)).check_public()


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"epsilon": 0.0}, "`epsilon` must be a number above 0 and at most 20, not 0.0"),
        ({"name": ""}, "`name` must be text that is not empty, not ''"),
        ({"opening": Round(1, NARROW)}, "`opening` must be round number 0"),
        (
            {"description": "a\nb"},
            "`description` must be text without control, invisible and direction characters,"
            " not 'a\\nb'",
        ),
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
