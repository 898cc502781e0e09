"""Canaries: made like messages of people, sent once, found in the batch, and what they detect."""

import random
import shutil
from math import comb, sqrt

import pytest

from collector.people import Clock, text
from collector.sending import held, states
from collector.shuffled import Chain, envelopes_of, plain_message, shuffled_for
from sottovoce.collector import batches, canaries, key_files, opening
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
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


# --- hops that lie ---

MESSAGES, CANARIES, TOUCHED = 100, 36, 1  # of one batch, of which the hop touches 1 %
BATCHES = 100
SIGMAS = 3


class Batch:
    """A batch of people and canaries behind the hop, and a store in which it is not there yet."""

    def __init__(self, folder):
        self.folder, self.chain = folder, Chain.of(1)
        collector = Collector(SqliteStore(folder / "collector.db"), folder, Clock())
        people = MESSAGES - CANARIES
        self.task = publish(collector, self.chain, users=people - TOUCHED)
        self.published = collector.find(self.task.name)
        outbox = []
        top_up(collector, self.task, CANARIES)
        canaries.send_unsent(collector.store, self.published, outbox.append)
        plain = [
            plain_message(self.task, envelopes_of(self.task, n % 9)) for n in range(people + 1)
        ]
        sealed = self.chain.seal(collector, self.task, plain)
        self.canaries = set(self.chain.mix(self.task, outbox))
        *self.people, self.forged = self.chain.mix(self.task, sealed)
        collector.store.close()
        self.copies = 0

    def delivered(self, messages):
        """Deliver other messages to a copy of the store, and return it with the batch opened."""
        self.copies += 1
        copy = self.folder / f"copy{self.copies}.db"
        for path in self.folder.glob("collector.db*"):
            shutil.copy(path, f"{copy}{path.name.removeprefix('collector.db')}")
        store = SqliteStore(copy)
        for number, body in self.chain.parts(self.task, messages, in_part=MESSAGES).items():
            batches.receive(store, self.published, (0, number), body)
        opening.open_batch(store, self.published, 0, 0)
        return store

    def alarm(self, messages):
        """Return whether a canary is missing in what the hop delivers."""
        store = self.delivered(messages)
        found = store.canary_counts(self.published.digest, 0)
        store.close()
        return found.found < found.sent


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    return Batch(tmp_path_factory.mktemp("canaries"))


def drop(batch, dice):
    honest = [*batch.people, *batch.canaries]
    return dice.sample(honest, MESSAGES - TOUCHED)


def replace_some(batch, dice):
    return [*drop(batch, dice), batch.forged]


def drop_people(batch, dice):
    """A broken twin: a hop that can tell canaries by something, and spares them."""
    return [*dice.sample(batch.people, len(batch.people) - TOUCHED), *batch.canaries]


def deviation(batch, lie, batch_count=BATCHES):
    """Return by how many standard errors the alarm rate differs from the formula."""
    dice = random.Random(f"{lie.__name__}")
    alarms = sum(batch.alarm(lie(batch, dice)) for _ in range(batch_count))
    expected = canaries.detection(MESSAGES, CANARIES, TOUCHED)
    error = sqrt(expected * (1 - expected) / batch_count)
    print(
        f"{lie.__name__}: {alarms} alarms in {batch_count}, expected {expected * batch_count:.1f}"
    )
    return abs(alarms / batch_count - expected) / error


@pytest.mark.parametrize("lie", [drop, replace_some])
def test_the_alarm_rate_of_a_hop_that_lies_is_that_of_the_formula(batch, lie):
    assert deviation(batch, lie) <= SIGMAS


def test_a_hop_that_knows_the_canaries_is_told_from_the_formula(batch):
    assert deviation(batch, drop_people, 30) > SIGMAS


def test_duplicates_of_a_hop_do_not_count_and_give_no_alarm(batch):
    honest = [*batch.people, *batch.canaries]
    again = random.Random(3).sample(honest, 10)
    store = batch.delivered([*honest, *again])
    counts = store.canary_counts(batch.published.digest, 0)
    record = store.batch(batch.published.digest, 0)
    [round_record] = store.rounds(batch.published.digest)
    store.close()
    people_again = sum(message in set(batch.people) for message in again)
    assert (counts.sent, counts.found) == (CANARIES, CANARIES)
    assert record.duplicates == people_again > 0
    assert round_record.users == len(batch.people)


def test_published_chances_of_detection():
    assert canaries.detection(100_000, 200, 1_000) == pytest.approx(0.866, abs=1e-3)
    assert canaries.detection(100_000, 200, 5_000) == pytest.approx(0.99997, abs=1e-5)
