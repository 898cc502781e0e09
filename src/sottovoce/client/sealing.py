"""Sealing: from the envelopes of an answer to the bytes that the first shuffler gets.

The keys of a round are served by the collector.  Each is signed by the one who holds its private
half, and every hop has signed all of them as one set.  A ``Sealing`` exists only if every signature
is that of a hop in the task's document, for this task, exactly this round and these keys.  So
whoever has one may seal, and as long as one hop is honest, for the same keys as everybody else.
"""

from dataclasses import dataclass

from sottovoce.client.transport import RoundKeys
from sottovoce.core import settings
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import verify_keys
from sottovoce.wire.seal import SealContext, seal
from sottovoce.wire.shuffled_message import MessageFormat, seal_context


@dataclass(frozen=True)
class Sealing:
    """Seals answers to one round of one shuffled task, for keys that it has verified."""

    notice: Notice
    asked: Round
    keys: RoundKeys

    def __post_init__(self) -> None:
        settings.instance("keys", self.keys, RoundKeys)
        signing_keys = self._shuffle.signing_keys
        fingerprint = self.notice.fingerprint
        verify_keys(fingerprint, self.asked.number, self.keys.keys, signing_keys)
        key_set = KeySet.of(fingerprint, self.asked, self._public_keys)
        key_set.verify_all(self.keys.set_signatures, signing_keys[:-1])
        # A signed key can still be one that nothing can be sealed for: find out before an answer.
        self.seal(b"", bytes(self._format.token_bytes))

    @property
    def sealed_bytes(self) -> int:
        """Return the length of every sealed message of the round."""
        return self._context.sealed_bytes(0)

    def check(self, notice: Notice, asked: Round) -> None:
        """Refuse to seal the answer to another task, or to another of its rounds."""
        if (notice.fingerprint, asked) != (self.notice.fingerprint, self.asked):
            raise MismatchError("these keys belong to another task, or to another of its rounds")

    def seal(self, envelopes: bytes, token: bytes) -> bytes:
        """Return the sealed message; ``token`` is empty for a task without an issuer."""
        return seal(self._format.join(envelopes, token), self._public_keys, self._context)

    @property
    def _public_keys(self) -> tuple[bytes, ...]:
        return tuple(key.public_key for key in self.keys.keys)

    @property
    def _shuffle(self) -> Shuffle:
        if self.notice.shuffle is None:
            raise ParameterError("`notice` must be that of a shuffled task")
        return self.notice.shuffle

    @property
    def _format(self) -> MessageFormat:
        return MessageFormat.of(self.notice, self.asked)

    @property
    def _context(self) -> SealContext:
        return seal_context(self.notice, self.asked, self.notice.fingerprint)
