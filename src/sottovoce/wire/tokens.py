"""Blind tokens: one anonymous report per person, with a seed that nobody chose.

An issuer that knows who takes part signs one number per person and task without seeing what it
signs.  The device turns the signature into a token and sends the token with its report.  The
collector can check that the issuer signed the token; nobody, the issuer included, can tell for
whom.  Tokens are those of Privacy Pass with token type 2 (RSABSSA-SHA384-PSS-Deterministic, 2048
bits, exponent 65537):

    device:    pending = blind(key, digest)                        sends pending.blinded
    issuer:    blind_signature = issuer.sign(blinded)              once per person and task
    device:    token = finalize(pending, blind_signature)          checks it, keeps it
    collector: verify(token, key, digest)                          and that it has not been used

What is signed, big-endian as in the RFC, where the challenge names the task:

    token type u16 = 2 | nonce 32 | SHA-256(challenge) 32 | SHA-256(issuer's key) 32
    challenge = token type u16 = 2 | 9 u16 | "sottovoce" | 32 u8 | task digest 32 | 0 u16

Of these the collector knows all but the nonce, so a token travels as nonce and signature.

A signature cannot be computed before the issuer gives it, so the token fixes what a device must not
choose for itself: its hash seed and its public coins.

    seed draw = SHA-256("sottovoce/seed/v1" | task digest | signature | slot u32, little-endian),
                first 8 bytes, little-endian
    coin bytes = SHA-256("sottovoce/coin/v1" | task digest | signature), first 16 bytes

Every slot of a bundle has a seed of its own.  A mechanism whose reports carry fewer than 2^64 seeds
takes the draw modulo their number (``mechanisms/seeded.py``).

Source: RFC 9578; RFC 9474.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING

from sottovoce.core import settings
from sottovoce.core.coin import COIN_BYTES
from sottovoce.core.rng import SystemRng
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire import blind_rsa
from sottovoce.wire.seal import DIGEST_BYTES
from sottovoce.wire.sealed_extra import needs_cryptography

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

TOKEN_TYPE = 2
MODULUS_BITS = 2048
MODULUS_BYTES = MODULUS_BITS // 8
EXPONENT = 65537
NONCE_BYTES = 32
TOKEN_BYTES = NONCE_BYTES + MODULUS_BYTES

_ISSUER_NAME = b"sottovoce"
_SEED_BYTES = 8
_SLOT_BYTES = 4
_MULTIPLE_BYTES = 8

# A public key is a SubjectPublicKeyInfo (DER) of algorithm RSASSA-PSS with SHA-384, MGF1 with
# SHA-384 and a salt of 48 bytes.  With a modulus of 2048 bits and exponent 65537, only the modulus
# varies; these bytes stand before and after it.
_KEY_PREFIX = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d"
    "010108300b0609608648016503040202a2030201300382010f003082010a0282010100"
)
_KEY_SUFFIX = bytes.fromhex("0203010001")
ISSUER_KEY_BYTES = len(_KEY_PREFIX) + MODULUS_BYTES + len(_KEY_SUFFIX)


@dataclass(frozen=True)
class IssuerPublicKey:
    """The key that a task's document pins: a 2048-bit key of RSASSA-PSS, as RFC 9578 writes it."""

    data: bytes

    def __post_init__(self) -> None:
        settings.octets("data", self.data, ISSUER_KEY_BYTES)
        if not self.data.startswith(_KEY_PREFIX) or not self.data.endswith(_KEY_SUFFIX):
            raise ParameterError("`data` must be an RSASSA-PSS key with SHA-384, as in RFC 9578")
        if self.modulus.bit_length() != MODULUS_BITS:
            raise ParameterError(f"`data` must hold a modulus of exactly {MODULUS_BITS} bits")
        if self.modulus % 2 == 0:
            raise ParameterError("`data` must hold an odd modulus")

    @cached_property
    def modulus(self) -> int:
        """The product of the two primes."""
        start = len(_KEY_PREFIX)
        return int.from_bytes(self.data[start : start + MODULUS_BYTES])

    @cached_property
    def key_id(self) -> bytes:
        """SHA-256 of the key."""
        return hashlib.sha256(self.data).digest()

    @cached_property
    def loaded(self) -> "RSAPublicKey":
        """The key as an object of `cryptography`."""
        with needs_cryptography():
            from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
        return RSAPublicNumbers(EXPONENT, self.modulus).public_key()


