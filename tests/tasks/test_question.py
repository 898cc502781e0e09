"""A question: its price, its address and what it does to values."""

from fractions import Fraction

import numpy as np
import pytest

from accounting import every_draw
from sottovoce.domains.integers import Integers
from sottovoce.encodings.sample import Sample
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.sue import SUE
from sottovoce.plans.itemsets.padding import amplified
from sottovoce.tasks.question import Address, Ask, Question
from tasks.toys import NARROW, Modulo


def test_a_question_costs_what_its_mechanism_states():
    assert NARROW.epsilon == 1.0
    assert NARROW.worst_ratio == NARROW.mechanism.worst_ratio
    assert NARROW.width == 1


def test_a_question_may_state_more_but_not_less():
    assert Question(GRR(1.0, 4), epsilon=1.5).epsilon == 1.5
    with pytest.raises(ParameterError, match="spends more than the `epsilon` it states"):
        Question(GRR(2.0, 4), epsilon=1.0)


@pytest.mark.parametrize(
    "question", [NARROW, Question(OLH(1.0, 50)), Question(GRR(1.0, 3), Modulo(3, 1))]
)
def test_the_report_of_one_person_is_that_of_an_array(question):
    value = np.array([2])
    draw = 5**27
    for seed in range(20):
        stream = bytes(SeededRng(seed).bytes(4096))
        alone, array = RecordedRng(stream), RecordedRng(stream)
        packed = question.mechanism.pack(question.privatize(value, array))
        assert question.report(value, alone) == packed
        draws = np.array([draw], np.uint64)
        packed = question.mechanism.pack(question.privatize_seeded(value, draws, array))
        assert question.report(value, alone, draw) == packed
        assert alone.consumed == array.consumed


@pytest.mark.parametrize("epsilon", [-1.0, 20.5, float("nan"), "1"])
def test_an_impossible_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="`epsilon` must be a number above 0 and at most 20"):
        Question(GRR(1.0, 4), epsilon=epsilon)


def test_an_encoding_that_hides_lowers_the_price():
    mechanism = GRR(2.0, 8)
    sampled = Question(mechanism, Sample(4, 4), epsilon=1.0)
    assert sampled.worst_ratio == 1 + (mechanism.worst_ratio - 1) / 4
    assert exact.log(sampled.worst_ratio) <= 1


def test_one_message_of_a_permanent_response_reveals_less_than_all():
    rappor = SUE(1.0, 4, second_keep=3 << 62, second_flip=1 << 62)
    assert Question(rappor).epsilon_once == rappor.epsilon_once < 1.0
    assert NARROW.epsilon_once == NARROW.epsilon


def test_a_question_has_one_address():
    assert NARROW.at(0, 0) is NARROW
    with pytest.raises(ParameterError, match="no choice of members"):
        NARROW.at(1, 0)
    with pytest.raises(ParameterError, match="no slots"):
        NARROW.at(0, 1)
    assert NARROW.addresses(lambda slot: 0) == [Address()]
    assert NARROW.addresses(lambda slot: 0, 3) == [Address(slot=3)]
    people = np.arange(5)
    assert NARROW.assigned(people, None) == [(Address(), people)]
    assert list(NARROW.representatives()) == [NARROW]


def test_a_question_is_neither_a_choice_nor_a_bundle():
    assert (NARROW.slots, NARROW.slots_of(0), NARROW.member_count) == (1, 1, 1)
    assert not NARROW.in_slots
    assert not NARROW.bundled
    assert not NARROW.has_coin
    assert NARROW.shared_mechanism is None
    with pytest.raises(ParameterError, match="not all randomised by one mechanism"):
        NARROW.privatize_by_coin(np.arange(2), SeededRng(1))


def test_values_are_encoded_then_randomised():
    question = Question(GRR(1.0, 4), Modulo(4, 1))
    values = np.array([0, 3, 7])
    expected = GRR(1.0, 4).privatize(np.array([1, 0, 0]), SeededRng(2))
    assert question.privatize(values, SeededRng(2)).tolist() == expected.tolist()


def test_a_domain_with_too_many_values_is_refused():
    NARROW.check_domain(Integers(0, 3))
    with pytest.raises(ParameterError, match="serves 4 values, but the task's domain has 5"):
        NARROW.check_domain(Integers(0, 4))
    Question(GRR(1.0, 4), Modulo(4, 0)).check_domain(Integers(0, 99))


def test_the_three_kinds_of_asks_are_registered():
    kinds = [Ask.kinds[kind].__name__ for kind in ("question", "choice", "bundle")]
    assert kinds == ["Question", "Choice", "Bundle"]


def test_addresses_are_ordered_by_round_member_and_slot():
    assert sorted([Address(1, 0, 0), Address(0, 1, 0), Address(0, 0, 1)]) == [
        Address(0, 0, 1),
        Address(0, 1, 0),
        Address(1, 0, 0),
    ]


def test_fakes_of_a_question_are_draws_from_its_blanket():
    law = every_draw.law(lambda rng: tuple(Question(GRR(1.0, 4)).fake_reports(1, rng)))
    assert law == {((Address(), bytes([value])),): Fraction(1, 4) for value in range(4)}


def test_fakes_of_a_question_whose_encoding_hides_are_no_likelier_than_an_answer():
    """A fake counts as one more user there: its law stays within the question's worst ratio."""
    inner = amplified(1.5, 4) - 1e-9
    question = Question(GRR(inner, 12), Sample(8, 4), 1.5)
    assert not question.blanket.drawable
    gap = question.mechanism.p - question.mechanism.q
    answers = [question.mechanism.q + gap * drawn for drawn in (0, 1 / 4)]
    fake = 1 / 12
    assert max(answers) / fake <= float(question.worst_ratio)
    assert fake / min(answers) <= float(question.worst_ratio)


def test_a_negative_number_of_fakes_is_refused():
    with pytest.raises(ParameterError, match="`count` must be a whole number of at least 0"):
        NARROW.fake_reports(-1, SeededRng(1))
