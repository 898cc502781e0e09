"""A stated epsilon below the true one: only in writing, only where a device was built for it, and never silently."""

from dataclasses import replace
from unicodedata import normalize

import pytest

import sottovoce as sv
from sottovoce.client.ledger import DiskLedger
from sottovoce.collector.dashboard.statement import lines
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.lab.baselines.correlated import Correlated
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.product import Product
from sottovoce.tasks.task import Bundle, Choice, Question, Round
from sottovoce.wire import codec

REASON = "The attributes were public before; see our assessment of March."
RATES = [[1.0, 0.8, 0.8], [0.8, 1.0, 0.8], [0.8, 0.8, 1.0]]
PLAN = Correlated({name: ["no", "yes"] for name in "abc"}, 1.0, RATES, waiver=REASON)
TASK = sv.Task("habits", PLAN, 1.0)
HONEST = sv.Task("habits", Correlated(PLAN.domain, 1.0, RATES), PLAN.epsilon_record)
VALUE = {"a": "no", "b": "yes", "c": "yes"}


def test_a_device_refuses_by_default_and_spends_nothing():
    client = sv.Client(TASK, ":memory:")
    with pytest.raises(MismatchError, match="only if it was built to accept waivers"):
        client.answer(VALUE)
    assert client.ledger.spent == 0


def test_a_device_that_was_built_for_it_answers_and_is_charged_what_is_stated():
    client = sv.Client(TASK, ":memory:", waived=True)
    assert sv.answer(TASK, [client.answer(VALUE)])["a"].estimate.users == 1
    assert client.ledger.spent == 1.0


def test_without_a_waiver_nothing_has_to_be_accepted():
    client = sv.Client(HONEST, ":memory:")
    client.answer(VALUE)
    assert client.ledger.spent == pytest.approx(1.3719, abs=5e-5)


def test_the_refusal_does_not_depend_on_which_question_the_coin_picks():
    """Of these members only one is waived: who refuses must not tell of the coin."""
    plan = Correlated(PLAN.domain, 1.0, RATES, group=2, waiver=REASON)
    for _ in range(12):
        with pytest.raises(MismatchError):
            sv.Client(sv.Task("habits", plan, 1.0), ":memory:").answer(VALUE)


def test_a_later_round_with_a_waiver_is_refused_as_well():
    honest = Correlated(PLAN.domain, 1.0, RATES, group=1)
    client = sv.Client(sv.Task("habits", honest, 1.0), ":memory:")
    with pytest.raises(MismatchError, match="waivers"):
        client.answer(VALUE, asked=Round(1, TASK.opening.ask))


def test_a_device_with_a_network_refuses_likewise():
    document = codec.document(TASK)
    refusing = sv.Device("http://collector.example", DiskLedger(":memory:"))
    with pytest.raises(MismatchError, match="waivers"):
        refusing.answer(document, VALUE)
    assert refusing.ledger.spent == 0
    accepting = sv.Device("http://collector.example", DiskLedger(":memory:"), waived=True)
    accepting.answer(document, VALUE)
    assert accepting.ledger.spent == 1.0


def test_the_owner_is_told_what_is_weaker_what_is_true_and_who_says_so():
    client = sv.Client(TASK, ":memory:", waived=True)
    said, told = client.statement(), client.explain()
    assert said["waiver"]["statements"] == [REASON]
    assert said["waiver"]["epsilon_pure"] == pytest.approx(1.3719, abs=5e-5)
    assert "weaker than local differential privacy" in told
    assert "by a factor of at most 3.94 (epsilon 1.3719)" in told
    assert f"The operator states: “{REASON}”" in told
    assert "2.72" not in told  # the odds that do not hold


def test_whoever_reads_the_answer_is_told_too():
    told = dict(lines(codec.publish(TASK)))
    assert "3.94 (epsilon 1.3719)" in told["Reveals"]
    assert REASON in told["Waived"]
    assert "weaker guarantee" in told["Waived"]


