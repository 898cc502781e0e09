"""From messages to answers on one machine, and the contracts that plans rely on."""

from dataclasses import dataclass

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.answers.answer import Answer
from sottovoce.arrays import Values
from sottovoce.client.client import Client
from sottovoce.domains.integers import Integers
from sottovoce.encodings.base import Encoding
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import CodecError, MismatchError, NoDataError
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.wire import codec
from sottovoce.wire.envelope import Envelopes

PETS = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)


def messages(task, values):
    return [Client(task, ":memory:").answer(value) for value in values]


def test_a_message_seen_twice_counts_once():
    sent = messages(PETS, ["cat", "dog", "dog"])
    assert sv.answer(PETS, sent * 5).estimate.users == 3
    assert sv.answer(PETS, b"".join(sent)).estimate.users == 3


def test_no_reports_is_an_error():
    with pytest.raises(NoDataError):
        sv.answer(PETS, [])


def test_a_report_of_another_task_is_refused():
    dearer = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.1)
    with pytest.raises(MismatchError, match="another task"):
        sv.answer(PETS, messages(dearer, ["cat"]))


@pytest.mark.parametrize("cut", [1, 10, 43, 44])
def test_a_cut_message_is_refused(cut):
    with pytest.raises(CodecError):
        sv.answer(PETS, [messages(PETS, ["cat"])[0][:cut]])


def test_left_over_bytes_and_impossible_payloads_are_refused():
    (message,) = messages(PETS, ["cat"])
    with pytest.raises(CodecError):
        sv.answer(PETS, [message + b"\0"])
    with pytest.raises(CodecError):
        sv.answer(PETS, [message[:-1] + b"\3"])  # there are three values
    with pytest.raises(CodecError):
        sv.answer(PETS, [b"\2" + message[1:]])  # version 2


def test_undeclared_fields_are_refused():
    content = codec.digest_bytes(codec.document(PETS))
    plain = {
        "digest": content,
        "round": 0,
        "members": np.array([0]),
        "ids": np.zeros((1, 16), np.uint8),
    }
    payload = np.zeros((1, 1), np.uint8)
    subject = Envelopes(**plain, payloads=payload, subjects=np.ones((1, 16), np.uint8)).write()
    slot = Envelopes(**plain, payloads=payload, slots=np.array([0])).write()
    public = Envelopes(**plain, payloads=payload, public=(b"{}",)).write()
    member = Envelopes(**{**plain, "members": np.array([1])}, payloads=payload).write()
    for undeclared in (subject, slot, public):
        with pytest.raises(MismatchError, match="does not declare"):
            sv.answer(PETS, [undeclared])
    with pytest.raises(CodecError, match="member or slot"):
        sv.answer(PETS, [member])


def test_declared_subjects_reach_the_scores():
    task = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0, declares=("subject",))
    rows = Envelopes(
        digest=codec.digest_bytes(codec.document(task)),
        round=0,
        members=np.zeros(3, np.int64),
        ids=np.arange(48, dtype=np.uint8).reshape(3, 16),
        payloads=np.array([[0], [1], [1]], np.uint8),
        subjects=np.arange(48, dtype=np.uint8).reshape(3, 16),
    ).write()
    collected = MemoryCollected(task).after(task.opening, batches_of(task, task.opening, [rows]))
    subjects, scores = collected.scores(Address(), np.array([0.0, 1.0, 0.0]))
    grr = task.opening.ask.mechanism
    assert bytes(subjects[2]) == bytes(range(32, 48))
    assert scores == pytest.approx(
        [-grr.q / (grr.p - grr.q), (1 - grr.q) / (grr.p - grr.q), (1 - grr.q) / (grr.p - grr.q)]
    )


def test_a_survey_asks_each_person_one_question_with_the_whole_budget():
    task = sv.Task("survey", sv.Survey({"pet": ["cat", "dog"], "age": range(18, 28)}), epsilon=1.0)
    sent = messages(task, [{"pet": "cat", "age": 20}] * 300)
    assert len({len(message) for message in sent}) == 1, "all members pack to one length"
    answers = sv.answer(task, sent)
    assert answers["pet"].estimate.users + answers["age"].estimate.users == 300
    assert answers["pet"].estimate.population == answers["age"].estimate.population == 300
    assert answers["age"].estimate.epsilon == 1.0


