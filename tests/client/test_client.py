"""The device's side: one answer, one charge, the same bytes for ever."""

import json
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

import sottovoce as sv
from client.values import watched_value
from sottovoce.client import client as device
from sottovoce.client import held, ledger_file
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.core import coin
from sottovoce.errors import BudgetError, CodecError, MismatchError, ParameterError
from sottovoce.lab.baselines.segment_pairs import SegmentPairs
from sottovoce.lab.checks import RecordedRng
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.itemsets.set_questions import ask_how_many
from sottovoce.tasks.budget import Spend, SpendingWindow
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, envelope

TASK = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)


def test_an_answer_is_bytes_that_decode_to_one_report(tmp_path):
    message = Client(TASK, tmp_path / "ledger").answer("dog")
    assert sv.answer(TASK, [message]).estimate.users == 1


def test_a_second_answer_is_refused_and_a_retry_repeats_the_bytes(tmp_path):
    client = Client(TASK, tmp_path / "ledger")
    message = client.answer("dog")
    for _ in range(3):
        with pytest.raises(BudgetError, match="already answered"):
            client.answer("cat")
    reopened = Client(TASK, tmp_path / "ledger")
    with pytest.raises(BudgetError):
        reopened.answer("dog")
    assert reopened.resend() == message
    assert reopened.ledger.spent == 1.0


def test_nothing_to_resend_is_an_error():
    with pytest.raises(BudgetError, match="has not answered"):
        Client(TASK, ":memory:").resend()


@pytest.mark.parametrize("value", ["bird", None, 3, float("nan"), ["cat"], ""])
def test_a_value_outside_the_domain_is_answered_like_any_other_and_never_named(value):
    """Silence would give the value away; the application hears of it, without the value."""
    said = []
    client = Client(TASK, ":memory:", notify=said.append)
    message = client.answer(value)
    assert len(message) == len(Client(TASK, ":memory:").answer("cat"))
    assert client.ledger.entries() == [Spend(client.notice.digest, 1.0)]
    assert len(said) == 1
    assert not isinstance(value, str) or not value or value not in said[0]


def test_the_cap_is_for_all_tasks_together(tmp_path):
    ledger = DiskLedger(tmp_path / "ledger", cap=2.5)
    tasks = [
        sv.Task(f"task {number}", sv.Histogram(["a", "b"]), epsilon=1.0) for number in range(3)
    ]
    Client(tasks[0], ledger).answer("a")
    Client(tasks[1], ledger).answer("b")
    with pytest.raises(BudgetError, match=r"only 0\.5 is left"):
        Client(tasks[2], ledger).answer("a")
    assert ledger.spent == 2.0
    assert len(ledger.entries()) == 2


def test_ten_tenths_fit_under_a_cap_of_one(tmp_path):
    """In floating point they would come to 0.9999999999999999, and seven of them to more than
    0.7.
    """
    ledger = DiskLedger(tmp_path / "ledger", cap=1.0)
    for number in range(10):
        Client(sv.Task(f"task {number}", sv.Histogram(["a", "b"]), epsilon=0.1), ledger).answer("a")
    assert ledger.spent == 1.0
    with pytest.raises(BudgetError):
        Client(sv.Task("one more", sv.Histogram(["a", "b"]), epsilon=0.001), ledger).answer("a")


def test_a_cap_cannot_be_raised_by_opening_the_ledger_again(tmp_path):
    DiskLedger(tmp_path / "ledger", cap=2.0).close()
    with pytest.raises(ParameterError):
        DiskLedger(tmp_path / "ledger", cap=9.0)
    assert DiskLedger(tmp_path / "ledger").cap == 2.0


def test_two_threads_get_one_charge_and_one_message(tmp_path):
    """One of them charges, randomises and keeps; the others repeat its bytes."""
    path = tmp_path / "ledger"
    DiskLedger(path).close()

    def attempt(_):
        client = Client(TASK, path)
        try:
            return client.answer("cat")
        except BudgetError:
            return client.resend()

    with ThreadPoolExecutor(8) as pool:
        messages = set(pool.map(attempt, range(24)))
    assert len(messages) == 1
    assert DiskLedger(path).spent == 1.0


def test_no_true_value_is_ever_written_to_the_ledger(tmp_path):
    task = sv.Task("rare", sv.Histogram(["zebra-zebra", "quagga-quagga"]), epsilon=1.0)
    Client(task, tmp_path / "ledger").answer("quagga-quagga")
    content = (tmp_path / "ledger").read_bytes()
    # All labels stand in what is remembered of the task, and none anywhere else.
    assert content.count(b"quagga-quagga") == content.count(b"zebra-zebra") == 1


