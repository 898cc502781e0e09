"""The folder of a server process: for its user alone, and copied without following links.

Reports, hashes of tokens and sessions are in it, so the folder has the mode 0700 and its files
0600.  A process that works with the folder sets its umask for that; an existing folder that is open
to others is left as it is, with a warning.
"""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import MismatchError, StateError

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_OTHERS = 0o077  # everything that the group and all others may do


def keep_private() -> int:
    """Let this process make files for its user alone; return the umask that it had."""
    return os.umask(_OTHERS)


@contextmanager
def kept_private() -> Iterator[None]:
    """Make files for the user alone while the block lasts."""
    umask = keep_private()
    try:
        yield
    finally:
        os.umask(umask)


def make(folder: Path) -> None:
    """Make a folder for its user alone, if it is not there."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)


@contextmanager
def served(folder: Path) -> Iterator[None]:
    """Hold a folder for one server while the block lasts; a second server is refused.

    The lock is on the folder itself: it leaves no file, and ends with the process however it ends.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise StateError(
            f"another server is running on {folder}: stop it first, or give each node the same "
            "PostgreSQL with --database"
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)


def concerns(folder: Path) -> list[str]:
    """Return the concern that other users of the machine can open a folder, if they can."""
    if not folder.exists() or not stat.S_IMODE(folder.stat().st_mode) & _OTHERS:
        return []
    return [
        f"other users of this machine can open {folder}, which holds reports and hashes of tokens:"
        f" chmod 700 {folder}"
    ]


def copy_plain(origin: Path, copy: Path) -> None:
    """Copy a folder from an untrusted source; refuse links and everything except plain files.

    A symbolic link could lead out of the folder, and the other name of a hard link could change
    the file after it was checked.
    """
    copy.mkdir(mode=_FOLDER_MODE)
    for entry in sorted(os.scandir(origin), key=lambda entry: entry.name):
        target = copy / entry.name
        if entry.is_dir(follow_symlinks=False):
            copy_plain(Path(entry.path), target)
        else:
            _copy_file(Path(entry.path), target)


def restrict(folder: Path) -> None:
    """Close a folder and everything in it to others."""
    for path, folders, files in os.walk(folder):
        Path(path).chmod(_FOLDER_MODE)
        for name in files:
            Path(path, name).chmod(_FILE_MODE)
        del folders


def _copy_file(origin: Path, copy: Path) -> None:
    # Check the opened file and not the name, which may name another file a moment later.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(origin, flags)
    except OSError:
        raise _no_plain_file(origin) from None
    with os.fdopen(handle, "rb") as source:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise _no_plain_file(origin)
        target = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
        with os.fdopen(target, "wb") as sink:
            shutil.copyfileobj(source, sink)


def _no_plain_file(path: Path) -> MismatchError:
    return MismatchError(
        f"{path.name} must be a plain file with one name: links and special files are refused"
    )
