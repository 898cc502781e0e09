"""The long-term keys of a collector: files in its folder, each made once, for its user alone.

``signing.key`` is the Ed25519 key that signs the collector's round keys; the documents of shuffled
tasks pin its public half.  ``issuer.pem`` is the RSA key behind blind tokens.  Both stay as long as
there are tasks that name them, and a backup of the folder must hold them.

A file appears whole or not at all, and the first process to make it wins: nobody ever sees two
keys under one name.
"""

import os
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sottovoce.core.rng import SystemRng
from sottovoce.engine.files import sync
from sottovoce.errors import MismatchError, NoDataError, UnavailableError
from sottovoce.web import folder as folders
from sottovoce.wire import round_keys, tokens
from sottovoce.wire.round_keys import KeyPair
from sottovoce.wire.seal import KEY_BYTES
from sottovoce.wire.sealed_extra import needs_cryptography
from sottovoce.wire.tokens import Issuer

SIGNING = "signing.key"
ISSUER = "issuer.pem"
NAMES = (SIGNING, ISSUER)
_MODE = 0o600


def signing_key(folder: Path) -> KeyPair:
    """Return the collector's long-term signing key; it is made if it is not there."""
    private_key = _kept(folder / SIGNING, lambda: round_keys.new_signing_key().private_key)
    if len(private_key) != KEY_BYTES:
        raise MismatchError(f"{SIGNING} is damaged: restore it from a backup")
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    public_key = Ed25519PrivateKey.from_private_bytes(private_key).public_key()
    return KeyPair(private_key, public_key.public_bytes_raw())


def public_signing_key(folder: Path) -> str:
    """Return the public half of the signing key as documents pin it."""
    return base64url(signing_key(folder).public_key)


def make_issuer(folder: Path) -> Issuer:
    """Return the issuer of blind tokens; its key is made if it is not there."""
    return Issuer(_kept(folder / ISSUER, tokens.new_issuer_key))


def issuer(folder: Path) -> Issuer:
    """Return the issuer of blind tokens, or say that there is none."""
    path = folder / ISSUER
    if not path.exists():
        raise NoDataError("this collector issues no tokens: `sottovoce token issuer` makes a key")
    return Issuer(_read(path))


def base64url(data: bytes) -> str:
    """Return bytes as base64url without padding, as documents write keys."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _kept(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return what a file holds; the file is made first if it is not there."""
    if not path.exists():
        _write_once(path, make())
    return _read(path)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnavailableError(f"{path.name} cannot be read") from error


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
            os.link(new, path)
        sync(path.parent)
    except OSError as error:
        raise UnavailableError(f"{path.name} cannot be written") from error
    finally:
        new.unlink(missing_ok=True)
