"""Files and folders of an object store that are used like those of a disk.

``StoredPath`` has the part of ``pathlib.Path`` that sealed logs need.  It uses a filesystem of
Arrow, for S3 and compatible stores.  An object appears completely or not at all, and is durable
when the call that writes it returns.  There are no folders: a common prefix of names serves as one.

    logs = log_folder("s3://bucket/prefix")

The endpoint, the keys and the region are those of the environment: ``AWS_ENDPOINT_URL``,
``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from sottovoce.errors import ParameterError, UnavailableError

S3_SECONDS = 20.0  # that a request may wait for the store


@dataclass(frozen=True)
class StoredPath:
    """A path of an object store."""

    system: Any = field(compare=False, repr=False)  # one for all paths of a collector
    key: PurePosixPath

    def __truediv__(self, name: str) -> "StoredPath":
        return StoredPath(self.system, self.key / name)

    def __str__(self) -> str:
        return str(self.key)

    @property
    def name(self) -> str:
        return self.key.name

    @property
    def parent(self) -> "StoredPath":
        return StoredPath(self.system, self.key.parent)

    def with_suffix(self, suffix: str) -> "StoredPath":
        return StoredPath(self.system, self.key.with_suffix(suffix))

    def is_file(self) -> bool:
        return bool(self._info().is_file)

    def is_dir(self) -> bool:
        return bool(self._info().type == self._directory)

    def exists(self) -> bool:
        info = self._info()
        return bool(info.is_file or info.type == self._directory)

    def read_bytes(self) -> bytes:
        with self.open() as file:
            content: bytes = file.read()
        return content

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.read_bytes().decode(encoding)

    def write_bytes(self, content: bytes) -> None:
        with _asking(), self.system.open_output_stream(str(self.key)) as stream:
            stream.write(content)

    def open(self, mode: str = "rb") -> Any:
        with _asking():
            return self.system.open_input_file(str(self.key))

    def unlink(self, *, missing_ok: bool = False) -> None:
        if missing_ok and not self.is_file():
            return
        with _asking():
            self.system.delete_file(str(self.key))

    def iterdir(self) -> Iterator["StoredPath"]:
        from pyarrow.fs import FileSelector

        with _asking():
            selector = FileSelector(str(self.key), allow_not_found=True)
            entries = self.system.get_file_info(selector)
        for entry in entries:
            yield StoredPath(self.system, PurePosixPath(entry.path))

    def remove_folder(self) -> None:
        """Remove everything below this name."""
        with _asking():
            self.system.delete_dir(str(self.key))

    def _info(self) -> Any:
        with _asking():
            return self.system.get_file_info(str(self.key))

    @property
    def _directory(self) -> Any:
        from pyarrow.fs import FileType

        return FileType.Directory


AnyPath = Path | StoredPath


def log_folder(url: str, environment: Mapping[str, str] = os.environ) -> StoredPath:
    """Return the place that a URL names."""
    from pyarrow.fs import S3FileSystem

    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc:
        raise ParameterError("`logs` must be a URL such as s3://bucket/prefix")
    endpoint = urlsplit(environment.get("AWS_ENDPOINT_URL", ""))
    system = S3FileSystem(
        endpoint_override=endpoint.netloc or None,
        scheme=endpoint.scheme or "https",
        region=environment.get("AWS_REGION", "us-east-1"),
        connect_timeout=S3_SECONDS,
        request_timeout=S3_SECONDS,
    )
    return StoredPath(system, PurePosixPath(parts.netloc) / parts.path.strip("/"))


@contextmanager
def _asking() -> Iterator[None]:
    """Convert errors of an object store into errors that callers can act on."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnavailableError("the store of sealed logs cannot be reached now") from error
