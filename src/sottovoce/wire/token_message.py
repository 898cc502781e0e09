"""What a device sends to the collector itself where a task has an issuer but no shuffler.

    blind token 288 | envelopes of version 1, one after another | zeros

A bundle may have fewer envelopes than another of the same round, and the public part of an envelope
may be shorter than another; zeros fill the message up, so that all messages of a round have one
length.  Whoever carries the message sees nothing but that length: it is encrypted on its way by
HTTPS.

The collector cannot tell by the token who sent it, but it sees the address that the message comes
from, unless a relay stands in between.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sottovoce.core import settings
from sottovoce.errors import CodecError
from sottovoce.tasks.round import Round
from sottovoce.wire import envelope
from sottovoce.wire.tokens import TOKEN_BYTES

VERSION = envelope.VERSION_1


@dataclass(frozen=True)
class TokenMessage:
    """How the messages of one round are laid out: the longest envelope, and how many there are."""

    envelope_bytes: int
    slots: int

    @classmethod
    def of(cls, asked: Round, declares: Collection[str], public_bytes: int) -> "TokenMessage":
        """Return the layout of a round.

        ``public_bytes`` is the most that the public part of a report may take.
        """
        flags = envelope.flags_of_task(declares, asked.slots)
        return cls(VERSION.field_bytes(flags) + public_bytes + asked.width, asked.slots)

    @property
    def message_bytes(self) -> int:
        """Return the length of every message of the round."""
        return TOKEN_BYTES + self.slots * self.envelope_bytes

    def join(self, token: bytes, envelopes: bytes) -> bytes:
        """Return the message of some envelopes and their token, filled up to its length."""
        settings.octets("token", token, TOKEN_BYTES)
        if len(envelopes) > self.slots * self.envelope_bytes:
            raise CodecError(f"a message may have at most {self.slots} envelopes")
        return (token + envelopes).ljust(self.message_bytes, b"\0")

    def split(self, message: bytes) -> tuple[bytes, bytes]:
        """Return the token and the envelopes of a message, without the zeros that filled it up."""
        if len(message) != self.message_bytes:
            raise CodecError(f"a message of this round must have {self.message_bytes} bytes")
        end = TOKEN_BYTES + envelope.header(message[TOKEN_BYTES:]).length
        while end < len(message) and message[end]:  # an envelope begins with its version, not 0
            end += envelope.header(message[end:]).length
        if any(message[end:]):
            raise CodecError("a message of this round must be filled up with zeros")
        return message[:TOKEN_BYTES], message[TOKEN_BYTES:end]


def round_of(message: bytes) -> int:
    """Return the number of the round that a message states, or refuse one without an envelope."""
    if len(message) < TOKEN_BYTES:
        raise CodecError(f"a message of this task must begin with a token of {TOKEN_BYTES} bytes")
    return envelope.header(message[TOKEN_BYTES:]).round
