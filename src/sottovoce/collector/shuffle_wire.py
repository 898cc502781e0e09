"""The bodies of the requests and answers of shuffled tasks, as JSON; bytes are base64url."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from sottovoce.collector.wire import Label
from sottovoce.web.uploads import Count
from sottovoce.wire.fake_tokens import MAX_TOKENS
from sottovoce.wire.round_keys import SignedKey

PublicKeyText = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{43}$")]
SignatureText = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{86}$")]
NumberText = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{342}$")]  # of RSA with 2048 bits


class RoundKeyBody(Struct, forbid_unknown_fields=True):
    """The public key of a hop for one round, with the hop's signature."""

    public_key: PublicKeyText
    signature: SignatureText


class RoundKeyLine(Struct):
    """The public key of one hop, or of the collector under the number after the last hop."""

    hop: Count
    public_key: str
    signature: str


class RoundKeyList(Struct):
    """All keys of a round, what every hop has signed them with, and when the round opened.

    Keys and signatures on all keys together stand in the order of the hops.
    """

    digest: str
    round: Count
    opened: int
    keys: list[RoundKeyLine]
    set_signatures: list[str]


class UnsignedKeySet(Struct):
    """All keys of a round in the order of the hops, which the hops are to sign as one set."""

    digest: str
    round: Count
    keys: list[RoundKeyLine]


class SetSignatureBody(Struct, forbid_unknown_fields=True):
    """The signature of a hop on all keys of a round together."""

    signature: SignatureText


class BatchReceipt(Struct):
    """How many parts of a batch are here, of how many, and whether the batch is complete."""

    received: Count
    parts: Count
    complete: bool


class TokenPurchase(Struct, forbid_unknown_fields=True):
    """An enrolment token, and the blinded number that it should buy a signature on."""

    token: Label
    blinded: NumberText


class BlindSignature(Struct):
    """A blind signature, which only the device can turn into a token."""

    blind_signature: str


class FakeTokensBody(Struct, forbid_unknown_fields=True):
    """The blinded numbers of the tokens of a hop's fakes, and the hop's signature on all."""

    blinded: Annotated[list[NumberText], Meta(min_length=1, max_length=MAX_TOKENS)]
    signature: SignatureText


class BlindSignatures(Struct):
    """Blind signatures in the order of the numbers."""

    blind_signatures: list[str]


def key_lines(keys: Sequence[SignedKey]) -> list[RoundKeyLine]:
    """Return the keys of a round as they are served."""
    return [RoundKeyLine(**key.to_dict()) for key in keys]


round_key_body = msgspec.json.Decoder(RoundKeyBody)
set_signature_body = msgspec.json.Decoder(SetSignatureBody)
token_purchase = msgspec.json.Decoder(TokenPurchase)
fake_tokens_body = msgspec.json.Decoder(FakeTokensBody)
