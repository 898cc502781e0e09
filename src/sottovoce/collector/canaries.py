"""Canaries: messages of the operator with known report ids, to notice hops that drop messages.

A canary is made as a device makes its message, with a random value, and travels the same way.  No
hop can tell it from the message of a person.  When the batch is opened the canaries in it are
counted and taken out before anything is tallied.  If k of N messages were dropped or replaced, at
least one of s canaries is missing with the probability

    1 - C(N - s, k) / C(N, k)

A canary is stored with its sealed bytes before it is sent, and sent again until the first hop has
acknowledged it: one that never left would be a false alarm.

Source: docs/shuffling.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, lgamma
from pathlib import Path

from sottovoce.client.random_answer import random_envelopes
from sottovoce.collector import key_exchange, key_files
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import State, Store
from sottovoce.collector.store.shuffle_base import Canary
from sottovoce.core import coin, settings
from sottovoce.core.rng import SystemRng
from sottovoce.errors import ParameterError, StateError
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, tokens
from sottovoce.wire.seal import seal
from sottovoce.wire.shuffled_message import VERSION, MessageFormat, seal_context
from sottovoce.wire.tokens import Issuer

MAX_CANARIES = 100_000

SendMessage = Callable[[bytes], None]  # delivers one sealed message to the first hop, or raises


def detection(messages: int, canaries: int, dropped: int) -> float:
    """Return how likely a canary is missing if so many of all messages were dropped.

    >>> round(detection(messages=100_000, canaries=200, dropped=1_000), 2)
    0.87
    """
    settings.whole("messages", messages, 1)
    settings.whole("canaries", canaries, 0, messages)
    settings.whole("dropped", dropped, 0, messages)
    if dropped > messages - canaries:
        return 1.0
    # C(N - s, k) / C(N, k) = (N - s)! (N - k)! / (N! (N - s - k)!)
    logarithm = (
        lgamma(messages - canaries + 1)
        + lgamma(messages - dropped + 1)
        - lgamma(messages + 1)
        - lgamma(messages - canaries - dropped + 1)
    )
    return 1.0 - exp(min(0.0, logarithm))


def top_up(store: Store, folder: Path, published: Published, count: int) -> int:
    """Make canaries for the open round until there are ``count``; return how many are new."""
    settings.whole("count", count, 1, MAX_CANARIES)
    shuffle = key_exchange.shuffle_of(published)
    number = published.last.number
    if published.last.state is not State.OPEN:
        raise StateError("this task has no open round: canaries travel with the reports of one")
    quota = published.asked[number].part(published.collection.quota)
    if 0 < quota < shuffle.users + count:
        raise ParameterError(
            f"`count` must leave room for {shuffle.users:,} people: hops close this round at"
            f" {quota:,} messages, canaries included"
        )
    missing = count - store.canary_counts(published.digest, number).made
    if missing <= 0:
        return 0
    given = key_exchange.signed_set(store, published, number)
    maker = _Maker.of(folder, published, number, [key.public_key for key in given.keys])
    store.add_canaries(published.digest, number, [maker.canary() for _ in range(missing)])
    return missing


def send_unsent(store: Store, published: Published, send: SendMessage) -> int:
    """Send every canary that the first hop has not acknowledged, one by one; return how many."""
    number = published.last.number
    unsent = store.unsent_canaries(published.digest, number)
    for canary in unsent:
        send(canary.sealed)
        store.note_sent(published.digest, number, [canary.report_id])
    return len(unsent)


@dataclass(frozen=True, eq=False)
class _Maker:
    """Makes the canaries of one round."""

    published: Published
    notice: Notice
    asked: Round
    keys: list[bytes]
    issuer: Issuer | None

    @classmethod
    def of(cls, folder: Path, published: Published, number: int, keys: list[bytes]) -> "_Maker":
        issuer = None
        if published.collection.issuer is not None:
            issuer = key_files.issuer(folder)
        notice = codec.notice(codec.parse(published.record.document))
        return cls(published, notice, published.asked[number], keys, issuer)

    def canary(self) -> Canary:
        """Return a new canary, sealed for all hops and the collector."""
        token = self._token()
        device = bytes(SystemRng().bytes(coin.COIN_BYTES))
        if token is not None:
            device = token.coin_bytes(self.published.fingerprint)
        envelopes = random_envelopes(self.notice, self.asked, device, token)
        message = MessageFormat.of(self.published.task, self.asked).join(
            envelopes, b"" if token is None else token.to_bytes()
        )
        context = seal_context(self.published.task, self.asked, self.published.fingerprint)
        return Canary(VERSION.read_bytes("id", envelopes), seal(message, self.keys, context))

    def _token(self) -> tokens.Token | None:
        if self.issuer is None:
            return None
        pending = tokens.blind(self.issuer.public_key, self.published.fingerprint)
        return tokens.finalize(pending, self.issuer.sign(pending.blinded))
