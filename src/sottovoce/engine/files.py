"""Files that appear whole or not at all, and are on the disk when a call returns.

Two processes may make the same file at the same time: one whose lease was lost when the database
server restarted, and one that has it now.  So each makes a file of its own before it takes the
name; with one name for both, the slower one's half would get the name of the whole.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sottovoce.core.durable import sync
from sottovoce.core.rng import SystemRng
from sottovoce.errors import UnavailableError


def replace_file(path: Path, make: Callable[[Path], object]) -> None:
    """Make a file under another name, push it to the disk, and only then give it its own name."""
    new = path.with_name(f".{path.stem}.{SystemRng().bytes(4).hex()}.new{path.suffix}")
    try:
        _make_folder(path.parent)
        make(new)
        sync(new)
        new.replace(path)
        sync(path.parent)
    except OSError as error:
        raise UnavailableError(f"the file {path.name} cannot be written now") from error
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, each with its name on the disk."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync(folder.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left half-written; nobody may be writing in the folder."""
    try:
        for path in folder.glob(".*.new*"):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UnavailableError("a half-written file cannot be removed now") from error