def test_padding_of_a_shorter_member_must_be_zero():
    task = sv.Task("survey", sv.Survey({"pet": ["cat", "dog"], "age": range(18, 100)}), epsilon=1.0)
    short = next(
        one
        for one in iter(lambda: messages(task, [{"pet": "cat", "age": 20}])[0], None)
        if one[8] == 0
    )
    with pytest.raises(CodecError, match="padding"):
        sv.answer(task, [short[:-1] + b"\1"])


@dataclass(frozen=True)
class Halve(Encoding, kind="test_halve"):
    """The block of ``width`` numbers that a value lies in, or its place in one block, others
    apart.
    """

    width: int
    block: int

    def __call__(self, values: Values, rng: object) -> Values:
        blocks = values // self.width
        if self.block < 0:
            return blocks
        return np.where(blocks == self.block, values % self.width, self.width)

    def outputs(self, domain):
        return -(-domain.size // self.width) if self.block < 0 else self.width + 1


@dataclass(frozen=True)
class Blocks(Family, kind="test_blocks"):
    """One question for every block: too many to list."""

    width: int
    count: int
    epsilon: float

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Question:
        return Question(GRR(self.epsilon, self.width + 1), Halve(self.width, index))


@dataclass(frozen=True)
class Zoom(Plan, kind="test_zoom"):
    """Half of the people say which block, others look into the fullest one; some are asked twice,
    half each.
    """

    domain: Integers
    width: int

    def step(self, collected):
        half, blocks = exact.UNIT // 2, self.domain.size // self.width
        if not collected.rounds:
            return Round(
                0, Question(GRR(collected.epsilon, blocks), Halve(self.width, -1)), high=half
            )
        fullest = int(np.argmax(collected.estimate(Address(0)).totals))
        fine = Question(GRR(collected.epsilon, self.width + 1), Halve(self.width, fullest))
        halved = Question(GRR(collected.epsilon / 2, self.width + 1), Halve(self.width, fullest))
        if len(collected.rounds) == 1:
            return Round(
                1, Choice((fine, Bundle((halved, halved))), (3, 1)), low=half, high=half + half // 2
            )
        if len(collected.rounds) == 2:
            any_block = Choice(Blocks(self.width, blocks, collected.epsilon / 2))
            return Round(2, Bundle((halved, any_block)), low=half + half // 2)
        assert collected.tally(Address(1, 1, 0)).users == collected.tally(Address(1, 1, 1)).users
        assert sum(
            collected.tally(Address(2, block, 1)).users for block in range(blocks)
        ) == collected.users(2)
        labels = (*(str(fullest * self.width + place) for place in range(self.width)), "elsewhere")
        return Answer("zoom", labels, collected.estimate(Address(1, 0)), "grr")

    def later_rounds(self, opening):
        return RoundLimits.of(3, [opening.ask])


ZOOM = sv.Task("zoom", Zoom(Integers(0, 15), 4), epsilon=2.0)


def people(count):
    return np.random.default_rng(1).choice(16, count, p=np.array([1] * 9 + [8] + [1] * 6) / 23)


def test_a_plan_of_several_rounds_runs_in_the_laboratory():
    answer = sv.simulate(ZOOM, people(60_000), seed=3)
    assert answer.labels[1] == "9"
    shares = answer.estimate.frequencies
    assert shares[1] == pytest.approx(8 / 23, abs=0.05)
    assert answer.estimate.population > answer.estimate.users


def test_the_same_plan_runs_with_real_clients_and_replays_exactly():
    """Every device answers in the one round that its coin belongs to, with one charge."""
    devices = [(Client(ZOOM, ":memory:"), int(value)) for value in people(400)]
    collected, sent, asked = MemoryCollected(ZOOM), [], ZOOM.plan.step(MemoryCollected(ZOOM))
    while isinstance(asked, Round):
        text = codec.canonical(codec.document(asked))
        received = codec.round_(codec.parse(text))  # what travels is the document
        fresh = [
            client.answer(value, asked=received)
            for client, value in devices
            if received.asks(client.coin)
        ]
        sent += fresh
        again = collected.after(asked, batches_of(ZOOM, asked, reversed(fresh)))
        collected = collected.after(asked, batches_of(ZOOM, asked, fresh))
        asked = ZOOM.plan.step(collected)
        replayed = ZOOM.plan.step(again)
        if isinstance(asked, Round):
            assert codec.document(asked) == codec.document(replayed)
    assert all(client.ledger.spent == 2.0 for client, _ in devices), "everyone answered once"
    answer = sv.answer(ZOOM, sent)
    np.testing.assert_array_equal(answer.estimate.votes, asked.estimate.votes)
