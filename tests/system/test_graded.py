"""Graded groups over HTTP: enrolled devices, a quarter of them Byzantine, a collector that is
killed in the middle of the round.

The answer is that of the same messages without a collector, and much nearer to honest people than
without the defence.  A device that sends a report too many, or one of another group, is refused.
"""

import json
from base64 import b64encode

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.collector.store.base import TokenRecord
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.lab import crowd
from sottovoce.lab.attacks.biased_numbers import BiasedNumbers
from sottovoce.lab.baselines.numbers.ostrich import ostrich
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.truth.metrics import jensen_shannon
from sottovoce.plans.numbers.graded_answer import groups_of
from sottovoce.wire import codec
from system.servers import Wire, bearer, open_store
from system.test_marginals import Killed

BYZANTINE = 0.25
ATTACK = BiasedNumbers(8, 2, chosen=(1, 6))
AT_ONCE = 500  # messages of one upload
MOST = 0.4  # of the divergence without the defence
SIZES = [
    pytest.param((1_200, 1.0, 32), id="small"),
    pytest.param((10_000, 2.0, 64), id="full size", marks=pytest.mark.papers),
]


class Enrolled:
    """People with tokens, a quarter of whom attack, and their messages."""

    def __init__(self, users, epsilon, buckets):
        rng = SeededRng(users)
        plan = sv.Distribution(0, 1, buckets, defence="graded")
        collection = sv.Collection(minimum=20, grace=0, enrolment=True)
        self.task = sv.Task("income", plan, epsilon, collection=collection)
        self.tokens = [f"token {number}" for number in range(users)]
        attackers = round(BYZANTINE * users)
        values = rng.generator.beta(2, 5, users - attackers)
        self.honest = np.bincount(plan.domain.indices(values), minlength=buckets) / len(values)
        self.messages = [
            *crowd.false_messages(self.task, ATTACK.crafted, rng, tokens=self.tokens[:attackers]),
            *crowd.messages(self.task, values, rng=rng, tokens=self.tokens[attackers:]),
        ]
        order = rng.generator.permutation(users).tolist()
        self.tokens = [self.tokens[place] for place in order]
        self.messages = [self.messages[place] for place in order]

    def collected(self):
        """Return what a collector with these messages has."""
        opening = self.task.opening
        batches = batches_of(self.task, opening, self.messages)
        return MemoryCollected(self.task).after(opening, batches)


class GradedSite(Killed):
    """A collector that takes messages with tokens."""

    def upload_enrolled(self, name, messages, tokens):
        """Send messages, some at a time; returns the codes of those that were refused."""
        codes = []
        for start in range(0, len(messages), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            content = {
                "reports": [b64encode(message).decode() for message in messages[part]],
                "tokens": tokens[part],
            }
            status, outcome = self.request("POST", f"/v1/tasks/{name}/reports", content)
            assert status == 200, outcome
            codes += [refusal["code"] for refusal in outcome["refused"]]
        return codes

    def answer(self, name):
        """Return the status and the answer; it takes seconds, and minutes on a busy machine."""
        wire = Wire(self.server.address, timeout=900)
        path = f"/v1/tasks/{name}/answer"
        status, said, _ = wire.request("GET", path, None, authorization=bearer("analyst"))
        wire.close()
        return status, json.loads(said)


@pytest.fixture(scope="module", params=SIZES)
def run(request, tmp_path_factory):
    """Collect from everybody; the collector is killed when half of them have been heard."""
    people = Enrolled(*request.param)
    site = GradedSite(tmp_path_factory.mktemp("site") / "data")
    store = open_store(site.folder)
    store.add_tokens(
        [TokenRecord(access.hashed(token), "enrolment", "", 0, None) for token in people.tokens]
    )
    store.close()
    try:
        document = codec.document(people.task)
        assert site.request("POST", "/v1/tasks", document, "operator")[0] == 201
        half = len(people.messages) // 2
        assert site.upload_enrolled("income", people.messages[:half], people.tokens[:half]) == []
        site.server.kill()
        refuse_others(site, people)
        assert site.upload_enrolled("income", people.messages, people.tokens) == []
        site.close({"income": site.asked("income")})
        yield site, people
    finally:
        site.server.discard()


def refuse_others(site, people):
    """Send what no honest device sends, while the round is open: all of it is refused."""
    ask = people.task.opening.ask
    last = ask.member_count - 1
    most = ask.slots_of(last)
    by_member = {}
    for place in range(len(people.messages) // 2, len(people.messages)):
        by_member.setdefault(member_of(people.messages[place]), []).append(place)
    probe, single = by_member[last][0], by_member[0][0]
    message, token = people.messages[probe], people.tokens[probe]
    length = len(message) // most
    one_more = message + message[-length:]
    assert site.upload_enrolled("income", [one_more], [token]) == ["incomplete"]
    assert site.upload_enrolled("income", [message[:-length]], [token]) == ["incomplete"]
    # The right number of reports for another group than the one of the token.
    swapped = [people.messages[single], people.messages[probe]]
    tokens = [people.tokens[probe], people.tokens[single]]
    assert site.upload_enrolled("income", swapped, tokens) == ["not-asked", "not-asked"]
    spent = people.tokens[: len(people.tokens) // 2][0]
    again = people.messages[by_member[member_of(people.messages[0])][0]]
    assert site.upload_enrolled("income", [again], [spent]) == ["token-spent"]


def member_of(message):
    """Return the member that a message is for: the number behind version, flags and length."""
    return int.from_bytes(message[8:12], "little")


def test_the_collector_was_killed_once_and_went_on(run):
    site, _ = run
    assert site.starts == 2
    assert site.server.errors() == []


def test_the_answer_is_that_of_the_same_messages_without_a_collector(run):
    site, people = run
    status, said = site.answer("income")
    assert status == 200, said
    answer = people.task.plan.step(people.collected())
    expected = json.loads(answer.to_json())
    assert said["users"] == len(people.messages)
    for key in ("attack_seen", "false_share", "graded_groups", "remark", "steps", "measures"):
        assert said[key] == expected[key], key
    assert said["attack_seen"]
    assert abs(said["false_share"] - BYZANTINE) < 0.05


def test_the_defence_removes_most_of_the_attack(run):
    _, people = run
    collected = people.collected()
    answer = people.task.plan.step(collected)
    observed = [group.observed for group in groups_of(collected)]
    defended = jensen_shannon(answer.estimate.frequencies, people.honest)
    smooth = jensen_shannon(answer.raw.estimate.frequencies, people.honest)
    plain = jensen_shannon(ostrich(observed)[0], people.honest)
    print(f"divergence {defended:.4f}; undefended EM {plain:.4f}, undefended EMS {smooth:.4f}")
    assert defended < MOST * plain
    assert defended < smooth
