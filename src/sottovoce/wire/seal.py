"""Sealed messages: an onion with one layer of encryption per hop and one for the collector.

A device seals its message for the collector, then for the last hop, and so on up to the first.
Every hop removes one layer; only the collector sees the message.  A layer is HPKE in base mode
with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM:

    layer(h) = encapsulated key 32 | AES-128-GCM(layer(h + 1)) | tag 16,  layer(hops + 1) = message

Hops are numbered from 0 in the order in which they receive the message; the collector has the
number after the last hop.  The ``info`` of HPKE binds a layer to its task, round and hop:

    info = "sottovoce/seal/v2" | task digest 32 | round u16, little-endian | hop u8

so that a message for another task, another round or another hop does not open.  All messages of a
round have one length, and what a hop receives has one length too: a hop refuses every other.

The ephemeral keys come from the operating system; nothing here takes randomness as an argument.

Source: RFC 9180.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sottovoce.core import settings
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire.sealed_extra import needs_cryptography

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.hpke import Suite

DIGEST_BYTES = 32
KEY_BYTES = 32
LAYER_BYTES = 48  # an encapsulated key of 32 bytes and a tag of 16
MAX_HOPS = 8
MAX_ROUND = (1 << 16) - 1
MAX_MESSAGE_BYTES = 1 << 20

_LABEL = b"sottovoce/seal/v2"


@dataclass(frozen=True)
class SealContext:
    """What all sealed messages of one round have in common.

    ``hops`` is the number of hops before the collector, ``message_bytes`` the length of what the
    collector finds under the last layer.
    """

    digest: bytes
    round: int
    hops: int
    message_bytes: int

    def __post_init__(self) -> None:
        settings.octets("digest", self.digest, DIGEST_BYTES)
        settings.whole("round", self.round, 0, MAX_ROUND)
        settings.whole("hops", self.hops, 0, MAX_HOPS)
        settings.whole("message_bytes", self.message_bytes, 1, MAX_MESSAGE_BYTES)

    def sealed_bytes(self, hop: int) -> int:
        """Return the length of what a hop receives, or the collector under the number ``hops``."""
        settings.whole("hop", hop, 0, self.hops)
        return self.message_bytes + LAYER_BYTES * (self.hops + 1 - hop)

    def info(self, hop: int) -> bytes:
        """Return the bytes that bind a layer to its task, round and hop."""
        settings.whole("hop", hop, 0, self.hops)
        return _LABEL + self.digest + self.round.to_bytes(2, "little") + bytes([hop])


class LayerOpener:
    """Removes the layer of one hop from the messages of one round.

    Reading a private key takes as long as opening a message, so a hop makes one opener for a batch.
    """

    def __init__(self, private_key: bytes, context: SealContext, hop: int) -> None:
        settings.octets("private_key", private_key, KEY_BYTES)
        settings.instance("context", context, SealContext)
        with needs_cryptography():
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        self._key = X25519PrivateKey.from_private_bytes(private_key)
        self._info = context.info(hop)
        self._sealed_bytes = context.sealed_bytes(hop)
        self._suite = _suite()
        self._refusals = (InvalidTag, ValueError)

    def open(self, sealed: bytes) -> bytes:
        """Return what is under the layer, or refuse what was not sealed for this hop."""
        if len(sealed) != self._sealed_bytes:
            raise CodecError(f"a sealed message must have {self._sealed_bytes} bytes at this hop")
        try:
            return self._suite.decrypt(sealed, self._key, self._info)
        except self._refusals as error:
            raise MismatchError(
                "a sealed message does not open: it was sealed for another task, round, hop or "
                "key, or it was changed on the way"
            ) from error


def open_layer(sealed: bytes, private_key: bytes, context: SealContext, hop: int) -> bytes:
    """Return what is under the layer of one hop; for a batch, use a ``LayerOpener``."""
    return LayerOpener(private_key, context, hop).open(sealed)


def seal(message: bytes, keys: Sequence[bytes], context: SealContext, first_hop: int = 0) -> bytes:
    """Return a message in one layer per key: the first hop's key first, the collector's last.

    A hop that adds a message of its own seals it for the hops behind it: ``first_hop`` is the
    number of the next one, and ``keys`` are those from it on.
    """
    settings.instance("context", context, SealContext)
    settings.octets("message", message, context.message_bytes)
    settings.whole("first_hop", first_hop, 0, context.hops)
    layers = context.hops + 1 - first_hop
    settings.entries("keys", keys, layers, layers)
    for hop, public_key in enumerate(keys):
        settings.octets(f"keys[{hop}]", public_key, KEY_BYTES)
    sealed = message
    for layer in reversed(range(layers)):
        sealed = _seal_layer(sealed, keys[layer], context.info(first_hop + layer))
    return sealed


def _seal_layer(content: bytes, public_key: bytes, info: bytes) -> bytes:
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    key = X25519PublicKey.from_public_bytes(public_key)
    try:
        return _suite().encrypt(content, key, info)
    except ValueError as error:  # the shared secret would be zero, whatever the ephemeral key is
        raise ParameterError("each entry of `keys` must be a point of large order") from error


@cache
def _suite() -> "Suite":
    with needs_cryptography():
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
