"""Access tokens: 256 random bits each, shown once, stored as a hash, valid for one scope."""

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from sottovoce.collector.store.base import Store, TokenRecord
from sottovoce.core.rng import SystemRng
from sottovoce.errors import AccessError
from sottovoce.web.problems import RequestError

OPERATOR = "operator"
ANALYST = "analyst"
ENROLMENT = "enrolment"
SESSION = "session"
_ALLOWED = {
    OPERATOR: (OPERATOR,),
    ANALYST: (ANALYST, OPERATOR),
    SESSION: (SESSION,),
    ENROLMENT: (ENROLMENT,),
}
_TOKEN_BYTES = 32


def hashed(token: str) -> bytes:
    """Return the hash of a token that the store keeps; random tokens need no salt."""
    return hashlib.sha256(token.encode()).digest()


@dataclass(frozen=True)
class TokenBatch:
    """How many tokens are issued together, and for how many seconds (default: for ever)."""

    count: int = 1
    seconds: int | None = None


ONE_FOR_EVER = TokenBatch()


def issue(
    store: Store, scope: str, now: int, *, label: str = "", batch: TokenBatch = ONE_FOR_EVER
) -> list[str]:
    """Issue and return new tokens; only their hashes are stored."""
    raw = bytes(SystemRng().bytes(_TOKEN_BYTES * batch.count))
    pieces = (raw[start : start + _TOKEN_BYTES] for start in range(0, len(raw), _TOKEN_BYTES))
    tokens = [base64.urlsafe_b64encode(piece).rstrip(b"=").decode() for piece in pieces]
    expires = None if batch.seconds is None else now + batch.seconds
    store.add_tokens([TokenRecord(hashed(token), scope, label, now, expires) for token in tokens])
    return tokens


def admit(store: Store, token: str | None, scope: str, now: int) -> TokenRecord:
    """Return the record of a token that is valid for the scope, or refuse it.

    The look-up is by hash, so that its timing reveals nothing about the token.
    """
    if not token:
        raise RequestError("unauthenticated")
    record = store.token(hashed(token), now)
    if record is None:
        raise RequestError("unauthenticated", "the token is unknown, expired or revoked")
    if record.scope not in _ALLOWED[scope]:
        raise AccessError(f"this needs a token of the scope {scope}")
    return record


def identity(record: TokenRecord) -> str:
    """Return the beginning of a token's hash: enough to name the token, useless for access."""
    return record.hash[:6].hex()


def revoke(store: Store, name: str) -> bool:
    """Revoke the token that an identity names; return whether there was one."""
    return any(store.revoke(record.hash) for record in _named(store.tokens(), name))


def _named(records: Iterable[TokenRecord], name: str) -> list[TokenRecord]:
    return [record for record in records if identity(record) == name]
