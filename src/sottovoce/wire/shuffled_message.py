"""What the collector finds under the last layer of a message of a shuffled task.

    [blind token 288] | envelopes of version 2, one after another | zeros

The token is there if the task has an issuer.  A bundle may have fewer envelopes than another of the
same round; zeros fill it up, so that all messages of a round have one length and no hop can tell
them apart.
"""

from dataclasses import dataclass
from typing import Protocol

from sottovoce.core import settings
from sottovoce.errors import CodecError, ParameterError
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.wire import envelope
from sottovoce.wire.seal import SealContext
from sottovoce.wire.tokens import TOKEN_BYTES

VERSION = envelope.VERSION_2


class ShuffledTask(Protocol):
    """What the format of messages follows from: a task, or its notice."""

    @property
    def declares(self) -> tuple[str, ...]: ...

    @property
    def collection(self) -> Collection | None: ...

    @property
    def shuffle(self) -> Shuffle | None: ...


@dataclass(frozen=True)
class MessageFormat:
    """The lengths of the parts of a message: its token, one envelope, and how many there may be."""

    token_bytes: int
    envelope_bytes: int
    slots: int

    @classmethod
    def of(cls, task: ShuffledTask, asked: Round) -> "MessageFormat":
        """Return the format of the messages of a round."""
        flags = envelope.flags_of_task(task.declares, asked.slots)
        has_token = task.collection is not None and task.collection.issuer is not None
        return cls(
            token_bytes=TOKEN_BYTES if has_token else 0,
            envelope_bytes=VERSION.field_bytes(flags) + asked.width,
            slots=asked.slots,
        )

    @property
    def message_bytes(self) -> int:
        """Return the length of every message of the round."""
        return self.token_bytes + self.slots * self.envelope_bytes

    def join(self, envelopes: bytes, token: bytes = b"") -> bytes:
        """Return the message of some envelopes and their token, filled up to its length."""
        settings.octets("token", token, self.token_bytes)
        if len(envelopes) > self.slots * self.envelope_bytes:
            raise CodecError(f"a message may have at most {self.slots} envelopes")
        return (token + envelopes).ljust(self.message_bytes, b"\0")

    def split(self, message: bytes) -> tuple[bytes, bytes]:
        """Return the token and the envelopes of a message, without the zeros that filled it up."""
        if len(message) != self.message_bytes:
            raise CodecError(f"a message of this round must have {self.message_bytes} bytes")
        token = message[: self.token_bytes]
        end = self.token_bytes + self.envelope_bytes
        while end < len(message) and message[end]:  # an envelope begins with its version, not 0
            end += self.envelope_bytes
        if any(message[end:]):
            raise CodecError("a message of this round must be filled up with zeros")
        return token, message[self.token_bytes : end]


def seal_context(task: ShuffledTask, asked: Round, fingerprint: bytes) -> SealContext:
    """Return what all sealed messages of a round have in common.

    ``fingerprint`` is the SHA-256 of the task's document.
    """
    if task.shuffle is None:
        raise ParameterError("`task` must be a shuffled task")
    message_bytes = MessageFormat.of(task, asked).message_bytes
    return SealContext(fingerprint, asked.number, len(task.shuffle.hops), message_bytes)
