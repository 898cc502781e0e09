"""The issuer of blind tokens: one signature per person and task, and those for the fakes of hops.

An enrolment token says that somebody may take part.  It buys one blind signature per task.  The
issuer keeps a hash of the enrolment token and one of the blinded number, so that a request can be
repeated after a crash but not with another number.  A blinded number is uniform whatever becomes
of it, so nothing that is kept links a person with a blind token.

Source: RFC 9474; docs/shuffling.md.
"""

import hashlib
from collections.abc import Sequence

from sottovoce.collector import access
from sottovoce.collector.key_exchange import check_round, shuffle_of
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.shuffle_base import Grant
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.web.problems import RequestError
from sottovoce.wire.fake_tokens import FakeTokenRequest
from sottovoce.wire.tokens import Issuer

_REASONS = {
    Grant.TOKEN_UNKNOWN: "the enrolment token is unknown, expired or revoked",
    Grant.TOKEN_SPENT: "the enrolment token has bought a signature on another number",
}


def sign_for_device(
    store: Store, issuer: Issuer, published: Published, request: tuple[str, bytes], now: int
) -> bytes:
    """Return the blind signature that an enrolment token buys.

    ``request`` is the enrolment token and the blinded number.
    """
    token, blinded = request
    check_issues(published)
    _check_number(issuer, blinded)
    grant = store.claim_signature(published.digest, access.hashed(token), _hash(blinded), now)
    if grant is not Grant.GRANTED:
        raise RequestError("token-refused", _REASONS[grant])
    return issuer.sign(blinded)


def sign_for_hop(
    store: Store, issuer: Issuer, published: Published, request: FakeTokenRequest, signature: bytes
) -> list[bytes]:
    """Return the blind signatures for the fakes of a hop, at most as many as it adds."""
    shuffle = shuffle_of(published)
    check_issues(published)
    check_round(published, request.round)
    if request.hop >= len(shuffle.hops):
        raise RequestError("not-found", "this task has no such hop")
    try:
        request.verify(signature, shuffle.hops[request.hop].key_bytes)
    except (MismatchError, CodecError):
        raise RequestError("bad-signature") from None
    for number in request.blinded:
        _check_number(issuer, number)
    hashes = [_hash(number) for number in request.blinded]
    place = (published.digest, request.round, request.hop)
    if not store.claim_fakes(*place, hashes, shuffle.fakes):
        raise RequestError(
            "token-refused", f"a hop gets at most {shuffle.fakes} tokens for a round"
        )
    return _signatures(issuer, request.blinded)


def _signatures(issuer: Issuer, blinded: Sequence[bytes]) -> list[bytes]:
    return [issuer.sign(number) for number in blinded]


def check_issues(published: Published) -> None:
    """Refuse a task that asks for no blind tokens."""
    if published.collection.issuer is None:
        raise RequestError("not-found", "this task asks for no blind tokens")


def _check_number(issuer: Issuer, blinded: bytes) -> None:
    """Refuse what cannot be signed before anything is spent on it."""
    if not 0 < int.from_bytes(blinded) < issuer.public_key.modulus:
        raise ParameterError("`blinded` must be a number above 0 and below the issuer's modulus")


def _hash(blinded: bytes) -> bytes:
    return hashlib.sha256(blinded).digest()
