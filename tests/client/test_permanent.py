"""The same question again and again: one charge, one permanent response a value, and no more than
was paid for.
"""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.core.packing import unpack_bits
from sottovoce.domains.integers import Integers
from sottovoce.errors import BudgetError, MismatchError, ParameterError
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

LABELS = [f"label {place}" for place in range(6)]
PERMANENT = sv.Task("same", Tracking(LABELS, 1000, "oue"), 4.0, distinct=2)
TRACKED = sv.Task("where", Tracking(LABELS, 1000), 4.0, distinct=2)


def epoch(task, number):
    return Round(number, task.opening.ask)


class WatchedLedger(DiskLedger):
    """A ledger in memory that tells which permanent responses it has given."""

    def __init__(self):
        super().__init__(":memory:")
        self.responses = set()

    def remember(self, *arguments):
        response = super().remember(*arguments)
        self.responses.add(response)
        return response


def payload(message):
    return message[44:]


def test_the_whole_task_is_charged_once_at_the_first_answer():
    client = Client(TRACKED, ":memory:")
    for number in range(5):
        client.answer(LABELS[0], asked=epoch(TRACKED, number))
        assert client.ledger.spent == 4.0
    assert len(client.ledger.entries()) == 1


def test_every_round_is_answered_once_and_keeps_its_own_bytes(tmp_path):
    client = Client(TRACKED, tmp_path / "ledger")
    sent = [client.answer(LABELS[0], asked=epoch(TRACKED, number)) for number in range(3)]
    for number in range(3):
        with pytest.raises(BudgetError, match="already answered this round"):
            client.answer(LABELS[1], asked=epoch(TRACKED, number))
    reopened = Client(TRACKED, tmp_path / "ledger")
    assert [reopened.resend(number) for number in range(3)] == sent
    assert reopened.resend() == sent[2]
    assert len({message[28:44] for message in sent}) == 3, "report ids are fresh"


def test_a_ledger_that_cannot_pay_for_all_distinct_values_is_not_charged_for_one():
    client = Client(TRACKED, DiskLedger(":memory:", cap=3.9))
    with pytest.raises(BudgetError):
        client.answer(LABELS[0])
    assert client.ledger.spent == 0


def test_one_value_has_one_permanent_response_over_restarts(tmp_path):
    sent = set()
    for number in range(20):
        client = Client(PERMANENT, tmp_path / "ledger")
        sent.add(payload(client.answer(LABELS[3], asked=epoch(PERMANENT, number))))
        client.ledger.close()
    assert len(sent) == 1


def test_two_values_have_two_responses_and_a_third_repeats_the_last_one_used():
    client = Client(PERMANENT, WatchedLedger())
    told = [0, 1, 0, 2, 1, 3, 4, 0]
    sent = [
        payload(client.answer(LABELS[place], asked=epoch(PERMANENT, n)))
        for n, place in enumerate(told)
    ]
    first, second = sent[0], sent[1]
    assert sent == [first, second, first, first, second, second, second, first]
    assert client.ledger.responses == {first, second}


def test_devices_have_responses_of_their_own():
    sent = {payload(Client(PERMANENT, ":memory:").answer(LABELS[0])) for _ in range(40)}
    assert len(sent) > 5


def test_averaging_a_thousand_epochs_leads_to_the_permanent_response_and_no_further():
    """Exactly one permanent response exists; the mean of the reports is within 5 sigma of what is
    sent of its bits.
    """
    client = Client(TRACKED, WatchedLedger())
    sent = [
        payload(client.answer(LABELS[2], asked=epoch(TRACKED, number))) for number in range(1000)
    ]
    (permanent,) = client.ledger.responses
    bits = unpack_bits(np.frombuffer(permanent, np.uint8)[None, :], 6)[0]
    means = unpack_bits(np.frombuffer(b"".join(sent), np.uint8).reshape(1000, -1), 6).mean(axis=0)
    expected = np.where(bits, 0.75, 0.25)
    assert np.abs(means - expected).max() < 5 * np.sqrt(0.1875 / 1000), (means, expected)


