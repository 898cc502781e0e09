"""The rules that a task and its notice share."""

import pytest

from sottovoce.core import bounds
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.subset import SubsetSelection
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.limits import (
    ENVELOPE_BYTES,
    MAX_DISTINCT,
    check_declared,
    check_description,
    check_distinct,
    check_message,
    check_name,
    check_price,
)
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import envelope


def test_names_have_one_to_two_hundred_characters():
    check_name("a")
    check_name("a" * bounds.MAX_TASK_NAME)
    with pytest.raises(ParameterError, match="`name` must be text of at most 200 characters"):
        check_name("a" * (bounds.MAX_TASK_NAME + 1))
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


def test_names_and_descriptions_show_what_they_hold():
    check_description("")
    check_description("d" * bounds.MAX_DESCRIPTION)
    with pytest.raises(ParameterError, match="`description` must be text of at most 500"):
        check_description("d" * (bounds.MAX_DESCRIPTION + 1))
    for check in (check_name, check_description):
        with pytest.raises(ParameterError, match="without control, invisible and direction"):
            check("free\u202egnihton")


def wide(size, slots=1):
    return Round(0, Bundle((Question(OUE(0.01, size)),) * slots))


def test_a_message_is_measured_before_it_is_made():
    check_message(wide(8 * 960, 256), 0)
    check_message(wide(8 * 900, 256), 60)
    for asked, public_bytes in ((wide(8 * 961, 256), 0), (wide(8, 256), 1000)):
        with pytest.raises(ParameterError, match="a message of this round may have up to"):
            check_message(asked, public_bytes)
    with pytest.raises(ParameterError, match="a message of this round may have up to"):
        check_message(wide(8 * 960, 256), 0, envelope_version=2)


def test_a_longitudinal_answer_is_shorter():
    check_message(wide(8 * bounds.MAX_REMEMBERED_BYTES), 0, distinct=2)
    check_message(wide(8 * bounds.MAX_REMEMBERED_BYTES + 1), 0)
    with pytest.raises(ParameterError, match="a longitudinal answer may have up to 8,192 bytes"):
        check_message(wide(8 * bounds.MAX_REMEMBERED_BYTES + 1), 0, distinct=2)


def test_draws_one_after_another_are_few():
    subset = Question(SubsetSelection(0.01, 2048, chosen=bounds.MAX_STEPS // 2))
    check_message(Round(0, Bundle((subset, subset))), 0)
    with pytest.raises(ParameterError, match="1,536 draws one after another, and 1,024 are"):
        check_message(Round(0, Bundle((subset,) * 3)), 0)


def test_an_envelope_takes_no_more_than_is_reckoned():
    every_flag = envelope.SUBJECT | envelope.SLOT | envelope.PUBLIC
    assert set(ENVELOPE_BYTES) == set(envelope.VERSIONS)
    for number, version in envelope.VERSIONS.items():
        assert version.field_bytes(every_flag) <= ENVELOPE_BYTES[number]
