"""Tickets: what pays for a message, and what it fixes of it.

An enrolment token and a blind token both claim a hash, so that a second message with the same token
is refused, and both deal public coins.  A blind token also gives the hash seeds, if the task says
so.
"""

import hashlib
from dataclasses import dataclass

from sottovoce.collector import access
from sottovoce.collector.published import Published
from sottovoce.core import coin
from sottovoce.errors import MismatchError
from sottovoce.wire import tokens
from sottovoce.wire.tokens import Token


@dataclass(frozen=True)
class Ticket:
    """The hash that a message claims, and the bytes that deal its coins.

    ``token`` is the blind token, where there is one.
    """

    claim: bytes
    coin_bytes: bytes
    token: Token | None = None

    @classmethod
    def of_enrolment(cls, token: str, digest: str) -> "Ticket | None":
        """Return the ticket of an enrolment token for a task, None if there is no token."""
        if not token:
            return None
        return cls(access.hashed(token), coin.enrolled_bytes(token, digest))

    @classmethod
    def of_blind_token(cls, data: bytes, published: Published) -> "Ticket | None":
        """Return the ticket of a blind token, None if the issuer did not sign it for this task."""
        issuer = published.issuer
        assert issuer is not None  # a message is split into token and envelopes only then
        token = Token.from_bytes(data)
        fingerprint = published.fingerprint
        try:
            tokens.verify(token, issuer, fingerprint)
        except MismatchError:
            return None
        claim = hashlib.sha256(token.nonce).digest()
        return cls(claim, token.coin_bytes(fingerprint), token)
