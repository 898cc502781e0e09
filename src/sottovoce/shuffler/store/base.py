"""The contract of every store of a shuffler: what it keeps, for how long, and what it never keeps.

A store knows sealed bytes and counts.  Every method is one transaction: when it returns, the change
is durable, and when it raises, nothing has changed.  A database that cannot serve raises
``UnavailableError``.  Neither the order nor the time in which messages arrive is kept.

A store is one module of this package.  Its class names the schemes of the URLs that it opens:

    class SqliteHopStore(SqlHopStore, schemes=("sqlite",)): ...
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from sottovoce.core.registry import Registry
from sottovoce.web.store.url import UrlStore, class_of, database_or_file
from sottovoce.wire.round_keys import KeyPair

SEEN_BYTES = 16  # of the hash of a message, kept after its batch was delivered until the task ends


class BatchState(StrEnum):
    """The life of a batch.  It goes one way, except that a batch of too few messages reopens."""

    OPEN = "open"  # messages are taken
    CLOSING = "closing"  # nothing is taken any more; the batch is being mixed
    MIXED = "mixed"  # the order is drawn, the batch file is final; it is being delivered
    DELIVERED = "delivered"  # the next hop, or the collector, has all of it
    ERASED = "erased"  # inbox, batch file and private key are gone
    ABANDONED = "abandoned"  # the same, and nothing was delivered as a whole


ENDED = (BatchState.ERASED, BatchState.ABANDONED)


@dataclass(frozen=True)
class HopTask:
    """A task as the operator added it; ``collector`` is the address of its collector."""

    fingerprint: bytes
    document: str
    collector: str
    finished: bool = False


@dataclass(frozen=True)
class NewRound:
    """A round that the hop has learned of, with the key pair that it made for it.

    ``opened`` is a whole minute, in seconds.
    """

    task: bytes
    number: int
    document: str
    opened: int
    keys: KeyPair
    signature: bytes


@dataclass(frozen=True)
class HopRound:
    """A round of a task at this hop.

    ``key_set`` are the public keys of all hops and of the collector that this hop has signed, with
    ``set_signature``; both are None before.  They never change.

    ``messages`` counts what is, or was, in the inbox; ``duplicates`` what came again.  Mixing sets
    ``batch_hash``, ``batch_messages`` and ``dropped``, the number of messages that did not open.
    ``trouble`` is why the round waits, or why it was abandoned.
    """

    task: bytes
    number: int
    document: str
    state: BatchState
    opened: int
    public_key: bytes
    signature: bytes
    key_sent: bool
    key_set: tuple[bytes, ...] | None
    set_signature: bytes | None
    set_sent: bool
    messages: int
    duplicates: int
    batch_hash: bytes | None
    batch_messages: int
    dropped: int
    trouble: str


@dataclass(frozen=True)
class SealedOffer:
    """Messages of one request for one round, all of the right length."""

    task: bytes
    round: int
    messages: Sequence[bytes]


class TakeVerdict(StrEnum):
    """The verdict on one message."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"  # it was here already: acknowledged again, counted once
    TOO_EARLY = "too-early"  # the hop has not learned of the round or not signed its keys yet
    TOO_LATE = "too-late"  # the batch is closed


@dataclass(frozen=True)
class IncomingPart:
    """A part of the batch of the previous hop, whose signature was checked."""

    part: int
    parts: int
    batch_hash: bytes
    messages: bytes


@dataclass(frozen=True)
class PartReceipt:
    """How many parts of a batch are here; ``complete`` if all are, and the hash of all is right."""

    received: int
    parts: int
    complete: bool


@dataclass(frozen=True)
class MixedBatch:
    """A batch file: its SHA-256, its messages, and the number that could not be opened."""

    hash: bytes
    messages: int
    dropped: int


@dataclass(frozen=True)
class FakeToken:
    """The token of a fake: what was blinded, and the finished token once the issuer has signed."""

    pending: bytes = field(repr=False)
    token: bytes | None = field(default=None, repr=False)


