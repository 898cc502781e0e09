"""The long-term keys of a collector: files in its folder (``web/key_files.py``).

``signing.key`` signs the collector's round keys; the documents of shuffled tasks pin its public
half.  ``issuer.pem`` is the RSA key behind blind tokens.  Both stay as long as there are tasks that
name them, and a backup of the folder must hold them.
"""

from pathlib import Path

from sottovoce.core.base64url import text_of
from sottovoce.errors import NoDataError
from sottovoce.web import key_files
from sottovoce.web.key_files import SIGNING
from sottovoce.wire import tokens
from sottovoce.wire.round_keys import KeyPair
from sottovoce.wire.tokens import Issuer

ISSUER = "issuer.pem"
NAMES = (SIGNING, ISSUER)


def signing_key(folder: Path) -> KeyPair:
    """Return the collector's long-term signing key; it is made if it is not there."""
    return key_files.make_signing_key(folder)


def public_signing_key(folder: Path) -> str:
    """Return the public half of the signing key as documents pin it."""
    return text_of(signing_key(folder).public_key)


def make_issuer(folder: Path) -> Issuer:
    """Return the issuer of blind tokens; its key is made if it is not there."""
    return Issuer(key_files.make(folder / ISSUER, tokens.new_issuer_key))


def issuer(folder: Path) -> Issuer:
    """Return the issuer of blind tokens, or say that there is none."""
    try:
        return Issuer(key_files.read(folder / ISSUER))
    except NoDataError:
        raise NoDataError(
            "this collector issues no tokens: `sottovoce token issuer` makes a key"
        ) from None


def public_issuer_key(folder: Path) -> str:
    """Return the public half of the issuer's key as documents pin it."""
    return text_of(issuer(folder).public_key.data)
