"""What a store keeps of shuffled tasks: round keys, batches, canaries and issued tokens.

A batch arrives in parts, which are stored as they come.  When all of them are there and their hash
is right, the batch is complete and final.  Then each part is opened once: in one transaction its
messages are accepted and its bytes erased (``Store.accept`` with ``opened``).  When all parts are
opened, the private key of the round is erased and the round goes to sealing.

As everywhere in a store, each method is one transaction, and knows bytes and counts only.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sottovoce.wire.round_keys import SignedKey


@dataclass(frozen=True)
class PartRecord:
    """One part of a batch as its sender signed it."""

    part: int
    parts: int
    batch_hash: bytes
    messages: bytes


@dataclass(frozen=True)
class BatchRecord:
    """What is here of a batch, and what was found in the parts that are opened.

    ``messages`` counts all messages of opened parts, ``unopened`` those that were not sealed for
    this round, ``duplicates`` those whose report was here already.
    """

    parts: int
    batch_hash: bytes
    received: int
    complete: bool
    opened: int
    messages: int
    unopened: int
    duplicates: int


@dataclass(frozen=True)
class OpenedPart:
    """A part whose messages are accepted: what else was found in it, and the canaries."""

    task: str
    round: int
    part: int
    messages: int
    unopened: int = 0
    canaries: tuple[bytes, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Canary:
    """A message of the operator: the id of its report, and the sealed bytes until they are sent."""

    report_id: bytes
    sealed: bytes = field(repr=False)


@dataclass(frozen=True)
class CanaryCounts:
    """How many canaries of a round were made, sent to the first hop, and found in the batch."""

    made: int = 0
    sent: int = 0
    found: int = 0


class Grant(StrEnum):
    """Whether an enrolment token buys a blind signature."""

    GRANTED = "granted"
    TOKEN_UNKNOWN = "token-unknown"
    TOKEN_SPENT = "token-spent"


class ShuffleStore(ABC):
    """Round keys, batches, canaries and issued tokens."""

    @abstractmethod
    def add_round_key(
        self, task: str, number: int, key: SignedKey, private_key: bytes | None = None
    ) -> bool:
        """Keep the key of a hop for a round; False if this very key is here already.

        The first key stays: another one is a ``MismatchError``.
        """

    @abstractmethod
    def round_keys(self, task: str, number: int) -> list[SignedKey]:
        """Return the keys of a round that are here, ordered by hop."""

    @abstractmethod
    def add_set_signature(self, task: str, number: int, hop: int, signature: bytes) -> bool:
        """Keep the signature of a hop on all keys of a round; False if there is one already."""

    @abstractmethod
    def set_signatures(self, task: str, number: int) -> list[bytes]:
        """Return the signatures of hops on all keys of a round that are here, ordered by hop."""

    @abstractmethod
    def private_round_key(self, task: str, number: int) -> bytes | None:
        """Return the collector's private key of a round, None once it is erased."""

    @abstractmethod
    def add_part(self, task: str, number: int, part: PartRecord) -> bool:
        """Keep a part of a batch; False if this very part is here already.

        A part of another batch, or another part of the same number, is a ``MismatchError``.  So is
        a new part of a round that is not open.
        """

    @abstractmethod
    def batch(self, task: str, number: int) -> BatchRecord | None:
        """Return what is known of the batch of a round, None if no part has come."""

    @abstractmethod
    def parts(self, task: str, number: int) -> Iterator[tuple[int, bytes]]:
        """Yield the parts that are not opened, in order, each with its number."""

    @abstractmethod
    def complete_batch(self, task: str, number: int) -> bool:
        """Note that all parts are here and give the hash that was signed; True if they are."""

    @abstractmethod
    def drop_batch(self, task: str, number: int) -> bool:
        """Forget a batch that is not complete."""

    @abstractmethod
    def close_batch(self, task: str, number: int, now: int) -> bool:
        """Erase the private key of a round whose parts are all opened, and move it to sealing."""

    @abstractmethod
    def add_canaries(self, task: str, number: int, canaries: Sequence[Canary]) -> None:
        """Remember canaries before they are sent."""

    @abstractmethod
    def unsent_canaries(self, task: str, number: int) -> list[Canary]:
        """Return the canaries that the first hop has not acknowledged."""

    @abstractmethod
    def note_sent(self, task: str, number: int, report_ids: Sequence[bytes]) -> None:
        """Note that the first hop has canaries, and erase their sealed bytes."""

    @abstractmethod
    def canary_ids(self, task: str, number: int) -> set[bytes]:
        """Return the report ids of all canaries of a round."""

    @abstractmethod
    def canary_counts(self, task: str, number: int) -> CanaryCounts:
        """Return how many canaries were made, sent and found."""

    @abstractmethod
    def claim_signature(self, task: str, token: bytes, blinded: bytes, now: int) -> Grant:
        """Let an enrolment token buy one blind signature of a task.

        Both are hashes.  The same blinded number may be asked for again, another one may not.
        """

    @abstractmethod
    def claim_fakes(
        self, task: str, number: int, hop: int, blinded: Sequence[bytes], most: int
    ) -> bool:
        """Let a hop have signatures for its fakes; False if they would be more than ``most``.

        ``blinded`` are hashes; those that were asked for before count once.
        """
