"""Fakes: reports that depend on nobody's value, which a hop adds to the messages of a batch.

A fake is drawn from the blanket of the round's mechanism, put into envelopes with random ids, and
sealed for the remaining hops, so that nobody after this hop can tell it from the message of a
person.  If the task has an issuer, a fake carries a blind token that the collector signed for this
hop.  As for people, the coins of the token then deal the question, and its hash seeds are used if
the task says so.

The collector signs a limited number of tokens.  A blinded token is therefore stored before it is
sent, and requested with the same bytes until it is signed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.core import coin, settings
from sottovoce.core.rng import Rng
from sottovoce.shuffler.added_task import AddedTask
from sottovoce.shuffler.collector_link import CollectorLink
from sottovoce.shuffler.store.base import FakeToken, HopStore
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.wire import blind_rsa, tokens
from sottovoce.wire.envelope import ID_BYTES, VERSION_2, Envelopes
from sottovoce.wire.fake_tokens import MAX_TOKENS
from sottovoce.wire.seal import seal
from sottovoce.wire.shuffled_message import MessageFormat

Report = tuple[Address, bytes]


@dataclass(frozen=True)
class FakeMessages:
    """Makes the sealed fakes of one round at one hop.

    ``keys`` are the round keys of all hops and the collector; ``token_list`` has a finished token
    for every fake if the task has an issuer.
    """

    task: AddedTask
    asked: Round
    keys: Sequence[bytes]
    token_list: Sequence[tokens.Token] = ()

    def make(self, start: int, count: int, rng: Rng) -> list[bytes]:
        """Return ``count`` fakes from number ``start`` on, sealed for the hops after this one."""
        message_format = MessageFormat.of(self.task.notice, self.asked)
        token_list = self.token_list[start : start + count]
        fakes = self._by_tokens(token_list, rng) if token_list else self._drawn(count, rng)
        sealed = []
        for number, reports in enumerate(fakes):
            token = token_list[number].to_bytes() if token_list else b""
            message = message_format.join(self._envelopes(reports, rng), token)
            sealed.append(self._seal(message))
        return sealed

    def _drawn(self, count: int, rng: Rng) -> Iterator[list[Report]]:
        """Yield the reports of every fake, at addresses that are drawn too."""
        current: list[Report] = []
        for address, payload in self.asked.ask.fake_reports(count, rng):
            if current and address.slot <= current[-1][0].slot:  # the next fake begins
                yield current
                current = []
            current.append((address, payload))
        if current:
            yield current

    def _by_tokens(self, token_list: Sequence[tokens.Token], rng: Rng) -> Iterator[list[Report]]:
        """Yield the reports of every fake, at the addresses that its token deals."""
        for token in token_list:
            coin_bytes = token.coin_bytes(self.task.fingerprint)
            addresses = self.asked.addresses(self._choice_coin(coin_bytes))
            yield [(address, self._fake_at(address, token, rng)) for address in addresses]

    def _choice_coin(self, coin_bytes: bytes) -> Callable[[int], int]:
        return lambda slot: coin.choice_coin(coin_bytes, self.asked.number, slot)

    def _fake_at(self, address: Address, token: tokens.Token, rng: Rng) -> bytes:
        mechanism = self.asked.question(address).mechanism
        if self.task.notice.fixes_seeds:
            draw = token.seed_draw(self.task.fingerprint, address.slot)
            report = mechanism.draw_blanket_seeded(np.array([draw], np.uint64), rng)
        else:
            report = mechanism.draw_blanket(1, rng)
        return mechanism.pack(report).ljust(self.asked.width, b"\0")

    def _envelopes(self, reports: Sequence[Report], rng: Rng) -> bytes:
        has_subject = "subject" in self.task.notice.declares
        subject = _random_id(rng) if has_subject else None
        envelopes = []
        for address, payload in reports:
            envelope = Envelopes(
                digest=VERSION_2.task_digest(self.task.fingerprint),
                round=self.asked.number,
                members=np.array([address.member]),
                ids=_random_id(rng),
                payloads=np.frombuffer(payload, np.uint8)[None, :],
                subjects=subject,
                slots=np.array([address.slot]) if self.asked.slots > 1 else None,
                version=VERSION_2,
            )
            envelopes.append(envelope.write())
        return b"".join(envelopes)

    def _seal(self, message: bytes) -> bytes:
        """Return a message in the layers of the hops after this one and of the collector."""
        next_hop = self.task.hop + 1
        return seal(message, self.keys[next_hop:], self.task.context(self.asked), next_hop)


def finished_tokens(
    store: HopStore, link: CollectorLink, task: AddedTask, asked: Round, signing_key: bytes
) -> list[tokens.Token]:
    """Return a token for every fake; none without an issuer.

    Tokens that are still missing are asked of the collector.
    """
    collection = task.notice.collection
    if collection is None or collection.issuer is None or not task.shuffle.fakes:
        return []
    wallet = _Wallet(store, link, task, asked)
    wallet.blind_until(task.shuffle.fakes)
    return wallet.finished(signing_key)[: task.shuffle.fakes]


@dataclass(frozen=True)
class _Wallet:
    """The tokens of the fakes of one round."""

    store: HopStore
    link: CollectorLink
    task: AddedTask
    asked: Round

    @property
    def _issuer(self) -> tokens.IssuerPublicKey:
        collection = self.task.notice.collection
        assert collection is not None
        assert collection.issuer is not None
        return tokens.IssuerPublicKey(
            settings.base64url("issuer", collection.issuer, tokens.ISSUER_KEY_BYTES)
        )

    def blind_until(self, count: int) -> None:
        """Store new blinded tokens until there are ``count``; no token is requested before."""
        fingerprint = self.task.fingerprint
        missing = count - len(self.store.fake_tokens(fingerprint, self.asked.number))
        new = [FakeToken(_packed(tokens.blind(self._issuer, fingerprint))) for _ in range(missing)]
        if new:
            self.store.keep_fake_tokens(fingerprint, self.asked.number, new)

    def finished(self, signing_key: bytes) -> list[tokens.Token]:
        """Return the tokens, and ask the collector to sign those that are not signed yet.

        Their coins may fall into any round: the collector does not check that where hops add
        fakes, because a hop needs all its tokens for the round at hand.
        """
        kept = self.store.fake_tokens(self.task.fingerprint, self.asked.number)
        unsigned = [entry for entry in kept if entry.token is None]
        for start in range(0, len(unsigned), MAX_TOKENS):
            self._sign(unsigned[start : start + MAX_TOKENS], signing_key)
        kept = self.store.fake_tokens(self.task.fingerprint, self.asked.number)
        return [tokens.Token.from_bytes(entry.token) for entry in kept if entry.token]

    def _sign(self, unsigned: Sequence[FakeToken], signing_key: bytes) -> None:
        issuer = self._issuer
        pending = [_unpacked(entry.pending, issuer, self.task.fingerprint) for entry in unsigned]
        blinded = [each.blinded for each in pending]
        signatures = self.link.sign_fake_tokens(self.asked.number, blinded, signing_key)
        finished = []
        for entry, waiting, signature in zip(unsigned, pending, signatures, strict=True):
            token = tokens.finalize(waiting, signature).to_bytes()
            finished.append(replace(entry, token=token))
        self.store.keep_fake_tokens(self.task.fingerprint, self.asked.number, finished)


def _packed(pending: tokens.PendingToken) -> bytes:
    return pending.nonce + pending.salt + pending.factor


def _unpacked(data: bytes, issuer: tokens.IssuerPublicKey, digest: bytes) -> tokens.PendingToken:
    salt_start = tokens.NONCE_BYTES
    factor_start = salt_start + blind_rsa.SALT_BYTES
    return tokens.PendingToken(
        key=issuer,
        digest=digest,
        nonce=data[:salt_start],
        salt=data[salt_start:factor_start],
        factor=data[factor_start:],
    )


def _random_id(rng: Rng) -> Bytes:
    """Return a random report id or subject, as the one row of an array."""
    return np.frombuffer(bytes(rng.bytes(ID_BYTES)), np.uint8)[None, :]