def test_a_document_that_spends_more_than_it_states_is_refused():
    """The keep threshold is raised by one: the client recomputes the ratio and does not answer."""
    text = codec.canonical(codec.document(TASK))
    keep = re.search(r'"keep":"(\d+)"', text).group(1)
    Client(text, ":memory:")
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        Client(text.replace(keep, str(int(keep) + 1)), ":memory:")


def test_a_round_dearer_than_its_task_is_refused():
    dear = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=2.0).opening
    with pytest.raises(ParameterError, match="more than the `epsilon`"):
        Client(TASK, ":memory:").answer("cat", asked=dear)


def test_a_round_for_other_coins_is_refused_without_a_charge():
    client = Client(TASK, ":memory:")
    coin = client.coin
    elsewhere = (
        Round(0, TASK.opening.ask, low=0, high=coin) if coin else Round(0, TASK.opening.ask, low=1)
    )
    with pytest.raises(MismatchError):
        client.answer("cat", asked=elsewhere)
    assert client.ledger.spent == 0


def test_a_question_without_an_answer_for_every_value_is_refused_without_a_charge():
    """Four labels and a mechanism for two: only the others would fall silent, which would give them
    away.
    """
    content = codec.document(
        sv.Task("pets", sv.Histogram(["cat", "dog", "fish", "newt"]), epsilon=1.0)
    )
    two = codec.document(sv.Task("two", sv.Histogram(["cat", "dog"]), epsilon=1.0))["opening"]
    for value in ("cat", "newt"):
        client = Client({**content, "opening": two}, ":memory:")
        with pytest.raises(ParameterError, match="the mechanism serves"):
            client.answer(value)
        assert client.ledger.spent == 0


def test_a_question_about_a_missing_attribute_is_refused_without_a_charge():
    survey = codec.document(
        sv.Task("s", sv.Survey({"a": ["x", "y"], "b": ["x", "y"]}), epsilon=1.0)
    )
    text = (
        codec.canonical(survey)
        .replace('"column":0', '"column":7')
        .replace('"column":1', '"column":7')
    )
    client = Client(text, ":memory:")
    with pytest.raises(ParameterError, match="attribute"):
        client.answer({"a": "x", "b": "y"})
    assert client.ledger.spent == 0
    plain = {**survey, "opening": codec.document(TASK)["opening"]}
    with pytest.raises(ParameterError, match="encoding"):
        Client(plain, ":memory:").answer({"a": "x", "b": "y"})


def test_a_coin_is_drawn_once_and_kept(tmp_path):
    coins = {Client(TASK, tmp_path / "ledger").coin for _ in range(3)}
    assert len(coins) == 1
    assert Client(TASK, ":memory:").coin not in coins


def test_a_document_of_another_version_is_refused():
    content = codec.document(TASK)
    with pytest.raises(CodecError, match="version"):
        Client({**content, "version": 2}, ":memory:")


def test_it_explains_itself_without_saying_the_answer():
    client = Client(TASK, ":memory:")
    client.answer("fish")
    text = client.explain()
    assert "2.72" in text
    assert "epsilon 1" in text
    assert "asks your device once" in text
    assert "your answer or, by chance, another" in text
    assert "no minimum group" in text
    assert "spent 1 of 10" in text
    assert "fish" not in text


def test_it_explains_what_the_collector_promises_and_what_the_windows_leave():
    promised = Collection(minimum=500, retention=30, enrolment=True)
    task = sv.Task(
        "pets", TASK.plan, 1.0, description="Which pet lives with you?", collection=promised
    )
    client = Client(task, DiskLedger(":memory:", windows=[SpendingWindow(86_400, 2.0, 4)]))
    client.answer("fish")
    text = client.explain()
    for words in (
        "Which pet",
        "fewer than 500 people",
        "30 days",
        "enrolment token",
        "spent 1 in 1",
        "2 in 4 answers",
    ):
        assert words in text


def test_the_statement_is_the_same_for_machines():
    client = Client(sv.Task("pets", TASK.plan, 1.0, collection=Collection(minimum=500)), ":memory:")
    said = json.loads(json.dumps(client.statement()))
    assert (said["task"], said["mechanisms"], said["epsilon"]) == ("pets", ["grr"], 1.0)
    assert said["collector"]["minimum"] == 500
    assert said["collector"]["retention_days"] == 90
    assert said["longitudinal"] is None
    assert said["device"] == {"spent": 0.0, "cap": 10.0, "windows": [], "collectors": None}