class HopStore(UrlStore):
    """Tasks, rounds and their keys, and the inboxes of batches that are not delivered yet."""

    kinds: ClassVar[Registry["HopStore"]] = Registry("store", "sottovoce.shuffler.store")

    @abstractmethod
    def add_task(self, task: HopTask) -> bool:
        """Add a task; False if it is here already, whatever its collector's address is."""

    @abstractmethod
    def tasks(self) -> list[HopTask]:
        """Return all tasks, oldest first."""

    @abstractmethod
    def finish_task(self, task: bytes) -> bool:
        """Note that a task has ended and forget the hashes of its messages.

        False, and nothing changes, if one of its rounds has not ended.
        """

    @abstractmethod
    def open_round(self, new: NewRound) -> bool:
        """Open a round; False if it was opened before, with the keys of then."""

    @abstractmethod
    def rounds(self, task: bytes) -> list[HopRound]:
        """Return the rounds of a task, in order."""

    @abstractmethod
    def find_round(self, task: bytes, number: int) -> HopRound | None:
        """Return a round, if the hop has learned of it."""

    @abstractmethod
    def private_key(self, task: bytes, number: int) -> bytes | None:
        """Return the private key of a round, unless it was erased."""

    @abstractmethod
    def note_key_sent(self, task: bytes, number: int) -> None:
        """Note that the collector has the round key."""

    @abstractmethod
    def keep_key_set(
        self, task: bytes, number: int, public_keys: Sequence[bytes], signature: bytes
    ) -> None:
        """Keep the set of keys that this hop signs for a round, with the signature.

        The first set stays for ever: another one is a ``MismatchError``.  Only a signature that is
        kept may leave this hop.
        """

    @abstractmethod
    def note_set_sent(self, task: bytes, number: int) -> None:
        """Note that the collector has the signature on the set of keys."""

    @abstractmethod
    def note_trouble(self, task: bytes, number: int, trouble: str) -> None:
        """Note why a round waits, or with an empty text that it waits no more."""

    @abstractmethod
    def take(self, offers: Sequence[SealedOffer]) -> list[list[TakeVerdict]]:
        """Store the messages that are new, and return a verdict for every message."""

    @abstractmethod
    def take_part(self, task: bytes, number: int, part: IncomingPart) -> PartReceipt:
        """Store a part of the previous hop's batch.  The last one closes the inbox.

        A part that contradicts an earlier one is a ``MismatchError``, and so are parts that do not
        have the stated hash together: they are erased.  A round that is not known yet, or whose
        keys this hop has not signed yet, is a ``StateError``.
        """

    @abstractmethod
    def absorb_parts(self, task: bytes, number: int, message_bytes: int) -> None:
        """Move the messages of a complete batch to the inbox; equal ones are counted once."""

    @abstractmethod
    def close_inbox(self, task: bytes, number: int, min_messages: int) -> bool:
        """Close an inbox with at least so many messages; exactly one caller gets True."""

    @abstractmethod
    def reopen(self, task: bytes, number: int, unreadable: Sequence[bytes]) -> bool:
        """Open a closed inbox again, without the messages that have these hashes."""

    @abstractmethod
    def inbox(self, task: bytes, number: int, at_once: int) -> Iterator[list[bytes]]:
        """Yield the messages of an inbox, so many at once, in the order of their hashes."""

    @abstractmethod
    def count_inbox(self, task: bytes, number: int) -> int:
        """Return how many messages an inbox holds, counted one by one."""

    @abstractmethod
    def note_mixed(self, task: bytes, number: int, batch: MixedBatch) -> bool:
        """Note that the batch file of a closed round is final; exactly one caller gets True."""

    @abstractmethod
    def note_delivered(self, task: bytes, number: int) -> bool:
        """Note that a mixed batch has arrived as a whole."""

    @abstractmethod
    def erase(self, task: bytes, number: int) -> bool:
        """Erase the inbox, the tokens and the private key of a delivered round.

        The beginnings of the hashes stay, so that a message which is sent again is acknowledged.
        """

    @abstractmethod
    def abandon(self, task: bytes, number: int, trouble: str) -> bool:
        """Erase everything of a round that is not delivered; nothing of it will be delivered."""

    @abstractmethod
    def fake_tokens(self, task: bytes, number: int) -> list[FakeToken]:
        """Return the tokens of the fakes of a round, in the order of what was blinded."""

    @abstractmethod
    def keep_fake_tokens(self, task: bytes, number: int, tokens: Sequence[FakeToken]) -> None:
        """Add tokens, or complete those that are here."""

    @abstractmethod
    def lease(self, name: str) -> AbstractContextManager[bool]:
        """Hold a lease while the block lasts; False if another thread or node has it."""

    @abstractmethod
    def check(self) -> None:
        """Write something, or raise ``UnavailableError``."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""


def hop_store_url(folder: Path, database: str = "") -> str:
    """Return the URL of a shuffler's store: its ``database``, or a file in its folder."""
    return database_or_file(database, folder / "shuffler.db")


def open_hop_store(url: str) -> HopStore:
    """Open the store that a URL names."""
    return class_of(url, HopStore.kinds).from_url(url)


def hop_store_exists(url: str) -> bool:
    """Return whether there is a store already where a URL says."""
    return class_of(url, HopStore.kinds).exists(url)