def test_the_responses_of_the_memory_follow_the_mechanism():
    """Over 400 devices: the held bit is permanently 1 as often as keep says, another one as often
    as flip.

    The broken twin takes the other chance: it would be seen in every bit.
    """
    mechanism, devices = PERMANENT.opening.ask.mechanism, 400
    rows = [payload(Client(PERMANENT, ":memory:").answer(LABELS[1])) for _ in range(devices)]
    bits = unpack_bits(np.frombuffer(b"".join(rows), np.uint8).reshape(devices, -1), 6).mean(axis=0)
    for place, mean in enumerate(bits):
        chance, other = (mechanism.p, mechanism.q) if place == 1 else (mechanism.q, mechanism.p)
        print("bit", place, "is set in", mean, "expected", chance)
        assert abs(mean - chance) < 5 * np.sqrt(chance * (1 - chance) / devices)
        assert abs(mean - other) > 5 * np.sqrt(other * (1 - other) / devices)


def test_another_question_under_the_same_task_is_refused_without_a_charge():
    """A memory answers one question: others would draw more from the same secret than was paid
    for.
    """
    client = Client(TRACKED, ":memory:")
    other = Round(1, sv.Task("where", Tracking(LABELS, 9, "oue"), 4.0, distinct=2).opening.ask)
    with pytest.raises(MismatchError, match="the same question"):
        client.answer(LABELS[0], asked=other)
    assert client.ledger.spent == 0


def test_a_survey_stays_with_the_member_that_the_coin_picked():
    """The coin of the choice is that of round 0 in every round."""
    task = sv.Task("s", sv.Survey({"a": ["x", "y"], "b": range(9)}), 2.0, distinct=1)
    for _ in range(8):
        client = Client(task, ":memory:")
        members = {
            client.answer({"a": "x", "b": 3}, asked=epoch(task, number))[8:12]
            for number in (0, 1, 2, 500, 65535)
        }
        assert len(members) == 1


def test_too_many_values_to_remember_are_refused_without_a_charge():
    asked = Round(0, Question(AffineResponse(1.0, (1 << 32) + 1, 2)))
    content = codec.document(sv.Task("n", sv.Histogram(range(4)), 1.0, distinct=1))
    wide = {"opening": codec.document(asked), "domain": codec.document(Integers(0, 1 << 32))}
    client = Client({**content, **wide}, ":memory:")
    with pytest.raises(ParameterError, match=r"2\^32"):
        client.answer(7)
    assert client.ledger.spent == 0


def test_a_value_outside_the_domain_is_answered_and_charged_as_any_other():
    client = Client(TRACKED, WatchedLedger())
    outside = client.answer("elsewhere")
    inside = Client(TRACKED, ":memory:").answer(LABELS[0])
    assert len(outside) == len(inside)
    assert client.ledger.spent == 4.0
    assert len(client.ledger.responses) == 1


def test_opting_out_erases_secret_and_memory(tmp_path):
    client = Client(PERMANENT, tmp_path / "ledger")
    client.answer(LABELS[0])
    secret = client.ledger.secret(client.notice.digest)
    with closing(sqlite3.connect(tmp_path / "ledger")) as book:
        tags = [tag for (tag,) in book.execute("select tag from memo")]
    assert tags
    client.opt_out()
    with pytest.raises(BudgetError, match="opted out"):
        client.answer(LABELS[0], asked=epoch(PERMANENT, 1))
    assert client.ledger.spent == 4.0
    client.ledger.close()
    content = (tmp_path / "ledger").read_bytes()
    assert secret not in content
    assert not any(tag in content for tag in tags)


def test_it_says_what_a_life_and_what_one_report_costs():
    client = Client(TRACKED, ":memory:")
    lasting = client.statement()["longitudinal"]
    assert lasting["distinct"] == 2
    assert lasting["epsilon_response"] == 2.0
    assert 0 < lasting["epsilon_once"] < 2.0
    assert lasting["epsilon_once"] == TRACKED.opening.ask.mechanism.epsilon_once
    text = client.explain()
    for words in (
        "in every round",
        "epsilon 4",
        "2 different values",
        "epsilon 2 for each",
        "changed",
    ):
        assert words in text


def test_a_longitudinal_rehearsal_is_free_in_every_round():
    task = sv.Task("where", TRACKED.plan, 4.0, distinct=2, collection=Collection(sandbox=True))
    client = Client(task, DiskLedger(":memory:", cap=0.1))
    for number in range(5):
        client.answer(LABELS[0], asked=epoch(task, number))
    assert client.ledger.spent == 0
    assert "costs nothing" in client.explain()
    assert "pay" not in client.explain()