def test_a_statement_names_every_mechanism_that_the_coin_may_pick():
    survey = sv.Task(
        "s", sv.Survey({"a": ["x", "y"], "b": [str(n) for n in range(500)]}), epsilon=1.0
    )
    said = Client(survey, ":memory:").statement()
    assert said["mechanisms"] == ["affine", "grr"]


FOODS = ["bread", "milk", "tea", "oats", "rye", "figs"]
SETS = sv.Task("foods", sv.TopItems(FOODS, 2), 1.0)


def test_it_explains_what_is_done_with_a_set():
    client = Client(SETS, ":memory:")
    assert "only one of your items, drawn at random, or none." in client.explain()
    later = Round(1, ask_how_many(1.0, len(FOODS), ((0,), (1,), (2,))), SETS.opening.high)
    assert "only the number of your items" in client.explain(later)
    assert client.statement()["encodings"] == ["sample"]


def test_it_explains_what_is_done_with_a_text():
    text = Client(sv.Task("words", sv.HeavyHitters(sv.Strings(20)), 1.0), ":memory:").explain()
    assert "only a part of your answer" in text
    assert "sends a random code" in text


def test_it_explains_a_question_about_one_item_without_listing_all():
    """Ten thousand questions that are alike are one in words."""
    task = sv.Task("songs", sv.AdaptiveTopItems(range(10_000), 400_000, 1_000, rounds=2), 4.0)
    assert isinstance(task.opening.ask, Choice)
    text = Client(task, ":memory:").explain()
    assert "only whether you have one particular item; a public random draw picks which." in text


def test_a_person_without_items_answers_like_anybody():
    clients = (Client(SETS, ":memory:") for _ in range(200))
    asked = list(islice((client for client in clients if SETS.opening.asks(client.coin)), 3))
    messages = [
        client.answer(value) for client, value in zip(asked, ([], ["tea"], FOODS), strict=True)
    ]
    assert len({len(message) for message in messages}) == 1


def test_one_random_subject_joins_the_slots_of_a_message_and_no_two_messages():
    task = sv.Task("pairs", SegmentPairs(sv.Bits(16), 2, segments=2), 2.0)
    assert task.declares == ("subject",)
    subjects = []
    for _ in range(8):
        (group,) = envelope.read([Client(task, ":memory:").answer(7)], task.opening.width)
        assert len(group) == task.opening.slots > 1
        assert len({subject.tobytes() for subject in group.subjects}) == 1, "the same in all slots"
        subjects.append(group.subjects[0].tobytes())
    assert len(set(subjects)) == 8, "and different between users"
    assert all(any(subject) for subject in subjects)


def test_messages_have_one_length_whatever_the_value():
    assert (
        len({len(Client(TASK, ":memory:").answer(value)) for value in ("cat", "dog", "fish")}) == 1
    )


def test_a_locked_ledger_is_an_error_and_nothing_is_spent(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_file, "BUSY_SECONDS", 0.01)
    path = tmp_path / "ledger"
    client = Client(TASK, path)
    other = sqlite3.connect(path, isolation_level=None)
    client.ledger.coin(client.notice.digest)
    other.execute("begin exclusive")
    with pytest.raises(BudgetError, match="nothing was charged"):
        client.answer("cat")
    other.execute("rollback")
    assert client.ledger.spent == 0


def test_a_file_that_is_no_ledger_is_a_clear_error(tmp_path):
    (tmp_path / "ledger").write_bytes(b"not a database at all" * 100)
    for path in (tmp_path / "ledger", tmp_path / "missing" / "ledger"):
        with pytest.raises(BudgetError, match="cannot be read or written"):
            Client(TASK, path)


def test_an_enrolment_token_fixes_the_coin(tmp_path):
    digest = codec.publish(TASK).digest
    expected = coin.round_coin(coin.enrolled_bytes("token of a device", digest), digest)
    assert Client(TASK, ":memory:", token="token of a device").coin == expected
    enrolled = Client(TASK, tmp_path / "ledger", "token of a device")
    assert enrolled.coin == Client(TASK, tmp_path / "ledger").coin == expected


def test_a_token_cannot_replace_a_coin(tmp_path):
    """Otherwise a device could choose between two members, and a memory would serve two
    questions.
    """
    assert Client(TASK, tmp_path / "ledger").coin
    with pytest.raises(MismatchError, match="before it got this enrolment token"):
        Client(TASK, tmp_path / "ledger", "a token").answer("cat")


SANDBOX = sv.Task("rehearsal", TASK.plan, 1.0, collection=Collection(sandbox=True))


