"""A hop that dies at any durable step: nothing is lost or doubled, and one order is ever sent."""

import hashlib
from collections import Counter

import pytest

from shuffler.deaths import POINTS, TOKEN_POINTS, arm, title
from shuffler.hops import USERS, Clock, open_hop, people, shuffled_task
from shuffler.receiver import Receiver, text_of
from sottovoce.core.rng import SystemRng
from sottovoce.shuffler import batch_file
from sottovoce.shuffler.batch_file import BatchFiles
from sottovoce.shuffler.delivery import Delivery
from sottovoce.shuffler.mixing import random_order
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.shuffler.store.base import BatchState, SealedOffer
from sottovoce.shuffler.store.sql import SqlHopStore
from sottovoce.tasks.collection import Collection

FAKES = 3


class DeathError(BaseException):
    """The process is gone: nothing that would tidy up after an error runs."""


def die():
    raise DeathError


class Life:
    """A hop that is started again on the same folder whenever it has died."""

    def __init__(self, folder, receiver):
        self.folder, self.receiver, self.clock = folder, receiver, Clock()
        self.deaths = 0
        self.hop = open_hop(folder, self.clock)

    def do(self, action):
        """Do something; after a death, start again and do it again, as its caller would."""
        while True:
            try:
                return action(self.hop)
            except DeathError:
                self.deaths += 1
                self.hop.store.close()
                self.hop = open_hop(self.folder, self.clock)

    def record(self):
        return self.hop.store.find_round(self.receiver.notice.fingerprint, 0)

    def finish(self):
        for _ in range(10):
            self.do(lambda hop: hop.advance())
            if self.record() is not None and self.record().state == BatchState.ERASED:
                return
            self.clock.now += 100
        raise AssertionError(self.record())


@pytest.fixture
def receiver():
    made = Receiver(issuer=True)
    yield made
    made.close()


def live(folder, receiver):
    """The whole life of a batch; returns the messages of people and the hop at its end."""
    life = Life(folder, receiver)
    issuer = text_of(receiver.issuer.public_key.data)
    collection = Collection(quota=USERS, minimum=2, issuer=issuer)
    hops = [("https://mix-a.example.org", life.hop.signing.public_key)]
    task = shuffled_task(hops, receiver.key, collection=collection, fakes=FAKES)
    receiver.publish(task)
    life.do(lambda hop: hop.add(receiver.document, receiver.url))
    while receiver.round_keys() is None:
        life.do(lambda hop: hop.advance())
        life.clock.now += 100
    inner, sealed = people(receiver, USERS)
    for message in sealed:
        offer = SealedOffer(receiver.notice.fingerprint, 0, [message])
        life.do(lambda hop, offer=offer: hop.store.take([offer]))
    life.finish()
    return inner, life


@pytest.fixture(autouse=True)
def parts_of_four(monkeypatch):
    """Several parts of a small batch."""
    monkeypatch.setattr(batch_file, "MAX_PART_MESSAGES", 4)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", [*POINTS, *TOKEN_POINTS], ids=title)
def test_a_death_loses_nothing_and_doubles_nothing(tmp_path, receiver, monkeypatch, point, when):
    calls = arm(point, when, die, monkeypatch.setattr)
    inner, life = live(tmp_path / "hop", receiver)
    assert calls() >= point[2], "this point is never passed"
    assert life.deaths == 1
    check(inner, life, receiver)


def check(inner, life, receiver):
    opened = Counter(receiver.opened())
    assert not Counter(inner) - opened
    assert opened.total() == USERS + FAKES
    assert len(receiver.batch_hashes()) == 1, "a second order was sent"
    assert not list((life.folder / "batches").rglob("*.*"))
    assert life.hop.store.private_key(receiver.notice.fingerprint, 0) is None
    assert len(receiver.signed_blinded) == FAKES
    assert len(receiver.sent_signatures) == 1, "a second set of keys was signed"
    life.hop.store.close()


SET_POINTS = [
    (SqlHopStore, "note_key_sent", 1),
    (SqlHopStore, "keep_key_set", 1),
    (OtherServer, "send_json", 2),
    (SqlHopStore, "note_set_sent", 1),
]


def sign_under(folder, receiver, monkeypatch, point, when):
    """Let a hop die, and show it another key of the collector whenever it has come back."""
    life = Life(folder, receiver)
    hops = [("https://mix-a.example.org", life.hop.signing.public_key)]
    receiver.publish(shuffled_task(hops, receiver.key))
    life.do(lambda hop: hop.add(receiver.document, receiver.url))

    def die_and_find_another_key():
        receiver.own_keys[0] = receiver.play_hop(1, receiver.signing)
        die()

    arm(point, when, die_and_find_another_key, monkeypatch.setattr)
    for _ in range(4):
        life.do(lambda hop: hop.advance())
        life.clock.now += 100
    assert life.deaths == 1
    life.hop.store.close()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", SET_POINTS, ids=title)
def test_a_hop_never_signs_a_second_set_of_keys(tmp_path, receiver, monkeypatch, point, when):
    sign_under(tmp_path / "hop", receiver, monkeypatch, point, when)
    assert len(receiver.sent_signatures) == 1


def test_a_hop_that_does_not_remember_what_it_signed_is_found_out(tmp_path, receiver, monkeypatch):
    """A broken twin: its signature leaves, and the set is not kept."""
    monkeypatch.setattr(SqlHopStore, "keep_key_set", lambda self, *given: None)
    sign_under(tmp_path / "hop", receiver, monkeypatch, (OtherServer, "send_json", 2), "after")
    assert len(receiver.sent_signatures) == 2


def mix_before_sending(monkeypatch):
    """A broken twin: a hop that draws a new order for every delivery."""
    plain = Delivery.send

    def send(self, signing_key, connect=OtherServer):
        messages = self.path.read_bytes()
        width = self.message_bytes
        pieces = [messages[start : start + width] for start in range(0, len(messages), width)]
        drawn = [pieces[index] for index in random_order(len(pieces), SystemRng())]
        self.path.write_bytes(b"".join(drawn))
        hashed = hashlib.sha256(b"".join(drawn)).digest()
        object.__setattr__(self, "batch_hash", hashed)
        return plain(self, signing_key, connect)

    monkeypatch.setattr(Delivery, "send", send)
    monkeypatch.setattr(BatchFiles, "check", lambda self, *given: self.path(*given))


def test_a_hop_that_sends_a_second_order_is_found_out(tmp_path, receiver, monkeypatch):
    mix_before_sending(monkeypatch)
    arm((OtherServer, "put_bytes", 2), "after", die, monkeypatch.setattr)
    with pytest.raises(AssertionError):
        live(tmp_path / "hop", receiver)
    assert len(receiver.batch_hashes()) > 1
