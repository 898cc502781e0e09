"""The contract of every store: what it keeps, and that it keeps it before it says so.

A store knows bytes and counts, never what they mean.  Every method is one transaction: when it
returns, the change is durable, and when it raises, nothing has changed.  A database that cannot
serve raises ``UnavailableError``.  Time is an argument, in whole seconds.  Nothing here links an
enrolment token to a report.

A store is one module of this package.  Its class names the schemes of the URLs that it opens:

    class SqliteStore(SqlStore, schemes=("sqlite",)): ...
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from sottovoce.arrays import Bytes
from sottovoce.collector.store.shuffle_base import OpenedPart, ShuffleStore
from sottovoce.core.registry import Registry
from sottovoce.web.store.url import UrlStore, class_of, database_or_file

HASH_BYTES = 32


class State(StrEnum):
    """The life of a round: one way, each step once."""

    OPEN = "open"
    CLOSING = "closing"  # late reports are still taken
    SEALING = "sealing"  # nothing is taken any more; the log is being written
    SEALED = "sealed"  # the log is complete and never changes


TAKING = (State.OPEN, State.CLOSING)  # the states in which a round takes reports


class Verdict(StrEnum):
    """What became of one message."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"  # all its reports were here already: acknowledged again, counted once
    CONFLICTING = "conflicting"  # some of its reports were here already, and some were not
    TOO_EARLY = "too-early"  # the round has not been opened
    TOO_LATE = "too-late"  # the round takes no reports any more
    TOKEN_UNKNOWN = "token-unknown"
    TOKEN_SPENT = "token-spent"


@dataclass(frozen=True)
class TaskRecord:
    """A task as it was published.

    ``finished`` is when its plan answered, or could not; then ``failure`` states the reason.
    ``trouble`` is why the task waits now, and is tried again; empty if nothing is wrong.
    """

    name: str
    digest: str
    document: str
    created: int
    finished: int | None = None
    failure: str = ""
    trouble: str = ""


@dataclass(frozen=True)
class RoundRecord:
    """A round of a task.

    ``changed`` is when it entered its state.  Sealing sets ``count`` and ``checksum``.
    """

    task: str
    number: int
    document: str
    state: State
    opened: int
    changed: int
    users: int
    count: int = 0
    checksum: str = ""
    erased: int | None = None


@dataclass(frozen=True)
class TokenRecord:
    """What is known of a token: never the token itself."""

    hash: bytes
    scope: str
    label: str
    created: int
    expires: int | None = None


@dataclass(frozen=True, eq=False)
class Offer:
    """Messages for one round that all have one shape, checked, and not yet stored.

    ``ids`` is (messages, slots, bytes of an id), ``data`` is (messages, bytes).  ``claims`` is
    (messages, 32), the hashes of the tokens, where the task asks for them; a token is good for one
    message per ``epoch``.  Enrolment tokens must be known to the store; blind tokens are
    ``verified`` by their signature.
    """

    task: str
    round: int
    ids: Bytes
    data: Bytes
    claims: Bytes | None = None
    epoch: int = 0
    verified: bool = False

    def __len__(self) -> int:
        return len(self.data)

    @property
    def id_bytes(self) -> int:
        """Return the bytes of one report id."""
        return int(self.ids.shape[2])


class Store(ShuffleStore, UrlStore):
    """Control data, deduplication and the reports of open rounds."""

    kinds: ClassVar[Registry["Store"]] = Registry("store", "sottovoce.collector.store")

    @abstractmethod
    def publish(self, task: TaskRecord, opening: str) -> bool:
        """Add a task and open its first round; False if this very task is here already.

        Another task of the same name is a ``MismatchError``: tasks do not change.
        """

    @abstractmethod
    def tasks(self) -> list[TaskRecord]:
        """Return all tasks, oldest first."""

    @abstractmethod
    def rounds(self, task: str) -> list[RoundRecord]:
        """Return the rounds of the task with this digest, in order."""

    @abstractmethod
    def open_round(self, task: str, number: int, document: str, now: int) -> bool:
        """Open the next round; False if it has been opened with the same document.

        A round that was opened with another document is a ``MismatchError``.
        """

    @abstractmethod
    def turn(self, task: str, number: int, old: State, new: State, now: int) -> bool:
        """Move a round from one state to the next; exactly one caller gets True.

        A round with a complete batch stays: ``close_batch`` moves it once the batch is opened.
        """

    @abstractmethod
    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        """Note what the log holds, erase the payloads here, and move the round to sealed."""

    @abstractmethod
    def erase(self, task: str, number: int, now: int) -> bool:
        """Note that the log of a sealed round has been erased, and forget its report ids."""

    @abstractmethod
    def finish(self, task: str, now: int, failure: str = "") -> bool:
        """Note that a plan has answered, or why it could not."""

    @abstractmethod
    def note_trouble(self, task: str, trouble: str) -> bool:
        """Note why a task waits, or with an empty text that it waits no more."""

    @abstractmethod
    def accept(
        self,
        offers: Sequence[Offer],
        refused: Mapping[tuple[str, str], int],
        now: int,
        opened: OpenedPart | None = None,
    ) -> list[list[Verdict]]:
        """Store the messages that are new, and return a verdict for every message.

        ``refused`` counts, by task and code, the messages that were turned away before.  They are
        added to the counters, as are those that the store refuses.  Arrivals are counted by the
        minute.  ``opened`` is the part of a batch that the messages were in: its bytes are erased,
        and a part that was opened before is a ``StateError``.
        """

    @abstractmethod
    def segments(self, task: str, number: int) -> Iterator[bytes]:
        """Yield the messages of an unsealed round, many at a time, one after another."""

    @abstractmethod
    def refusals(self, task: str) -> dict[str, int]:
        """Return how many messages were turned away, by code."""

    @abstractmethod
    def arrivals(self, task: str, since: int) -> list[tuple[int, int]]:
        """Return (minute as a time in seconds, messages accepted in it), in order."""

    @abstractmethod
    def add_tokens(self, tokens: Sequence[TokenRecord]) -> None:
        """Keep the hashes of new tokens."""

    @abstractmethod
    def token(self, hashed: bytes, now: int) -> TokenRecord | None:
        """Return what is known of a token that is neither revoked nor expired."""

    @abstractmethod
    def tokens(self) -> list[TokenRecord]:
        """Return all tokens but those of enrolment and sessions."""

    @abstractmethod
    def revoke(self, hashed: bytes) -> bool:
        """Forget a token."""

    @abstractmethod
    def prune(self, now: int, arrivals_before: int) -> None:
        """Drop expired tokens, old arrival counts, and payloads left of sealed rounds."""

    @abstractmethod
    def lease(self, name: str) -> AbstractContextManager[bool]:
        """Hold a name against every other process of this store; False if another holds it.

        A process that crashes lets go of the names it held.
        """

    @abstractmethod
    def check(self) -> None:
        """Raise ``UnavailableError`` unless the store can write now."""

    @abstractmethod
    def backup(self, path: Path) -> None:
        """Write a consistent copy to a new file, which a store of the same class opens."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""


def store_url(folder: Path, database: str = "") -> str:
    """Return the URL of a collector's store: its ``database``, or a file in its folder."""
    return database_or_file(database, folder / "collector.db")


def open_store(url: str) -> Store:
    """Open the store that a URL names."""
    return class_of(url, Store.kinds).from_url(url)


def store_exists(url: str) -> bool:
    """Return whether there is a store already where a URL says."""
    return class_of(url, Store.kinds).exists(url)
