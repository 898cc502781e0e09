"""The rules that a task and its notice share."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.limits import (
    MAX_DISTINCT,
    MAX_NAME,
    check_declared,
    check_distinct,
    check_name,
    check_price,
)
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round


def test_names_have_one_to_two_hundred_characters():
    check_name("a")
    check_name("a" * MAX_NAME)
    with pytest.raises(ParameterError, match="`name` must be text of at most 200 characters"):
        check_name("a" * (MAX_NAME + 1))
    for name in ("", None, 3):
        with pytest.raises(ParameterError, match="`name` must be text that is not empty"):
            check_name(name)


def test_declared_fields_are_known_and_differ():
    check_declared(())
    check_declared(("public", "subject"))
    with pytest.raises(ParameterError, match="`declares` must be one of subject, public, not 'x'"):
        check_declared(("subject", "x"))
    with pytest.raises(ParameterError, match="the entries of `declares` must differ"):
        check_declared(("subject", "subject"))


def test_distinct_values_are_few_enough_to_pay_for():
    for distinct in (None, 1, MAX_DISTINCT):
        check_distinct(distinct)
    for distinct in (0, MAX_DISTINCT + 1, 2.0, True):
        with pytest.raises(
            ParameterError, match="`distinct` must be a whole number from 1 to 65535"
        ):
            check_distinct(distinct)


def test_a_round_costs_no_more_than_its_task_states():
    asked = Round(0, Question(GRR(0.1, 4)))
    check_price(asked, 0.1, None)
    check_price(asked, 0.3, 3)  # in decimals: three times 0.1 is 0.3
    for epsilon, distinct in ((0.09, None), (0.3, 4)):
        with pytest.raises(ParameterError, match="this round spends more than the `epsilon`"):
            check_price(asked, epsilon, distinct)
