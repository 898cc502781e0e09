"""The schemes by name, and keys from their documents."""

from collections.abc import Mapping

from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.lab.peos.encryption.base import (
    MODULUS_BITS,
    HomomorphicPrivateKey,
    HomomorphicPublicKey,
)
from sottovoce.lab.peos.encryption.dgk import DgkPrivateKey, DgkPublicKey
from sottovoce.lab.peos.encryption.joye_libert import JoyeLibertPrivateKey, JoyeLibertPublicKey

_PUBLIC = {key.scheme: key for key in (DgkPublicKey, JoyeLibertPublicKey)}
_PRIVATE = {key.scheme: key for key in (DgkPrivateKey, JoyeLibertPrivateKey)}
SCHEMES = tuple(_PRIVATE)


def new_private_key(
    scheme: str, rng: Rng, modulus_bits: int = MODULUS_BITS
) -> HomomorphicPrivateKey:
    """Return a new key.  Less than 3072 bits is for tests alone."""
    return _PRIVATE[settings.choice("scheme", scheme, SCHEMES)].generate(rng, modulus_bits)


def read_public_key(document: Mapping[str, str]) -> HomomorphicPublicKey:
    """Return the public key that a document describes, checked."""
    return _PUBLIC[settings.choice("scheme", document.get("scheme"), SCHEMES)].read(document)


def read_private_key(document: Mapping[str, str]) -> HomomorphicPrivateKey:
    """Return the private key that a document describes, checked."""
    return _PRIVATE[settings.choice("scheme", document.get("scheme"), SCHEMES)].read(document)
