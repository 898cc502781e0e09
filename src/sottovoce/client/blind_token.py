"""The blind token of a device for one task, kept so that a crash neither loses nor doubles it.

An issuer signs one number per person and task.  A device that lost its number after the issuer has
signed it could never answer the task.  So the ledger keeps the unfinished token before the number
leaves, the same number is sent until its signature arrives, and the finished token takes its place:

    nothing -> pending (nonce, salt, factor) -> token

The factor links the number that the issuer saw to the token that the collector will see.  It is
erased when the token is finished.
"""

from dataclasses import dataclass

from sottovoce.client.ledger import DiskLedger
from sottovoce.core import settings
from sottovoce.errors import AccessError, ParameterError
from sottovoce.tasks.collection import ISSUER_KEY_BYTES
from sottovoce.tasks.notice import Notice
from sottovoce.wire import blind_rsa, tokens
from sottovoce.wire.tokens import IssuerPublicKey, PendingToken, Token

_SALT_START = tokens.NONCE_BYTES
_FACTOR_START = _SALT_START + blind_rsa.SALT_BYTES


@dataclass(frozen=True)
class BlindToken:
    """The blind token of one device for one task, in whichever state the ledger has it."""

    ledger: DiskLedger
    notice: Notice

    @property
    def is_needed(self) -> bool:
        """Return whether the task needs a blind token."""
        return self.notice.has_issuer

    @property
    def is_missing(self) -> bool:
        """Return whether the task needs a token that is not finished."""
        return self.is_needed and self.ledger.blind_token(self.notice.digest).token is None

    def blinded(self) -> bytes:
        """Return the number that the issuer has to sign: the same one until it is signed."""
        key = self._issuer_key()

        def make() -> bytes:
            made = tokens.blind(key, self.notice.fingerprint)
            return made.nonce + made.salt + made.factor

        return self._read(self.ledger.pending_token(self.notice.digest, make)).blinded

    def finish(self, blind_signature: bytes) -> None:
        """Keep the finished token; refuse a signature that is not the issuer's on this number."""
        kept = self.ledger.blind_token(self.notice.digest)
        if kept.token is not None:
            return  # another process was faster
        if kept.pending is None:
            raise ParameterError("this device waits for no blind signature of this task")
        token = tokens.finalize(self._read(kept.pending), blind_signature)
        self.ledger.keep_blind_token(self.notice.digest, token.to_bytes())

    def token(self) -> Token:
        """Return the finished token, or refuse the task until there is one."""
        kept = self.ledger.blind_token(self.notice.digest).token
        if kept is None:
            raise AccessError("this task needs a blind token, and this device has none yet")
        return Token.from_bytes(kept)

    def coin_bytes(self) -> bytes:
        """Return the bytes from which the device's public coins in this task follow."""
        return self.token().coin_bytes(self.notice.fingerprint)

    def _issuer_key(self) -> IssuerPublicKey:
        collection = self.notice.collection
        if collection is None or collection.issuer is None:
            raise ParameterError("this task needs no blind token: its document has no issuer")
        return IssuerPublicKey(settings.base64url("issuer", collection.issuer, ISSUER_KEY_BYTES))

    def _read(self, pending: bytes) -> PendingToken:
        return PendingToken(
            key=self._issuer_key(),
            digest=self.notice.fingerprint,
            nonce=pending[:_SALT_START],
            salt=pending[_SALT_START:_FACTOR_START],
            factor=pending[_FACTOR_START:],
        )
