"""Delivery: a mixed batch goes to the next hop, or to the collector, in signed parts.

The receiver keeps one copy of a part, even if it is sent several times.  It reports when all parts
have arrived and their joint hash is the stated one.  An interrupted delivery begins again with the
first part.  The bytes always come from the batch file, so the messages are never sent in a second
order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sottovoce.errors import CodecError
from sottovoce.shuffler.added_task import AddedTask
from sottovoce.shuffler.batch_file import part_messages, read_parts
from sottovoce.shuffler.collector_link import CollectorLink
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.wire.batch_part import BatchPart


@dataclass(frozen=True)
class Delivery:
    """A batch that is to be delivered: its file, its hash, and the bytes of one message."""

    task: AddedTask
    round: int
    path: Path
    batch_hash: bytes
    message_bytes: int
    message_count: int

    def send(self, signing_key: bytes, connect: Callable[[str], OtherServer] = OtherServer) -> bool:
        """Send all parts, and return whether the receiver has the whole batch."""
        server = connect(self._receiver)
        in_part = part_messages(self.message_bytes)
        parts = -(-self.message_count // in_part)
        for number, messages in enumerate(read_parts(self.path, in_part * self.message_bytes)):
            part = BatchPart(
                digest=self.task.fingerprint,
                round=self.round,
                hop=self.task.hop,
                part=number,
                parts=parts,
                batch_hash=self.batch_hash,
                messages=messages,
            )
            answer = server.put_bytes(f"{self._path}/{number}", part.write(signing_key))
            complete = answer.get("complete")
            if not isinstance(complete, bool):
                raise CodecError("the answer to a part must say whether the batch is complete")
            if complete:
                return True
        return False

    @property
    def _is_last(self) -> bool:
        return self.task.hop + 1 == len(self.task.shuffle.hops)

    @property
    def _receiver(self) -> str:
        """Return the address of the receiver of the batch."""
        if self._is_last:
            return self.task.collector
        return self.task.shuffle.hops[self.task.hop + 1].url

    @property
    def _path(self) -> str:
        task_path = f"/v1/tasks/{self.task.address_name}"
        if self._is_last:
            task_path = CollectorLink(self.task).path
        return f"{task_path}/rounds/{self.round}/batch"
