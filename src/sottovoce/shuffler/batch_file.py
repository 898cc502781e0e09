"""The batch files of a hop: written whole, named after their content, erased after delivery.

A file is named after the round and the hash of its content.  The store notes the hash when the
batch is final; a file of another hash is left over from a hop that died, and is removed.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from sottovoce.core.base64url import text_of
from sottovoce.core.durable import sync
from sottovoce.errors import MismatchError, UnavailableError
from sottovoce.shuffler.mixing import MixResult

MAX_PART_MESSAGES = 1_000
MAX_PART_BYTES = 1 << 20
_HEAD_BYTES = 100  # of a part, before its messages
_PIECE = 1 << 20
_NAME_BYTES = 8  # of the hash, in the name of a file


class BatchFiles:
    """The folder of the batch files of one task."""

    def __init__(self, folder: Path, task: bytes) -> None:
        self.folder = folder / "batches" / text_of(task)

    def path(self, number: int, batch_hash: bytes) -> Path:
        """Return the path of the final batch of a round."""
        return self.folder / f"round-{number}-{batch_hash[:_NAME_BYTES].hex()}.batch"

    def write(self, number: int, write: Callable[[Path], MixResult]) -> MixResult:
        """Write a batch under another name, and give it its own when it is on the disk."""
        new = self.folder / f".round-{number}-{os.getpid()}.new"
        try:
            self._make_folder()
            result = write(new)
            sync(new)
            new.replace(self.path(number, result.batch.hash))
            sync(self.folder)
        except OSError as error:
            raise UnavailableError("the batch file cannot be written now") from error
        finally:
            with suppress(OSError):
                erase_file(new)
        return result

    def check(self, number: int, batch_hash: bytes) -> Path:
        """Return the path of a final batch; refuse a file that is not the one that was mixed."""
        path = self.path(number, batch_hash)
        hasher = sha256()
        try:
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    hasher.update(piece)
        except OSError as error:
            raise UnavailableError("the batch file cannot be read now") from error
        if hasher.digest() != batch_hash:
            raise MismatchError("the batch file has changed since it was mixed: abandon the round")
        return path

    def remove(self, number: int, keep: bytes | None = None) -> None:
        """Erase all files of a round but the one of this hash, half-written ones included."""
        if not self.folder.is_dir():
            return
        kept = None if keep is None else self.path(number, keep)
        for pattern in (f"round-{number}-*.batch", f".round-{number}-*.new"):
            for path in sorted(self.folder.glob(pattern)):
                if path != kept:
                    erase_file(path)
        sync(self.folder)

    def _make_folder(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            sync(self.folder.parent)
            sync(self.folder.parent.parent)


def part_messages(message_bytes: int) -> int:
    """Return how many messages a part has at the most: 1,000, and no more than 1 MiB."""
    return min(MAX_PART_MESSAGES, max(1, (MAX_PART_BYTES - _HEAD_BYTES) // message_bytes))


def read_parts(path: Path, part_bytes: int) -> Iterator[bytes]:
    """Yield the messages of a batch file, part by part."""
    with path.open("rb") as file:
        while part := file.read(part_bytes):
            yield part


def erase_file(path: Path) -> None:
    """Overwrite a file with zeros and remove it; nothing happens if there is none."""
    try:
        with path.open("r+b") as file:
            left = os.fstat(file.fileno()).st_size
            while left > 0:
                left -= file.write(bytes(min(left, _PIECE)))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnavailableError(f"the file {path.name} cannot be erased now") from error
