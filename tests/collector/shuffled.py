"""Shuffled tasks, and hops that seal, mix and deliver with the functions of the wire."""

import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np

import sottovoce as sv
from sottovoce.collector import key_exchange, key_files
from sottovoce.core import coin
from sottovoce.core.base64url import text_of as base64url
from sottovoce.domains.integers import Integers
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.tasks.task import Task
from sottovoce.wire import codec, seal, tokens
from sottovoce.wire.batch_part import BatchPart
from sottovoce.wire.envelope import VERSION_2, Envelopes
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import (
    KeyPair,
    KeyStatement,
    SignedKey,
    new_round_key,
    new_signing_key,
)
from sottovoce.wire.seal import LayerOpener
from sottovoce.wire.shuffled_message import MessageFormat, seal_context

KEY = "A" * 43
SIZE = 256
UNREACHABLE = "http://127.0.0.1:9"


def shuffled(name="mixed", key=KEY, hops=(), plan=None, **settings):
    """A shuffled task whose reports show the value they hold; it promises nothing but epsilon."""
    hops = hops or (Hop(UNREACHABLE, "C" * 42 + "A"),)
    batch = {name: settings.pop(name, value) for name, value in (("users", 4), ("fakes", 0))}
    collection = Collection(**({"minimum": 2, "grace": 0} | settings))
    promises = {"central": 1.0, "against_users": 1.0, "delta": 1e-9}
    shuffle = Shuffle(hops=tuple(hops), key=key, **batch, **promises)
    plan = plan or sv.Histogram(Integers(0, SIZE - 1), "grr")
    return Task(name, plan, epsilon=1.0, collection=collection, shuffle=shuffle)


def fingerprint_of(task):
    return codec.fingerprint(codec.canonical(codec.document(task)))


def shuffled_for(collector, chain, **settings):
    """A shuffled task that a collector can publish, with the hops of a chain."""
    key = key_files.public_signing_key(collector.folder)
    return shuffled(key=key, hops=chain.hops, **settings)


def envelopes_of(task, value, asked=None, report=b"", addresses=None):
    """The envelopes of version 2 of one person of a task whose reports show their value."""
    asked = asked or task.opening
    pieces = []
    places = addresses or asked.addresses(lambda slot: 0)
    for address in places:
        payload = int(value).to_bytes(asked.width, "little")
        envelope = Envelopes(
            digest=VERSION_2.task_digest(fingerprint_of(task)),
            round=asked.number,
            members=np.array([address.member]),
            ids=np.frombuffer(report or secrets.token_bytes(16), np.uint8)[None, :],
            payloads=np.frombuffer(payload, np.uint8)[None, :],
            slots=np.array([address.slot]) if asked.slots > 1 else None,
            version=VERSION_2,
        )
        pieces.append(envelope.write())
    return b"".join(pieces)


def token_for(task, issuer):
    """A blind token, as a device gets it."""
    pending = tokens.blind(issuer.public_key, fingerprint_of(task))
    return tokens.finalize(pending, issuer.sign(pending.blinded))


def addresses_for(task, token, asked=None):
    """Where a device answers whose coins a token deals."""
    asked = asked or task.opening
    device = token.coin_bytes(fingerprint_of(task))
    return asked.addresses(lambda slot: coin.choice_coin(device, asked.number, slot))


def plain_message(task, envelopes, token=b"", asked=None):
    """What the collector finds under the last layer."""
    return MessageFormat.of(task, asked or task.opening).join(envelopes, token)


@dataclass
class Chain:
    """Some hops with their long-term keys, and their round keys."""

    signing: tuple[KeyPair, ...]
    url: str = UNREACHABLE
    round_keys: dict[int, tuple[KeyPair, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, count=1, url=UNREACHABLE):
        return cls(tuple(new_signing_key() for _ in range(count)), url)

    @property
    def hops(self):
        return tuple(Hop(f"{self.url}/{n}", base64url(key.public_key)) for n, key in self._numbered)

    @property
    def _numbered(self):
        return list(enumerate(self.signing))

    def keys(self, number=0):
        if number not in self.round_keys:
            self.round_keys[number] = tuple(new_round_key() for _ in self.signing)
        return self.round_keys[number]

    def statements(self, task, number=0):
        """The signed keys of the hops for a round, as they are pushed."""
        for hop, signing in self._numbered:
            public_key = self.keys(number)[hop].public_key
            statement = KeyStatement(fingerprint_of(task), number, hop, public_key)
            yield SignedKey(hop, public_key, statement.sign(signing.private_key))

    def set_signatures(self, task, asked, public_keys):
        """The signatures of the hops on all keys of a round."""
        key_set = KeySet.of(fingerprint_of(task), asked, public_keys)
        return [key_set.sign(hop, signing.private_key) for hop, signing in self._numbered]

    def push(self, collector, task, number=0):
        """Give the collector the keys of a round, and the signatures of all hops on them."""
        published = collector.find(task.name)
        for signed in self.statements(task, number):
            key_exchange.add_hop_key(collector.store, published, number, signed)
        self.push_signatures(collector, task, number)

    def push_signatures(self, collector, task, number=0):
        """Let every hop sign the keys that the collector has."""
        published = collector.find(task.name)
        keys = key_exchange.all_keys(collector.store, published, number)
        public_keys = [key.public_key for key in keys]
        signatures = self.set_signatures(task, published.asked[number], public_keys)
        for hop, signature in enumerate(signatures):
            place = (published, number, hop)
            key_exchange.add_set_signature(collector.store, *place, signature)

    def seal(self, collector, task, messages, asked=None):
        """Seal messages for all hops and the collector, as devices do."""
        asked = asked or task.opening
        published = collector.find(task.name)
        given = key_exchange.signed_set(collector.store, published, asked.number)
        context = seal_context(task, asked, fingerprint_of(task))
        public_keys = [key.public_key for key in given.keys]
        return [seal.seal(message, public_keys, context) for message in messages]

    def mix(self, task, sealed, asked=None):
        """Remove the layers of all hops, and put the messages into a random order at each."""
        asked = asked or task.opening
        context = seal_context(task, asked, fingerprint_of(task))
        for hop, pair in enumerate(self.keys(asked.number)):
            opener = LayerOpener(pair.private_key, context, hop)
            sealed = [opener.open(message) for message in sealed]
            secrets.SystemRandom().shuffle(sealed)
        return sealed

    def parts(self, task, batch, number=0, in_part=3, **changes):
        """The batch as the last hop delivers it: signed parts by number."""
        pieces = [
            b"".join(batch[start : start + in_part]) for start in range(0, len(batch), in_part)
        ]
        whole = hashlib.sha256(b"".join(batch)).digest()
        facts = {
            "digest": fingerprint_of(task),
            "round": number,
            "hop": len(self.signing) - 1,
            "parts": len(pieces),
            "batch_hash": whole,
        } | changes
        signing_key = self.signing[-1].private_key
        return {
            part: BatchPart(part=part, messages=messages, **facts).write(signing_key)
            for part, messages in enumerate(pieces)
        }

    def batch(self, collector, task, values, asked=None):
        """The parts of a batch of people with these values."""
        messages = [
            plain_message(task, envelopes_of(task, value, asked), asked=asked) for value in values
        ]
        mixed = self.mix(task, self.seal(collector, task, messages, asked), asked)
        return self.parts(task, mixed, asked.number if asked else 0)
