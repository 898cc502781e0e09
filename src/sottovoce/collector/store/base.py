"""The contract of every store: what it keeps, and that it keeps it before it says so.

A store knows bytes and counts, never what they mean.  Every method is one transaction: when it returns, the
change is durable, and when it raises, nothing has changed.  A database that cannot serve raises ``UnavailableError``.
Time is an argument, in whole seconds.  Nothing here links an enrolment token to a report.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from sottovoce.arrays import Bytes

HASH_BYTES = 32


class State(StrEnum):
    """The life of a round: one way, each step once."""

    OPEN = "open"
    CLOSING = "closing"  # late reports are still taken
    SEALING = "sealing"  # nothing is taken any more; the log is being written
    SEALED = "sealed"  # the log is complete and never changes


TAKING = (State.OPEN, State.CLOSING)  # reports


class Verdict(StrEnum):
    """What became of one message."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"  # all its reports were here already: acknowledged again, counted once
    CONFLICTING = "conflicting"  # some of its reports were here already, and some not
    TOO_EARLY = "too-early"  # the round has not been opened
    TOO_LATE = "too-late"  # the round is sealed
    TOKEN_UNKNOWN = "token-unknown"
    TOKEN_SPENT = "token-spent"


@dataclass(frozen=True)
class TaskRecord:
    """A task as it was published; ``finished`` is when its plan answered, or failed for a stated reason."""

    name: str
    digest: str
    document: str
    created: int
    finished: int | None = None
    failure: str = ""


@dataclass(frozen=True)
class RoundRecord:
    """A round of a task; ``changed`` is when it entered its state, count and checksum are set by sealing."""

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

    ``ids`` is (messages, slots, 16), ``data`` (messages, bytes).  ``claims`` is (messages, 32), the hashes of the
    enrolment tokens, where the task asks for them; a token is good for one message per ``epoch``.
    """

    task: str
    round: int
    ids: Bytes
    data: Bytes
    claims: Bytes | None = None
    epoch: int = 0

    def __len__(self) -> int:
        return len(self.data)


class Store(ABC):
    """Control data, deduplication and the reports of open rounds."""

    address_form: ClassVar[str] = ""  # what --database looks like for this store, for people

    @classmethod
    def accepts(cls, address: str) -> bool:
        """Return whether this class opens the store at an address; "" is the store of a folder."""
        return False

    @classmethod
    def exists(cls, address: str, folder: Path) -> bool:
        """Return whether there is a store already; a server that is not asked counts as one."""
        return True

    @classmethod
    def open(cls, address: str, folder: Path) -> "Store":
        """Return the store at an address, for a collector with its files in ``folder``."""
        raise NotImplementedError

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
        """Open the next round; False if it has been opened, and a ``MismatchError`` if it then asked something else."""

    @abstractmethod
    def turn(self, task: str, number: int, old: State, new: State, now: int) -> bool:
        """Move a round from one state to the next; exactly one caller is told True."""

    @abstractmethod
    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        """Enter what the log holds, erase the payloads here, and move the round from sealing to sealed."""

    @abstractmethod
    def erase(self, task: str, number: int, now: int) -> bool:
        """Note that the log of a sealed round has been erased, and forget its report ids."""

    @abstractmethod
    def finish(self, task: str, now: int, failure: str = "") -> bool:
        """Note that a plan has answered, or why it could not."""

    @abstractmethod
    def accept(self, offers: Sequence[Offer], refused: Mapping[tuple[str, str], int], now: int) -> list[list[Verdict]]:
        """Store what is new and say of every message what became of it.

        ``refused`` counts, by task and code, what was turned away before it came here; refusals by the store
        are counted too.  Arrivals are counted by the minute.
        """

    @abstractmethod
    def segments(self, task: str, number: int) -> Iterator[bytes]:
        """Yield the messages of an unsealed round, many one after another at a time."""

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
        """Drop expired tokens and old arrival counts."""

    @abstractmethod
    def lease(self, name: str) -> AbstractContextManager[bool]:
        """Hold a name against every other process of this store, or be told False; a crash lets go of it."""

    @abstractmethod
    def check(self) -> None:
        """Raise ``UnavailableError`` unless the store can write now."""

    @abstractmethod
    def backup(self, path: Path) -> None:
        """Write a consistent copy that ``restore`` of the same kind of store reads."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""
