"""The other side of a shuffled task, as far as a device sees it: keys, tokens and a first hop.

The cryptography is that of the package.  The servers keep what they get and answer what the
interfaces say; they mix nothing.
"""

import json
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from urllib.parse import unquote

import sottovoce as sv
from client.serving import PROBLEM, Collecting
from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import RoundKeys
from sottovoce.core import settings
from sottovoce.core.base64url import text_of as base64url
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.wire import codec
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
from sottovoce.wire.tokens import MODULUS_BYTES, Issuer, new_issuer_key

LABELS = [str(number) for number in range(16)]
PLAN = sv.Histogram(LABELS, mechanism="grr")
EPSILON = 6.0


@cache
def issuer():
    """Return one issuer for all tests: a new key takes a while."""
    return Issuer(new_issuer_key())


def blind_collection(**settings):
    """Return the rules of a collection whose reports need blind tokens."""
    return Collection(issuer=base64url(issuer().public_key.data), **settings)


@dataclass
class Chain:
    """The long-term keys of some hops and of the collector, and their keys of every round."""

    urls: tuple[str, ...] = ("https://mix-a.example.org",)
    round_keys: dict[tuple[bytes, int], list[KeyPair]] = field(default_factory=dict)

    @cached_property
    def signing_keys(self):
        return [new_signing_key() for _ in range(len(self.urls) + 1)]

    def shuffle(self, **changes):
        keys = [base64url(pair.public_key) for pair in self.signing_keys]
        hops = tuple(Hop(url, key) for url, key in zip(self.urls, keys, strict=False))
        stated = {
            "hops": hops,
            "key": keys[-1],
            "users": 100_000,
            "fakes": 2_000,
            "central": 0.5,
            "against_users": 1.0,
            "delta": 1e-9,
        }
        return Shuffle(**(stated | changes))

    def task(self, name="browser", collection=None, plan=PLAN, **changes):
        return sv.Task(name, plan, EPSILON, collection=collection, shuffle=self.shuffle(**changes))

    def pairs(self, fingerprint, number):
        """Return the key pairs of a round: made when they are first asked for."""
        made = [new_round_key() for _ in self.signing_keys]
        return self.round_keys.setdefault((fingerprint, number), made)

    def signed(self, fingerprint, number):
        """Return the public keys of a round, as the collector serves them."""
        return tuple(
            SignedKey(
                hop,
                pair.public_key,
                KeyStatement(fingerprint, number, hop, pair.public_key).sign(key.private_key),
            )
            for hop, (pair, key) in enumerate(
                zip(self.pairs(fingerprint, number), self.signing_keys, strict=True)
            )
        )

    def set_signatures(self, fingerprint, asked, number=None):
        """Return the signatures of the hops on all keys of a round (default: that of ``asked``)."""
        number = asked.number if number is None else number
        public_keys = [pair.public_key for pair in self.pairs(fingerprint, number)]
        key_set = KeySet.of(fingerprint, asked, public_keys)
        return tuple(
            key_set.sign(hop, key.private_key) for hop, key in enumerate(self.signing_keys[:-1])
        )

    def given(self, notice, asked=None):
        """Return keys and signatures of a round, as the collector gives them to a device."""
        asked = asked or notice.opening
        keys = self.signed(notice.fingerprint, asked.number)
        return RoundKeys(keys, self.set_signatures(notice.fingerprint, asked))

    def given_as_hex(self, task, number=0):
        """Return the same for the opening round under a number, as JavaScript is given it."""
        notice = codec.publish(task)
        given = self.given(notice, replace(notice.opening, number=number))
        return {
            "keys": [[key.public_key.hex(), key.signature.hex()] for key in given.keys],
            "setSignatures": [signature.hex() for signature in given.set_signatures],
        }

    def sealing(self, task, asked=None):
        notice = codec.publish(task)
        asked = asked or notice.opening
        return Sealing(notice, asked, self.given(notice, asked))

    def open(self, sealed, task, asked=None):
        """Return the token and the envelopes of a sealed message, layer by layer."""
        notice = codec.publish(task)
        asked = asked or notice.opening
        context = seal_context(notice, asked, notice.fingerprint)
        for hop, pair in enumerate(self.pairs(notice.fingerprint, asked.number)):
            sealed = LayerOpener(pair.private_key, context, hop).open(sealed)
        return MessageFormat.of(notice, asked).split(sealed)


class ShuffledCollecting(Collecting):
    """A collector that serves signed keys and signs blinded tokens, once for each enrolled person.

    ``keys`` and ``set_signatures`` may change what it serves.
    """

    def __init__(self, chain, *tasks):
        super().__init__(*tasks)
        self.chain = chain
        self.are_keys_ready = True
        self.opened = None
        self.keys = lambda keys: keys
        self.set_signatures = lambda signatures: signatures
        self.signed = {}
        self.asked_for_tokens = []

    def get(self, path, headers):
        _, _, _, name, *rest = path.split("/")
        if not rest or rest[0] != "rounds":
            return super().get(path, headers)
        if not self.are_keys_ready:
            return 409, PROBLEM, json.dumps({"code": "not-ready", "title": "not ready"}).encode()
        document = self.documents[unquote(name)]
        fingerprint = codec.fingerprint(codec.canonical(document))
        number = int(rest[1])
        asked = codec.round_(self.rounds[unquote(name)])
        signatures = self.chain.set_signatures(fingerprint, asked, number)
        content = {
            "digest": codec.digest(document),
            "round": number,
            "keys": [key.to_dict() for key in self.keys(self.chain.signed(fingerprint, number))],
            "set_signatures": [base64url(each) for each in self.set_signatures(signatures)],
        }
        if self.opened is not None:
            content["opened"] = self.opened
        return 200, {}, json.dumps(content).encode()

    def post(self, body):
        path = self.requests[-1][1]
        if not path.endswith("/tokens"):
            return super().post(body)
        content = json.loads(body)
        self.asked_for_tokens.append(content)
        person = (path, content["token"])
        blinded = settings.base64url("blinded", content["blinded"], MODULUS_BYTES)
        if person in self.signed and self.signed[person][0] != blinded:
            return 403, PROBLEM, json.dumps({"code": "token-spent", "title": "spent"}).encode()
        if person not in self.signed:
            self.signed[person] = (blinded, issuer().sign(blinded))
        return 200, {}, json.dumps({"blind_signature": base64url(self.signed[person][1])}).encode()


class FirstHop(Collecting):
    """The first hop of a chain, or a relay: it keeps the sealed messages, and where they went."""

    @property
    def paths(self):
        return [path for _, path, _ in self.requests]