class Issuer:
    """Holds the private key of an issuer and signs what it cannot read."""

    def __init__(self, pem: bytes) -> None:
        self.public_key, self._numbers = _numbers(_load_private_key(pem))

    def sign(self, blinded: bytes) -> bytes:
        """Return the blind signature.  The caller sees to it that everybody gets one per task."""
        number = _number(blinded, self.public_key.modulus, "a blinded token")
        blinds = blind_rsa.SigningBlinds(
            factor=_random_unit(self.public_key.modulus),
            first_multiple=int.from_bytes(SystemRng().bytes(_MULTIPLE_BYTES)),
            second_multiple=int.from_bytes(SystemRng().bytes(_MULTIPLE_BYTES)),
        )
        return blind_rsa.sign(number, self._numbers, blinds).to_bytes(MODULUS_BYTES)


@dataclass(frozen=True)
class PendingToken:
    """A token that is not signed yet: what a device keeps until the issuer has answered.

    The factor is secret: whoever has it can tell which token the issuer signed for this device.
    """

    key: IssuerPublicKey
    digest: bytes
    nonce: bytes
    salt: bytes
    factor: bytes = field(repr=False)

    def __post_init__(self) -> None:
        settings.instance("key", self.key, IssuerPublicKey)
        settings.octets("digest", self.digest, DIGEST_BYTES)
        settings.octets("nonce", self.nonce, NONCE_BYTES)
        settings.octets("salt", self.salt, blind_rsa.SALT_BYTES)
        settings.octets("factor", self.factor, MODULUS_BYTES)

    @property
    def blinded(self) -> bytes:
        """What the issuer signs; the same bytes each time, so that a request can be repeated."""
        content = token_input(self.nonce, challenge_digest(self.digest), self.key.key_id)
        encoded = blind_rsa.encode(content, self.salt, MODULUS_BITS)
        factor = int.from_bytes(self.factor)
        blinded = blind_rsa.blind(encoded, factor, self.key.modulus, EXPONENT)
        return blinded.to_bytes(MODULUS_BYTES)


@dataclass(frozen=True)
class Token:
    """A nonce and the issuer's signature on it."""

    nonce: bytes
    signature: bytes

    def __post_init__(self) -> None:
        settings.octets("nonce", self.nonce, NONCE_BYTES)
        settings.octets("signature", self.signature, MODULUS_BYTES)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Token":
        """Return the token in some bytes."""
        if len(data) != TOKEN_BYTES:
            raise CodecError(f"a token must have {TOKEN_BYTES} bytes")
        return cls(data[:NONCE_BYTES], data[NONCE_BYTES:])

    def to_bytes(self) -> bytes:
        """Return the token as it travels."""
        return self.nonce + self.signature

    def seed_draw(self, digest: bytes, slot: int) -> int:
        """Return the number in [0, 2^64) that gives the hash seed of one slot in this task."""
        place = slot.to_bytes(_SLOT_BYTES, "little")
        drawn = self._hash(b"sottovoce/seed/v1", digest, place)
        return int.from_bytes(drawn[:_SEED_BYTES], "little")

    def coin_bytes(self, digest: bytes) -> bytes:
        """Return the 16 bytes from which the device's public coins in this task follow."""
        return self._hash(b"sottovoce/coin/v1", digest)[:COIN_BYTES]

    def _hash(self, label: bytes, digest: bytes, place: bytes = b"") -> bytes:
        settings.octets("digest", digest, DIGEST_BYTES)
        return hashlib.sha256(label + digest + self.signature + place).digest()


def blind(key: IssuerPublicKey, digest: bytes) -> PendingToken:
    """Return a new token for one task, to be signed by the issuer with this key."""
    settings.instance("key", key, IssuerPublicKey)
    rng = SystemRng()
    return PendingToken(
        key=key,
        digest=digest,
        nonce=bytes(rng.bytes(NONCE_BYTES)),
        salt=bytes(rng.bytes(blind_rsa.SALT_BYTES)),
        factor=_random_unit(key.modulus).to_bytes(MODULUS_BYTES),
    )


