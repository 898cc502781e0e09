"""A histogram: one question, one report a person, the whole domain estimated."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.domains.bits import Bits
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.frequencies.choose_mechanism import UNSTATED_RULE, choose
from sottovoce.plans.frequencies.histogram import Histogram, mechanism_for
from sottovoce.tasks.collected import NothingCollected
from sottovoce.tasks.question import Address
from sottovoce.wire import codec


def opening_mechanism(plan, epsilon):
    return plan.step(NothingCollected(epsilon)).ask.mechanism


@pytest.mark.parametrize(
    ("size", "epsilon"), [(2, 1.0), (4, 1.0), (20, 1.0), (1_000, 1.0), (1_000, 4.0)]
)
def test_the_mechanism_with_the_least_error_is_asked(size, epsilon):
    plan = Histogram([str(number) for number in range(size)])
    assert opening_mechanism(plan, epsilon) == choose(size, epsilon).mechanism


def test_a_named_mechanism_is_taken():
    assert opening_mechanism(Histogram(["cat", "dog", "fish"], "grr"), 1.0) == GRR(1.0, 3)


def test_a_declinable_question_has_one_more_value():
    assert Histogram(["cat", "dog"], declinable=True).domain.labels[-1] == "prefer not to say"


def test_a_domain_without_labels_is_refused():
    with pytest.raises(ParameterError, match="`domain` must have a label for each value"):
        mechanism_for(Bits(8), 1.0)


def test_a_mechanism_for_numbers_is_refused():
    with pytest.raises(ParameterError, match="duchi, which randomises numbers"):
        opening_mechanism(Histogram(["cat", "dog"], "duchi"), 1.0)


def test_the_answer_is_the_estimate_of_the_mechanism():
    """The plan adds nothing to, and takes nothing from, what the mechanism estimates."""
    task = sv.Task("pets", Histogram(["cat", "dog", "fish"], "grr"), epsilon=1.0)
    mechanism = GRR(1.0, 3)
    reports = mechanism.privatize(np.repeat([0, 1, 2], [50, 30, 20]), SeededRng(4))
    collected = MemoryCollected(task).after(task.opening, {Address(): ReportBatch(reports)})
    answer = task.plan.step(collected)
    direct = mechanism.estimate(mechanism.tally(reports))
    assert answer.labels == ("cat", "dog", "fish")
    assert np.array_equal(answer.estimate.votes, direct.votes)
    assert np.array_equal(answer.estimate.variance, direct.variance)


def test_the_default_rule_is_stated_by_the_document_and_read_again():
    """Twenty values at epsilon 1: subset selection errs least, and the document says why it is."""
    task = sv.Task("values", Histogram(range(20)), epsilon=1.0)
    content = codec.parse(codec.canonical(codec.document(task)))
    assert content["plan"]["mechanism"] == "least variance"
    assert content["opening"]["ask"]["mechanism"]["kind"] == "subset"
    assert codec.task(content) == task
    content["plan"]["mechanism"] = ""  # as documents from before have it: another task
    with pytest.raises(CodecError, match="not canonical"):
        codec.task(content)


@pytest.mark.parametrize(
    "plan", [Histogram(range(20), ""), sv.Survey({"a": range(20), "b": range(20)}, mechanism="")]
)
def test_without_a_name_documents_mean_what_they_meant(plan):
    task = sv.Task("values", plan, epsilon=1.0)
    asked = {question.mechanism for question in task.opening.ask.representatives()}
    assert asked == {choose(20, 1.0, UNSTATED_RULE).mechanism}
    content = codec.parse(codec.canonical(codec.document(task)))
    assert content["plan"]["mechanism"] == ""
    assert codec.task(content) == task


def test_the_default_rule_chooses_for_every_question_of_a_survey():
    plan = sv.Survey({"few": range(2), "more": range(20)})
    asked = plan.step(NothingCollected(1.0)).ask
    assert [question.mechanism.kind for question in asked.representatives()] == ["grr", "subset"]
    assert plan.advise(1_000, 1.0).to_dict()["mechanism"] == "subset"