def test_other_tasks_say_nothing_of_waivers():
    client = sv.Client(HONEST, ":memory:")
    assert client.statement()["waiver"] is None
    assert "waive" not in client.explain() + str(lines(codec.publish(HONEST)))
    assert "weaker" not in client.explain()
    assert "waiver" not in codec.document(HONEST)["opening"]["ask"]


def question(waiver=REASON, epsilon=0.5):
    """Two parts of an answer, each with a half."""
    return Question(Product(1.0, 4, (2, 2)), epsilon=epsilon, waiver=waiver)


def test_a_question_knows_both_numbers():
    made = question()
    assert made.epsilon == 0.5
    assert made.epsilon_pure == pytest.approx(1.0, abs=1e-12)
    assert exact.log(made.mechanism.worst_ratio) <= exact.stated(made.epsilon_pure)
    assert Question(GRR(1.0, 4)).epsilon_pure == pytest.approx(1.0, abs=1e-12)
    assert not Question(GRR(1.0, 4)).waived


@pytest.mark.parametrize("waiver", ["", "short", " " * 40, "x" * 1001, 7], ids=str)
def test_a_waiver_is_a_statement_in_writing(waiver):
    with pytest.raises(ParameterError, match="20 to 1000 characters"):
        question(waiver)


def test_without_a_statement_a_question_that_spends_more_is_refused():
    with pytest.raises(ParameterError, match="more than the epsilon it states"):
        question(None)


def test_there_has_to_be_something_to_waive():
    with pytest.raises(ParameterError, match="nothing to waive"):
        question(epsilon=1.0)


def test_no_waiver_covers_what_a_single_part_spends():
    """The weaker guarantee is about what parts tell of each other: it cannot hold where one alone exceeds it."""
    with pytest.raises(ParameterError, match="each alone keeps to the epsilon"):
        question(epsilon=0.49)
    with pytest.raises(ParameterError, match="each alone keeps to the epsilon"):
        Question(GRR(1.0, 4), epsilon=0.5, waiver=REASON)


def test_a_choice_and_a_bundle_are_waived_if_a_part_is():
    plain = Question(GRR(0.5, 4))
    choice, bundle = Choice((plain, question())), Bundle((plain, question()))
    assert choice.waived
    assert bundle.waived
    assert (choice.epsilon, bundle.epsilon) == (0.5, 1.0)
    assert choice.epsilon_pure == pytest.approx(1.0, abs=1e-12)
    assert bundle.epsilon_pure == pytest.approx(1.5, abs=1e-12)
    assert not Choice((plain, plain)).waived
    assert not Bundle((plain,)).waived


def test_no_longitudinal_task_states_a_weaker_guarantee():
    with pytest.raises(ParameterError, match="not known to add up"):
        sv.Task("habits", PLAN, 2.0, distinct=2)


def test_the_statement_travels_in_the_document_and_changes_the_digest():
    document = codec.document(TASK)
    assert document["opening"]["ask"]["waiver"] == REASON
    other = Correlated(PLAN.domain, 1.0, RATES, waiver=REASON + " Indeed.")
    assert codec.digest(document) != codec.digest(codec.document(sv.Task("habits", other, 1.0)))
    stripped = codec.parse(codec.canonical(document))
    del stripped["opening"]["ask"]["waiver"]
    with pytest.raises(ParameterError, match="more than the epsilon it states"):
        codec.notice(stripped)


def test_a_statement_is_kept_in_one_form():
    apart = normalize("NFD", "Das Amt für Prüfung hat zugestimmt.")
    made = question(apart)
    assert made.waiver == normalize("NFC", apart) != apart
    written = codec.document(replace(made))
    written["waiver"] = apart
    with pytest.raises(CodecError):
        codec.round_({**codec.document(Round(0, made)), "ask": written})