def finalize(pending: PendingToken, blind_signature: bytes) -> Token:
    """Return the finished token; refuse a blind signature that is not one."""
    modulus = pending.key.modulus
    number = _number(blind_signature, modulus, "a blind signature")
    signature = blind_rsa.unblind(number, int.from_bytes(pending.factor), modulus)
    token = Token(pending.nonce, signature.to_bytes(MODULUS_BYTES))
    verify(token, pending.key, pending.digest)
    return token


def verify(token: Token, key: IssuerPublicKey, digest: bytes) -> None:
    """Refuse a token that the issuer with this key did not sign for this task."""
    with needs_cryptography():
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
        from cryptography.hazmat.primitives.hashes import SHA384
    content = token_input(token.nonce, challenge_digest(digest), key.key_id)
    padding = PSS(MGF1(SHA384()), blind_rsa.SALT_BYTES)
    try:
        key.loaded.verify(token.signature, content, padding, SHA384())
    except InvalidSignature as error:
        raise MismatchError(
            "a token is not signed for this task by the issuer in the document"
        ) from error


def new_issuer_key() -> bytes:
    """Return a new private key of an issuer, as PEM without a password."""
    with needs_cryptography():
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
    return generate_private_key(EXPONENT, MODULUS_BITS).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def challenge_digest(digest: bytes) -> bytes:
    """Return SHA-256 of the challenge that asks for tokens of one task."""
    settings.octets("digest", digest, DIGEST_BYTES)
    issuer = len(_ISSUER_NAME).to_bytes(2) + _ISSUER_NAME
    redemption_context = len(digest).to_bytes(1) + digest
    no_origin = bytes(2)
    challenge = TOKEN_TYPE.to_bytes(2) + issuer + redemption_context + no_origin
    return hashlib.sha256(challenge).digest()


def token_input(nonce: bytes, challenge_hash: bytes, key_id: bytes) -> bytes:
    """Return what the issuer signs."""
    return TOKEN_TYPE.to_bytes(2) + nonce + challenge_hash + key_id


def _load_private_key(pem: bytes) -> "RSAPrivateKey":
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    settings.instance("pem", pem, bytes)
    try:
        key = load_pem_private_key(pem, None)  # checks that the numbers belong together
    except (ValueError, TypeError):  # without the cause, which could show parts of the key
        raise ParameterError("`pem` must be a private key in PEM without a password") from None
    if not isinstance(key, RSAPrivateKey):
        raise ParameterError("`pem` must be a private key of RSA")
    return key


def _numbers(key: "RSAPrivateKey") -> tuple[IssuerPublicKey, blind_rsa.RsaNumbers]:
    """Return the two halves of a key of the one size and exponent that tokens use."""
    numbers = key.private_numbers()
    public = numbers.public_numbers
    if key.key_size != MODULUS_BITS:
        raise ParameterError(f"`pem` must be a key of {MODULUS_BITS} bits, not {key.key_size}")
    if public.e != EXPONENT:
        raise ParameterError(f"`pem` must be a key with exponent {EXPONENT}")
    if gcd(public.e, (numbers.p - 1) * (numbers.q - 1)) != 1:
        raise ParameterError("`pem` must be a key whose exponent has an inverse")
    data = _KEY_PREFIX + public.n.to_bytes(MODULUS_BYTES) + _KEY_SUFFIX
    return IssuerPublicKey(data), blind_rsa.RsaNumbers(
        modulus=public.n,
        exponent=public.e,
        first_prime=numbers.p,
        second_prime=numbers.q,
        first_exponent=numbers.dmp1,
        second_exponent=numbers.dmq1,
        coefficient=numbers.iqmp,
    )


def _number(data: bytes, modulus: int, name: str) -> int:
    """Return the number that some bytes spell; refuse one that is not below the modulus."""
    if len(data) != MODULUS_BYTES:
        raise CodecError(f"{name} must have {MODULUS_BYTES} bytes")
    number = int.from_bytes(data)
    if not 0 < number < modulus:
        raise CodecError(f"{name} must be a number above 0 and below the modulus")
    return number


def _random_unit(modulus: int) -> int:
    """Return a number uniform in [1, modulus).

    Every such number that anybody will ever draw has an inverse: one without would be a multiple of
    a prime of 1024 bits.
    """
    while True:
        number = int.from_bytes(SystemRng().bytes(MODULUS_BYTES))
        if 0 < number < modulus:
            return number
