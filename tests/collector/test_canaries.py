"""Canaries: made like messages of people, sent once, found in the batch, and what they detect."""

from math import comb

import pytest

from collector.people import text
from collector.sending import held, states
from collector.shuffled import Chain, envelopes_of, plain_message, shuffled_for
from sottovoce.collector import batches, canaries, key_files
from sottovoce.core.base64url import text_of
from sottovoce.errors import ParameterError, StateError, UnavailableError
from sottovoce.web.problems import RequestError

VALUES = [3, 3, 5, 8]


@pytest.fixture
def chain():
    return Chain.of(2)


@pytest.fixture
def task(collector, chain):
    return publish(collector, chain)


def publish(collector, chain, **settings):
    task = shuffled_for(collector, chain, **settings)
    collector.create(text(task), toml=False)
    chain.push(collector, task)
    return task


def top_up(collector, task, count):
    published = collector.find(task.name)
    return canaries.top_up(collector.store, collector.folder, published, count)


def counts(collector, task):
    return collector.store.canary_counts(collector.find(task.name).digest, 0)


def deliver(collector, chain, task, sealed):
    people = [plain_message(task, envelopes_of(task, value)) for value in VALUES]
    mixed = chain.mix(task, [*sealed, *chain.seal(collector, task, people)])
    for number, body in chain.parts(task, mixed).items():
        batches.receive(collector.store, collector.find(task.name), (0, number), body)
    collector.advance()


@pytest.mark.parametrize("has_issuer", [False, True])
def test_canaries_travel_are_found_and_are_not_counted(collector, chain, has_issuer):
    issuer = None
    if has_issuer:
        made = key_files.make_issuer(collector.folder)
        issuer = text_of(made.public_key.data)
    task = publish(collector, chain, users=2, issuer=issuer)
    outbox = []
    assert top_up(collector, task, 5) == 5
    published = collector.find(task.name)
    assert canaries.send_unsent(collector.store, published, outbox.append) == 5
    length = {len(message) for message in outbox}
    people = chain.seal(collector, task, [bytes(len(_plain(task)))])
    assert length == {len(people[0])}, "no hop can tell them by their length"
    mixed = chain.mix(task, outbox[:4])
    for number, body in chain.parts(task, mixed).items():
        batches.receive(collector.store, published, (0, number), body)
    collector.advance()
    assert (counts(collector, task).sent, counts(collector, task).found) == (5, 4)
    assert collector.find(task.name).last.users == 0
    assert collector.store.refusals(published.digest) == {}


def _plain(task):
    from sottovoce.wire.shuffled_message import MessageFormat

    return bytes(MessageFormat.of(task, task.opening).message_bytes)


def test_the_answer_is_that_of_the_people_alone(collector, chain, task):
    outbox = []
    top_up(collector, task, 3)
    canaries.send_unsent(collector.store, collector.find(task.name), outbox.append)
    deliver(collector, chain, task, outbox)
    assert states(collector, task.name) == ["sealed"]
    assert held(collector, task.name) == {3: 2, 5: 1, 8: 1}
    assert counts(collector, task).found == 3


def test_a_canary_that_was_not_acknowledged_is_sent_again(collector, chain, task):
    outbox = []
    published = collector.find(task.name)

    def failing(sealed):
        if len(outbox) == 2:
            raise UnavailableError("the first hop cannot be reached")
        outbox.append(sealed)

    assert top_up(collector, task, 4) == 4
    with pytest.raises(UnavailableError):
        canaries.send_unsent(collector.store, published, failing)
    assert (counts(collector, task).made, counts(collector, task).sent) == (4, 2)
    assert top_up(collector, task, 4) == 0, "as many as wanted are there"
    assert canaries.send_unsent(collector.store, published, outbox.append) == 2
    assert len(set(outbox)) == 4
    assert canaries.send_unsent(collector.store, published, outbox.append) == 0


def test_canaries_need_keys_an_open_round_and_room(collector, chain):
    early = shuffled_for(collector, chain, name="early")
    collector.create(text(early), toml=False)
    with pytest.raises(RequestError, match="not all keys"):
        top_up(collector, early, 1)
    full = publish(collector, Chain.of(1), name="full", users=4, quota=6)
    with pytest.raises(ParameterError, match="must leave room for 4 people"):
        top_up(collector, full, 3)
    assert top_up(collector, full, 2) == 2
    collector.close("full", at_once=True)
    with pytest.raises(StateError, match="no open round"):
        top_up(collector, full, 5)
    with pytest.raises(ParameterError, match="`count`"):
        top_up(collector, full, 0)


def test_the_chance_of_detection_is_exact():
    for messages in (1, 5, 12):
        for sent in range(messages + 1):
            for dropped in range(messages + 1):
                left = comb(messages - sent, dropped) / comb(messages, dropped)
                assert canaries.detection(messages, sent, dropped) == pytest.approx(1 - left)


def test_published_chances_of_detection():
    assert canaries.detection(100_000, 200, 1_000) == pytest.approx(0.866, abs=1e-3)
    assert canaries.detection(100_000, 200, 5_000) == pytest.approx(0.99997, abs=1e-5)
