"""The intake of the first hop: messages of devices are checked, stored by group commit, and only
then acknowledged.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sottovoce.shuffler.added_task import AddedTask
from sottovoce.shuffler.shuffler import Shuffler
from sottovoce.shuffler.store.base import SealedOffer, TakeVerdict
from sottovoce.web.group_commit import GroupCommit
from sottovoce.web.uploads import UploadReceipt, receipt

MALFORMED = "malformed"


@dataclass(frozen=True, eq=False)
class SealedUpload:
    """The messages of one request, for one round."""

    task: AddedTask
    round: int
    messages: Sequence[bytes]


class HopIntake(GroupCommit[SealedUpload, "list[_Piece]"]):
    """Checks and stores sealed messages.

    ``count`` is called with the number of messages of a task by verdict.
    """

    def __init__(
        self,
        shuffler: Shuffler,
        count: Callable[[str, Mapping[str, int]], None],
        max_waiting: int,
    ) -> None:
        super().__init__("intake", self._check_group, self._store_group, max_waiting)
        self._shuffler = shuffler
        self._count = count

    async def submit(self, upload: SealedUpload) -> UploadReceipt:
        """Store the messages, and return their verdicts once they are durable."""
        return await self.enqueue(upload, len(upload.messages))

    def _check_group(self, group: list[SealedUpload]) -> "list[_Piece]":
        """Check a group of requests, and return the messages of each for the store."""
        return [_Piece(upload, self._length(upload)) for upload in group]

    def _store_group(self, pieces: "list[_Piece]") -> list[UploadReceipt]:
        """Store the messages of a group in one transaction, and return the receipts."""
        # One order of rounds for all nodes, so that none waits for another in a circle.
        ordered = sorted(pieces, key=lambda piece: (piece.offer.task, piece.offer.round))
        verdicts = self._shuffler.store.take([piece.offer for piece in ordered])
        for piece, given in zip(ordered, verdicts, strict=True):
            piece.note(given)
            self._count(piece.upload.task.notice.name, piece.counts())
        return [receipt(piece.codes, 0, len(piece.upload.messages)) for piece in pieces]

    def _length(self, upload: SealedUpload) -> int | None:
        return self._shuffler.sealed_bytes(upload.task, upload.round)


class _Piece:
    """The messages of one request: those that are offered to the store, and all verdicts.

    ``sealed_bytes`` is the length of a message, or None if the round is not known yet.
    """

    def __init__(self, upload: SealedUpload, sealed_bytes: int | None) -> None:
        self.upload = upload
        self.codes: dict[int, str] = {}
        self._offered = []
        for index, message in enumerate(upload.messages):
            if sealed_bytes is None:
                self.codes[index] = TakeVerdict.TOO_EARLY.value
            elif len(message) != sealed_bytes:
                self.codes[index] = MALFORMED
            else:
                self._offered.append(index)
        messages = [upload.messages[index] for index in self._offered]
        self.offer = SealedOffer(upload.task.fingerprint, upload.round, messages)

    def note(self, verdicts: Sequence[TakeVerdict]) -> None:
        """Note the verdicts of the store on the offered messages."""
        for index, verdict in zip(self._offered, verdicts, strict=True):
            if verdict is not TakeVerdict.ACCEPTED:
                self.codes[index] = verdict.value

    def counts(self) -> dict[str, int]:
        """Return how many messages had which verdict."""
        accepted = len(self.upload.messages) - len(self.codes)
        return {**Counter(self.codes.values()), TakeVerdict.ACCEPTED.value: accepted}
