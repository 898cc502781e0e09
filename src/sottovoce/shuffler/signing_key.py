"""The long-term key of a hop: a file in its folder, which only its user may read.

The public half stands in the documents of tasks.  Losing the private half ends the hop's part in
all tasks that name it; whoever copies it can sign in the hop's name.
"""

import os
import stat
from base64 import urlsafe_b64encode
from contextlib import suppress
from pathlib import Path

from sottovoce.engine.files import sync
from sottovoce.errors import NoDataError, ParameterError, UnavailableError
from sottovoce.web import folder as folders
from sottovoce.wire.round_keys import KeyPair, new_signing_key
from sottovoce.wire.seal import KEY_BYTES
from sottovoce.wire.sealed_extra import needs_cryptography

FILE_NAME = "signing.key"
_OTHERS = 0o077


def load_signing_key(folder: Path) -> KeyPair:
    """Return the long-term key of the hop in a folder."""
    path = folder / FILE_NAME
    try:
        private_key = path.read_bytes()
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        raise NoDataError(
            "there is no shuffler in this folder: `sottovoce shuffle key` makes its key"
        ) from None
    except OSError as error:
        raise UnavailableError(f"the file {FILE_NAME} cannot be read now") from error
    if mode & _OTHERS:
        raise ParameterError(f"others can read {path}: chmod 600 {path}, and consider a new key")
    if len(private_key) != KEY_BYTES:
        raise ParameterError(f"{FILE_NAME} must have {KEY_BYTES} bytes: restore it")
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    key = Ed25519PrivateKey.from_private_bytes(private_key)
    return KeyPair(private_key, key.public_key().public_bytes_raw())


def make_signing_key(folder: Path) -> KeyPair:
    """Return the long-term key of the hop in a folder; it is made if there is none."""
    folders.make(folder)
    path = folder / FILE_NAME
    new = path.with_name(f".{FILE_NAME}.{os.getpid()}.new")
    if not path.exists():
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(new_signing_key().private_key)
                file.flush()
                os.fsync(handle)
            with suppress(FileExistsError):
                os.link(new, path)  # unlike a rename, it never replaces a key
            sync(folder)
        except OSError as error:
            raise UnavailableError(f"the file {FILE_NAME} cannot be written now") from error
        finally:
            new.unlink(missing_ok=True)
    return load_signing_key(folder)


def key_text(key: bytes) -> str:
    """Return a key, a signature or a fingerprint as documents and addresses write it."""
    return urlsafe_b64encode(key).rstrip(b"=").decode()
