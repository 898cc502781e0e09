"""Long-term keys as files in the folder of a server: each made once, readable by its user alone.

A file appears whole or not at all, and the first process to make it wins: nobody ever sees two keys
under one name.  A key that others can read is refused, because they may have copied it.

``signing.key`` is the Ed25519 key that signs in the name of a collector or a hop; the documents of
shuffled tasks pin its public half.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sottovoce.core.durable import sync
from sottovoce.core.rng import SystemRng
from sottovoce.errors import NoDataError, ParameterError, UnavailableError
from sottovoce.web import folder as folders
from sottovoce.wire.round_keys import KeyPair, new_signing_key
from sottovoce.wire.seal import KEY_BYTES
from sottovoce.wire.sealed_extra import needs_cryptography

SIGNING = "signing.key"
_MODE = 0o600
_OTHERS = 0o077  # everything that the group and all others may do


def make_signing_key(folder: Path) -> KeyPair:
    """Return the signing key of a folder; it is made if there is none."""
    return _pair(make(folder / SIGNING, lambda: new_signing_key().private_key))


def load_signing_key(folder: Path) -> KeyPair:
    """Return the signing key of a folder; ``NoDataError`` if there is none."""
    return _pair(read(folder / SIGNING))


def make(path: Path, new_key: Callable[[], bytes]) -> bytes:
    """Return the key in a file; the file is made first if it is not there."""
    if not path.exists():
        _write_once(path, new_key())
    return read(path)


def read(path: Path) -> bytes:
    """Return the key in a file, or refuse a file that others can read."""
    try:
        key = path.read_bytes()
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        raise NoDataError(f"there is no {path.name} in this folder") from None
    except OSError as error:
        raise UnavailableError(f"{path.name} cannot be read now") from error
    if mode & _OTHERS:
        raise ParameterError(f"others can read {path}: chmod 600 {path}, and consider a new key")
    return key


def _pair(private_key: bytes) -> KeyPair:
    if len(private_key) != KEY_BYTES:
        raise ParameterError(f"{SIGNING} must have {KEY_BYTES} bytes: restore it from a copy")
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    key = Ed25519PrivateKey.from_private_bytes(private_key)
    return KeyPair(private_key, key.public_key().public_bytes_raw())


def _write_once(path: Path, content: bytes) -> None:
    """Write a file under a name of its own, and give it its real name unless that is taken."""
    folders.make(path.parent)
    new = path.with_name(f".{path.name}.{bytes(SystemRng().bytes(8)).hex()}")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: its key counts
            os.link(new, path)  # unlike a rename, it never replaces a key
        sync(path.parent)
    except OSError as error:
        raise UnavailableError(f"{path.name} cannot be written now") from error
    finally:
        new.unlink(missing_ok=True)
