"""What the later rounds of a task may be."""

import pytest

import sottovoce as sv
from sottovoce.encodings.attribute import Attribute
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import MAX_ROUNDS, Round
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.wire import codec
from tasks.toys import NARROW, WIDE

PART = Question(GRR(1.0, 4), Attribute(0))
LIMITS = RoundLimits(3, 1, ("grr",), ("attribute",))


def test_limits_are_those_of_the_questions_that_stand_for_all():
    assert RoundLimits.of(2, [NARROW]) == RoundLimits(2, 1, ("grr",))
    both = RoundLimits.of(5, [Choice((NARROW, PART)), WIDE])
    assert both == RoundLimits(5, WIDE.width, ("grr", "oue"), ("attribute",))


@pytest.mark.parametrize(
    "asked", [Round(1, PART), Round(2, NARROW), Round(2, Choice((PART, PART)))]
)
def test_a_round_within_the_limits_passes(asked):
    LIMITS.check(asked)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (Round(3, PART), "the task states 3 rounds, and there is no round 3 in it"),
        (Round(1, Question(GRR(1.0, 300))), "at most 1 bytes in later rounds, and this round asks"),
        (Round(1, Choice((PART, WIDE))), "at most 1 bytes in later rounds"),
    ],
)
def test_a_round_outside_of_the_limits_is_refused(asked, reason):
    with pytest.raises(MismatchError, match=reason):
        LIMITS.check(asked)


def test_a_mechanism_or_an_encoding_that_is_not_listed_is_refused():
    wide = RoundLimits(3, 100, ("grr",), ())
    with pytest.raises(MismatchError, match="a mechanism that the task lacks"):
        wide.check(Round(1, WIDE))
    with pytest.raises(MismatchError, match="an encoding that the task lacks"):
        wide.check(Round(1, PART))


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ((1, 1, ("grr",)), "`count` must be a whole number from 2 to 65536, not 1"),
        ((MAX_ROUNDS + 1, 1, ("grr",)), "`count` must be a whole number from 2 to 65536"),
        ((2, 0, ("grr",)), "`width` must be a whole number from 1 to"),
        ((2, 1, ()), "`mechanisms` must have at least 1 entry"),
        ((2, 1, ("oue", "grr")), "`mechanisms` must be sorted and differ"),
        ((2, 1, ("grr",), ("size", "size")), "`encodings` must be sorted and differ"),
    ],
)
def test_each_setting_is_refused_by_its_own_rule(settings, rule):
    with pytest.raises(ParameterError, match=rule):
        RoundLimits(*settings)


PLANS = {
    "top items": (sv.TopItems(range(40), 4), 3),
    "few top items": (sv.TopItems(range(6), 4), 2),
    "itemsets": (sv.Itemsets(range(40), 8), 5),
    "adaptive": (sv.AdaptiveTopItems(range(40), 10_000, 2, rounds=3, holdout=20), 6),
    "a histogram": (sv.Histogram(["a", "b"]), None),
    "the same again": (sv.Tracking(["a", "b"], 9), None),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_with_several_rounds_states_them_in_its_document(name):
    plan, count = PLANS[name]
    task = sv.Task("t", plan, 1.0, distinct=1 if plan.longitudinal else None)
    content = codec.document(task)
    notice = codec.publish(task)
    assert (content["rounds"]["count"] if "rounds" in content else None) == count
    assert notice.rounds == task.rounds
    assert codec.task(content) == task


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", ["top items", "few top items", "itemsets", "adaptive"])
def test_every_round_that_a_plan_asks_lies_within_what_it_stated(name, epsilon, monkeypatch):
    """The rounds of a whole simulated search, as a device would see them."""
    plan, _ = PLANS[name]
    task = sv.Task("t", plan, epsilon)
    notice = codec.publish(task)
    asked = []
    step = type(plan).step

    def watched(self, collected):
        outcome = step(self, collected)
        if isinstance(outcome, Round):
            asked.append(outcome)
        return outcome

    monkeypatch.setattr(type(plan), "step", watched)
    people = [
        [person % 7, person % 5, person % 40 % plan.domain.items.size] for person in range(4000)
    ]
    people = [[item for item in items if item < plan.domain.items.size] for items in people]
    sv.simulate(task, people, seed=1)
    assert len({one.number for one in asked}) > 1
    for one in asked:
        notice.check(codec.round_(codec.document(one)))


def test_a_task_whose_limits_are_not_those_of_its_plan_is_refused_by_a_collector():
    content = codec.document(sv.Task("t", PLANS["top items"][0], 1.0))
    with pytest.raises(CodecError, match="not canonical"):
        codec.task({**content, "rounds": {**content["rounds"], "count": 9}})
