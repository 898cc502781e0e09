"""A bundle: several reports of one person, whose budgets add up."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Address, Question
from tasks.toys import NARROW, WIDE


def test_budgets_add_up_in_decimals():
    question = Question(GRR(0.1, 4))
    assert Bundle((question,) * 3).epsilon == 0.3  # binary fractions would give 0.30000000000000004
    assert Bundle((NARROW, WIDE)).epsilon == Bundle((NARROW, WIDE)).epsilon_once == 1.5


def test_a_bundle_has_a_slot_for_every_part():
    bundle = Bundle((NARROW, WIDE))
    assert bundle.slots == bundle.slots_of(0) == 2
    assert bundle.width == WIDE.width
    assert bundle.in_slots
    assert not bundle.bundled
    assert not bundle.has_coin
    assert Bundle((NARROW, Choice((NARROW, WIDE)))).has_coin
    assert list(bundle.representatives()) == [NARROW, WIDE]


def test_a_slot_that_is_not_there_is_refused():
    bundle = Bundle((NARROW, Choice((NARROW, WIDE))))
    assert bundle.at(0, 0) is NARROW
    assert bundle.at(1, 1) is WIDE
    for member, slot in ((0, -1), (0, 2), (1, 0), (2, 1)):
        with pytest.raises(ParameterError):
            bundle.at(member, slot)


def test_a_person_answers_in_every_slot_with_a_coin_for_each():
    bundle = Bundle((Choice((NARROW, WIDE)), NARROW, Choice((NARROW, WIDE))))
    coins = {0: exact.UNIT - 1, 2: 0}
    assert bundle.addresses(coins.__getitem__) == [
        Address(member=1, slot=0),
        Address(member=0, slot=1),
        Address(member=0, slot=2),
    ]


def test_everybody_is_assigned_to_every_slot_once():
    bundle = Bundle((NARROW, Choice((NARROW, WIDE))))
    people = np.arange(40)
    assigned = bundle.assigned(people, SeededRng(1))
    for slot in range(2):
        chosen = [some for address, some in assigned if address.slot == slot]
        assert sorted(np.concatenate(chosen).tolist()) == people.tolist()


def test_impossible_parts_are_refused():
    with pytest.raises(ParameterError, match="`parts` must have from 1 to 256 entries, not 0"):
        Bundle(())
    for part in (Bundle((NARROW,)), Choice((Bundle((NARROW,)),))):
        with pytest.raises(ParameterError, match="must be questions, or choices of questions"):
            Bundle((NARROW, part))


def test_a_fake_makes_the_reports_of_a_person_one_after_another():
    bundle = Bundle((NARROW, Choice((WIDE, NARROW))))
    reports = bundle.fake_reports(50, SeededRng(6))
    assert [address.slot for address, _ in reports] == [0, 1] * 50
    assert {address.member for address, _ in reports} == {0, 1}
    assert {len(payload) for _, payload in reports} == {bundle.width}
    assert bundle.coin_share(1, 1) == 0.5
    assert bundle.fake_share(0, 0) == 1.0
    assert bundle.fake_share(0, 1) + bundle.fake_share(1, 1) == 1.0


def test_no_fakes_are_an_empty_list():
    assert Bundle((NARROW, NARROW)).fake_reports(0, SeededRng(7)) == []
