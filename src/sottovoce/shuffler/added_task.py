"""A task that the operator of a hop has added: its notice, and this hop's place in it."""

from dataclasses import dataclass
from functools import cached_property

from sottovoce.core.base64url import text_of
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.shuffler.store.base import HopTask
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.wire import codec
from sottovoce.wire.seal import SealContext
from sottovoce.wire.shuffled_message import seal_context


@dataclass(frozen=True)
class AddedTask:
    """The notice of a shuffled task, its collector's address, and the number of this hop."""

    notice: Notice
    shuffle: Shuffle
    collector: str
    hop: int

    @classmethod
    def read(cls, task: HopTask, public_key: bytes) -> "AddedTask":
        """Return the task in a document; refuse one that does not name this hop's key."""
        notice = codec.notice(codec.parse(task.document))
        if notice.shuffle is None:
            raise ParameterError("this task is not shuffled: a shuffler has no part in it")
        if notice.fingerprint != task.fingerprint:
            raise MismatchError("this task has another fingerprint than the one it was added with")
        hops = [hop.key_bytes for hop in notice.shuffle.hops]
        if public_key not in hops:
            raise MismatchError(
                "this task names other hops: its document must hold the key that"
                " `sottovoce shuffle key` prints"
            )
        return cls(notice, notice.shuffle, task.collector, hops.index(public_key))

    @property
    def fingerprint(self) -> bytes:
        """Return the SHA-256 of the document."""
        return self.notice.fingerprint

    @property
    def address_name(self) -> str:
        """Return the name of the task in the address of a hop."""
        return text_of(self.fingerprint)

    @property
    def is_first(self) -> bool:
        """Return whether devices send their messages to this hop."""
        return self.hop == 0

    @cached_property
    def previous_fakes(self) -> int:
        """Return how many fakes are in the batch that arrives at this hop."""
        return self.hop * self.shuffle.fakes

    def read_round(self, document: str) -> Round:
        """Return the round in a document, or refuse one that the task does not allow."""
        return self.notice.check(codec.round_(codec.parse(document)))

    def context(self, asked: Round) -> SealContext:
        """Return the context that all sealed messages of a round share."""
        return seal_context(self.notice, asked, self.fingerprint)

    def closes_at(self, asked: Round) -> int:
        """Return the number of messages at which the first hop closes a round; 0: none."""
        collection = self.notice.collection
        if collection is None or not collection.quota:
            return 0
        return max(asked.part(collection.quota), self.shuffle.users)

    @property
    def seconds(self) -> int:
        """Return the seconds after which the first hop closes a round; 0: never by itself."""
        collection = self.notice.collection
        return 0 if collection is None else collection.seconds


def new_task(document: str, collector: str) -> HopTask:
    """Return a task to add, from the text of its document."""
    content = codec.parse(document)
    canonical = codec.canonical(content)
    return HopTask(codec.notice(content).fingerprint, canonical, collector.rstrip("/"))
