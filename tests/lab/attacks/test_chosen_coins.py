"""Coin choosing: attackers answer where they want, unless tokens deal their coins."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim
from sottovoce.lab.attacks.chosen_coins import ChosenCoins
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection

LETTERS = list("abcdefgh")
SURVEY = sv.Survey({"pet": LETTERS, "size": LETTERS, "home": LETTERS})
TARGET = {"pet": "c", "size": "d", "home": "e"}
SPA = SupportTarget(SURVEY.domain, (TARGET,))


def members(attack, plan=SURVEY, users=90):
    asked = sv.Task("survey", plan, epsilon=1.0).opening
    return {
        (address.member, address.slot): len(reports)
        for address, reports in attack.reports(asked, users, SeededRng(1)).items()
    }


def test_all_attackers_answer_the_members_that_they_chose():
    assert len(members(SPA)) == 3
    assert members(ChosenCoins(SPA, (1,))) == {(1, 0): 90}
    assert members(ChosenCoins(SPA, (0, 2))) == {(0, 0): 45, (2, 0): 45}


def test_a_chosen_member_gains_as_many_times_as_there_are_members():
    """All votes of 300 attackers are for one of three questions, and count three times there."""
    task = sv.Task("survey", SURVEY, epsilon=2.0)
    values = dict.fromkeys(TARGET, LETTERS * 600)
    dealt = sv.simulate(task, values, seed=1, attack=SPA, share=300 / 5100)["size"]
    chosen = sv.simulate(task, values, seed=1, attack=ChosenCoins(SPA, (1,)), share=300 / 5100)[
        "size"
    ]
    up = chosen.estimate.law.cells(1)[0].up
    expected = 600 + 300 * up * chosen.estimate.scale
    estimate, error = chosen.rows()[3]["estimate"], chosen.rows()[3]["error"]
    print("chosen", estimate, "expected", expected, "error", error, "dealt", dealt.rows()[3])
    assert abs(estimate - expected) < 5 * error
    assert abs(dealt.rows()[3]["estimate"] - expected) > 5 * error


def test_every_slot_of_a_bundle_is_answered():
    plan = sv.Joint(
        {"users": {"columns": {"age": range(8)}}, "txn": {"columns": {"amount": range(8)}}}
    )
    target = SupportTarget(plan.domain, ({"users": {"age": 3}, "txn": {"amount": 1}},))
    assert members(ChosenCoins(target, (1,)), plan, 10) == {(1, 0): 10, (1, 1): 10}


def test_all_attackers_may_answer_in_one_round():
    items = [f"i{number}" for number in range(40)]
    plan = sv.TopItems(items, 3)
    spa = SupportTarget(plan.domain, ({"i39"},))
    rounds = [ChosenCoins(spa, round_number=number) for number in (0, 2)]
    asked = sv.Task("items", plan, epsilon=2.0).opening
    assert [attack.counted_among(asked, 500, 1000) for attack in rounds] == [1000, 0]
    assert SPA.counted_among(asked, 500, 1000) == 500


def test_where_there_is_nothing_to_choose_it_says_so():
    free = sv.Task("survey", SURVEY, epsilon=1.0)
    dealt = sv.Task("survey", SURVEY, epsilon=1.0, collection=Collection(enrolment=True))
    values = dict.fromkeys(TARGET, LETTERS * 30)
    with pytest.raises(ParameterError, match="the tokens of this task deal the coins"):
        sv.simulate(dealt, values, attack=ChosenCoins(SPA, (1,)), share=0.1)
    with pytest.raises(ParameterError, match="needs `members` or `round_number`"):
        sv.simulate(free, values, attack=ChosenCoins(SPA), share=0.1)
    with pytest.raises(ParameterError, match="has no member 7"):
        sv.simulate(free, values, attack=ChosenCoins(SPA, (7,)), share=0.1)
    letters = sv.Task("letters", sv.Histogram(LETTERS), epsilon=1.0)
    aimed = ChosenCoins.aimed(Aim(letters, ("c",), members=(1,)))
    with pytest.raises(ParameterError, match="everybody is asked the same question"):
        sv.simulate(letters, LETTERS * 30, attack=aimed, share=0.1)
    assert np.isclose(aimed.counted_among(letters.opening, 7, 9), 7)
