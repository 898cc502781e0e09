"""A hop in this process with a clock of its own, shuffled tasks, and the messages of devices."""

import os
import threading
from base64 import b64encode
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from starlette.testclient import TestClient

from shuffler.receiver import Receiver, text_of
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.shuffler.app import create_hop
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.shuffler.settings import ShufflerSettings
from sottovoce.shuffler.shuffler import Shuffler
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.shuffler.store.base import hop_store_url, open_hop_store
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.tasks.task import Task
from sottovoce.wire.envelope import VERSION_2, Envelopes
from sottovoce.wire.round_keys import new_signing_key
from sottovoce.wire.seal import seal
from sottovoce.wire.shuffled_message import MessageFormat, seal_context

EPSILON = 6.0
USERS = 8
PLAN = Histogram([str(number) for number in range(16)], mechanism="grr")
SHUFFLE = Shuffle(
    (Hop("https://mix-a.example.org", "A" * 43),), "A" * 43, USERS, 0, EPSILON, EPSILON, 1e-9
)
COLLECTION = Collection(quota=USERS, minimum=2)


class Clock:
    """A clock that a test moves."""

    def __init__(self, now=1_700_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


def shuffled_task(hops, key, plan=PLAN, collection=COLLECTION, **changes):
    """A task with these hops, (url, public key) each, and the collector's key."""
    listed = tuple(Hop(url, text_of(public_key)) for url, public_key in hops)
    shuffle = replace(SHUFFLE, hops=listed, key=key, **changes)
    return Task("count", plan, EPSILON, collection=collection, shuffle=shuffle)


def settings_of(folder, **changes):
    given = {"rate": 0, "tick": 3600.0, "poll_seconds": 0.001, "mix_processes": 1} | changes
    return ShufflerSettings(data=folder, **given)


def open_hop(folder, clock, database="", connect=OtherServer, **changes):
    """The hop of a folder; its key is made if it is not there."""
    settings = settings_of(folder, database=database, **changes)
    signing = make_signing_key(folder)
    store = open_hop_store(hop_store_url(folder, database))
    return Shuffler(store, settings, signing, clock, connect)


@contextmanager
def one_hop(folder, *, issuer=False, database="", **changes):
    """A first and only hop in front of a receiver, with a task that it has learned of."""
    receiver, clock = Receiver(issuer=issuer), Clock()
    hop = open_hop(folder, clock, database)
    try:
        if issuer:
            key = text_of(receiver.issuer.public_key.data)
            defence = changes.pop("defence", "")
            changes["collection"] = Collection(quota=USERS, minimum=2, issuer=key, defence=defence)
        hops = [("https://mix-a.example.org", hop.signing.public_key)]
        receiver.publish(shuffled_task(hops, receiver.key, **changes))
        hop.add(receiver.document, receiver.url)
        hop.advance()
        yield hop, receiver
    finally:
        hop.store.close()
        receiver.close()


@contextmanager
def served_hop(hop):
    """The application of a hop after its own first turn; later turns come when a test says so.

    A test that advances the hop during the first turn would find the lease taken, and nothing done.
    """
    advance, first_turn_ended = hop.advance, threading.Event()

    def first_turn():
        try:
            advance()
        finally:
            first_turn_ended.set()

    hop.advance = first_turn
    with TestClient(create_hop(hop), raise_server_exceptions=False) as client:
        hop.advance = advance
        assert first_turn_ended.wait(60), "the first turn of the hop did not end"
        yield client


def inner_messages(task, fingerprint, count, number=0, token=b""):
    """Messages of honest devices before they are sealed, each with a report id of its own."""
    asked = task.opening
    made = []
    for _ in range(count):
        payload = os.urandom(1)[0] % 16
        envelope = Envelopes(
            digest=fingerprint,
            round=number,
            members=np.array([0]),
            ids=np.frombuffer(os.urandom(16), np.uint8)[None, :],
            payloads=np.array([[payload]], np.uint8),
            version=VERSION_2,
        )
        made.append(MessageFormat.of(task, asked).join(envelope.write(), token))
    return made


def sealed_by_devices(receiver, inner, number=0):
    """The messages as devices send them to the first hop."""
    context = seal_context(receiver.task, receiver.rounds[number], receiver.notice.fingerprint)
    keys = receiver.round_keys(number)
    return [seal(message, keys, context) for message in inner]


def people(receiver, count, number=0):
    """So many inner messages, and the same sealed."""
    token = bytes(288) if receiver.issuer else b""
    inner = inner_messages(receiver.task, receiver.notice.fingerprint, count, number, token)
    return inner, sealed_by_devices(receiver, inner, number)


def upload_body(messages):
    return {"reports": [b64encode(message).decode() for message in messages]}


def messages_path(receiver, number=0):
    return f"/v1/tasks/{text_of(receiver.notice.fingerprint)}/rounds/{number}/messages"


def other_public_key():
    return new_signing_key().public_key