def test_a_rehearsal_costs_nothing_and_a_retry_repeats_its_bytes(tmp_path):
    client = Client(SANDBOX, DiskLedger(tmp_path / "ledger", cap=0.1))
    message = client.answer("dog")
    assert Client(SANDBOX, tmp_path / "ledger").resend() == message
    assert client.ledger.spent == 0
    assert client.ledger.entries() == [Spend(client.notice.digest, 0.0)]
    assert sv.answer(SANDBOX, [message]).estimate.users == 1
    with pytest.raises(BudgetError, match="already answered"):
        client.answer("dog")
    assert "rehearsal" in client.explain()


def test_a_rehearsal_never_looks_at_the_value():
    said = []
    touches = []
    for value in ("bird", watched_value(touches)):
        Client(SANDBOX, ":memory:", notify=said.append).answer(value)
    assert said == []
    assert touches == []


def test_an_answer_looks_at_the_value_and_that_would_be_noticed():
    touches = []
    Client(TASK, ":memory:").answer(watched_value(touches))
    assert touches


def test_a_rehearsal_counts_in_every_window():
    ledger = DiskLedger(":memory:", windows=[SpendingWindow(60, 5.0, 1)])
    Client(SANDBOX, ledger).answer("dog")
    with pytest.raises(BudgetError, match="at most 1 times"):
        Client(TASK, ledger).answer("dog")


def test_with_a_cap_of_nothing_not_even_a_rehearsal_leaves():
    ledger = DiskLedger(":memory:", cap=0)
    for task in (SANDBOX, TASK):
        with pytest.raises(BudgetError, match="cap of this ledger is 0"):
            Client(task, ledger).answer("dog")
    assert ledger.entries() == []


def test_a_rehearsal_does_not_depend_on_the_value(monkeypatch):
    """The draws alone decide: with the same ones every value gives the same bytes."""
    stream = bytes(SeededRng(7).bytes(4096))
    for task, values in (
        (SANDBOX, ["cat", "dog", "fish"]),
        (
            sv.Task(
                "s",
                sv.Survey({"a": ["x", "y"], "b": range(9)}),
                1.0,
                collection=Collection(sandbox=True),
            ),
            [{"a": a, "b": b} for a in "xy" for b in range(9)],
        ),
        (
            sv.Task("m", sv.Mean(0.0, 10.0), 1.0, collection=Collection(sandbox=True)),
            [0.0, 3.3, 10.0],
        ),
    ):
        sent = {replayed(monkeypatch, task, value, stream) for value in values}
        assert len(sent) == 1


@pytest.mark.parametrize("distinct", [None, 2], ids=["once", "longitudinal"])
@pytest.mark.parametrize("kind", ["", "sue", "oue", "olh", "hadamard", "subset"])
def test_draws_and_lengths_do_not_depend_on_the_value(monkeypatch, kind, distinct):
    labels = [f"label {place}" for place in range(12)]
    task = sv.Task("all", sv.Histogram(labels, kind), 2.0, distinct=distinct)
    stream = bytes(SeededRng(7).bytes(4096))
    seen = {replayed(monkeypatch, task, label, stream, measure=True) for label in labels}
    assert len(seen) == 1


def replayed(monkeypatch, task, value, stream, *, measure=False):
    """What a device sends whose operating system gives these bytes, or how much it draws and
    sends.
    """
    tape = RecordedRng(stream)
    for module in (device, held):
        monkeypatch.setattr(module, "SystemRng", lambda: tape)
    message = Client(task, FixedLedger(b"\1" * 16)).answer(value)
    return (tape.consumed, len(message)) if measure else message


class FixedLedger(DiskLedger):
    """A ledger whose public coin was drawn beforehand."""

    def __init__(self, kept):
        super().__init__(":memory:")
        self.kept = kept

    def coin(self, task, enrolled=None):
        return self.kept


def test_opting_out_erases_what_could_still_be_sent_and_refunds_nothing(tmp_path):
    client = Client(TASK, tmp_path / "ledger")
    client.answer("cat")
    message, kept = client.resend(), client.ledger.coin(client.notice.digest)
    client.opt_out()
    for again in (client, Client(TASK, tmp_path / "ledger")):
        with pytest.raises(BudgetError, match="opted out"):
            again.answer("cat")
        with pytest.raises(BudgetError, match="has not answered"):
            again.resend()
    client.ledger.close()
    content = (tmp_path / "ledger").read_bytes()
    assert kept not in content
    assert message[28:] not in content
    assert DiskLedger(tmp_path / "ledger").spent == 1.0
    Client(sv.Task("other", TASK.plan, 1.0), tmp_path / "ledger").answer("cat")
