"""Files that appear whole or not at all, and are on the disk when a call returns.

Two processes may make the same file at the same time: one whose lease was lost when the database
server restarted, and one that has it now.  So each makes a file of its own before it takes the
name; with one name for both, the slower one's half would get the name of the whole.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from sottovoce.core.durable import sync
from sottovoce.core.rng import SystemRng
from sottovoce.engine.stored_path import AnyPath, StoredPath
from sottovoce.errors import UnavailableError

LEFTOVER_SUFFIX = ".new"  # of hidden files that a killed process leaves behind
SPILL_PREFIX = ".spill"  # of folders for what does not fit into memory


def replace_file(path: AnyPath, make: Callable[[Path], object]) -> None:
    """Write a file under a temporary name, sync it to the disk, and then rename it.

    For an object store the file is written to the disk, and sent when it is complete.
    """
    if isinstance(path, StoredPath):
        with TemporaryDirectory() as folder:
            temporary = Path(folder) / path.name
            make(temporary)
            path.write_bytes(temporary.read_bytes())
        return
    new = path.with_name(f".{path.stem}.{SystemRng().bytes(4).hex()}{LEFTOVER_SUFFIX}{path.suffix}")
    try:
        folder_of(path)
        make(new)
        sync(new)
        new.replace(path)
        sync(path.parent)
    except OSError as error:
        raise UnavailableError(f"the file {path.name} cannot be written now") from error
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def folder_of(path: AnyPath) -> Path:
    """Return the folder of a file, which is made if it is not there.

    For a file of an object store it is the folder of the system for temporary files.
    """
    if isinstance(path, StoredPath):
        return Path(gettempdir())
    try:
        _make_folder(path.parent)
    except OSError as error:
        raise UnavailableError(f"the file {path.name} cannot be written now") from error
    return path.parent


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, each with its name on the disk."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync(folder.parent)


def remove_leftovers(folder: AnyPath) -> None:
    """Remove half-written files of killed processes; no process may be writing in the folder."""
    if isinstance(folder, StoredPath):
        return  # objects are never half-written
    try:
        for spilled in folder.glob(f"{SPILL_PREFIX}*"):
            shutil.rmtree(spilled, ignore_errors=True)
        for path in folder.rglob(f".*{LEFTOVER_SUFFIX}*"):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UnavailableError("a half-written file cannot be removed now") from error


def remove_folder(folder: AnyPath) -> None:
    """Remove a folder and the files in it, if there is such a folder."""
    if not folder.is_dir():
        return
    if isinstance(folder, StoredPath):
        folder.remove_folder()
        return
    try:
        for path in folder.iterdir():
            path.unlink(missing_ok=True)
        folder.rmdir()
        sync(folder.parent)
    except OSError as error:
        raise UnavailableError(f"the folder {folder.name} cannot be removed now") from error
