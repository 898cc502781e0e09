"""A survey: a public coin picks one question, which gets the whole budget."""

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.survey import Survey
from sottovoce.tasks.collected import NothingCollected

QUESTIONS = {"pet": ["cat", "dog", "none"], "garden": ["yes", "no"]}


def opening(plan, epsilon=1.0):
    return plan.step(NothingCollected(epsilon)).ask


def test_every_question_has_the_whole_epsilon():
    ask = opening(Survey(QUESTIONS), 1.5)
    assert [member.epsilon for member in ask.members] == [1.5, 1.5]
    assert [member.mechanism.size for member in ask.members] == [3, 2]
    assert ask.epsilon == 1.5  # one person answers one question


def test_weights_ask_some_questions_more_often():
    people = {"pet": ["cat"] * 9_000, "garden": ["yes"] * 9_000}
    task = sv.Task("home", Survey(QUESTIONS, weights=(2, 1)), epsilon=4.0)
    answers = sv.simulate(task, people, seed=3).questions()
    users = {name: answer.estimate.users for name, answer in answers.items()}
    assert sum(users.values()) == 9_000
    # Binomial(9000, 2/3): five standard deviations are 224.
    assert users["pet"] == pytest.approx(6_000, abs=224)
    assert all(answer.estimate.population == 9_000 for answer in answers.values())


@pytest.mark.parametrize("weights", [(1,), (1, 2, 3)])
def test_there_is_one_weight_for_every_question(weights):
    with pytest.raises(ParameterError, match="`weights` must have one entry for every question"):
        Survey(QUESTIONS, weights=weights)


def test_a_weight_of_0_is_refused():
    with pytest.raises(ParameterError, match="`weights`"):
        Survey(QUESTIONS, weights=(1, 0))


def test_a_question_that_nobody_answered_is_named():
    people = {"pet": ["cat"], "garden": ["yes"]}
    with pytest.raises(sv.errors.NoDataError, match=r"question '(pet|garden)'"):
        sv.simulate(sv.Task("home", Survey(QUESTIONS), epsilon=1.0), people, seed=1)
