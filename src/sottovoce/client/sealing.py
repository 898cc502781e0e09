"""Sealing: from the envelopes of an answer to the bytes that the first shuffler gets.

The keys of a round are served by the collector and signed by those who hold the private halves.  A
``Sealing`` exists only if every signature is that of the hop in the task's document, for this task,
this round and this place in the chain.  So whoever has one may seal.
"""

from dataclasses import dataclass

from sottovoce.client.transport import SignedKey
from sottovoce.core import settings
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.wire.round_keys import KeyStatement
from sottovoce.wire.seal import SealContext, seal
from sottovoce.wire.shuffled_message import MessageFormat, seal_context


@dataclass(frozen=True)
class Sealing:
    """Seals answers to one round of one shuffled task, for keys that it has verified."""

    notice: Notice
    asked: Round
    keys: tuple[SignedKey, ...]

    def __post_init__(self) -> None:
        signing_keys = self._shuffle.signing_keys
        settings.entries("keys", self.keys, len(signing_keys), len(signing_keys))
        for hop, verifying_key in enumerate(signing_keys):
            public_key = self.keys[hop].public_key
            statement = KeyStatement(self.notice.fingerprint, self.asked.number, hop, public_key)
            statement.verify(self.keys[hop].signature, verifying_key)
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
        public_keys = [key.public_key for key in self.keys]
        return seal(self._format.join(envelopes, token), public_keys, self._context)

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
