"""The arithmetic of blind RSA signatures (RSABSSA-SHA384-PSS), on whole numbers.

Somebody wants a signature on a message m that the signer must not see.  With the signer's public
key (n, e), private exponent d, and a random factor r:

    encoded = EMSA-PSS(m, salt)                              the padding of RSASSA-PSS
    blinded = encoded r^e              mod n                 what the signer sees: a uniform number
    blind signature = blinded^d        mod n                 = encoded^d r
    signature = blind signature / r    mod n                 = encoded^d, a signature of RSASSA-PSS

These functions compute and draw nothing: the salt and the factor are arguments, so that published
vectors can check every step.  ``wire/tokens.py`` draws them from the operating system and is what
the rest of the package uses.

Signing is the only step that touches the private key.  It does not work on the number that it is
given, and not with the exponent of the key, because the time that whole numbers take depends on
both: see ``SigningBlinds``.  It checks its result before it returns it, because one faulty
signature by the Chinese remainder theorem gives the key away.

Source: RFC 9474; RFC 8017.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import gcd

from sottovoce.core import settings
from sottovoce.errors import ParameterError, UnavailableError

SALT_BYTES = 48
HASH_BYTES = 48  # of SHA-384

_TRAILER = b"\xbc"


@dataclass(frozen=True)
class RsaNumbers:
    """The numbers of a private key; ``repr`` leaves all but the public ones out."""

    modulus: int
    exponent: int
    first_prime: int = field(repr=False)
    second_prime: int = field(repr=False)
    first_exponent: int = field(repr=False)  # d mod (first_prime - 1)
    second_exponent: int = field(repr=False)  # d mod (second_prime - 1)
    coefficient: int = field(repr=False)  # 1 / second_prime mod first_prime


@dataclass(frozen=True)
class SigningBlinds:
    """What one signature is hidden behind, drawn anew for every one.

    ``factor`` is a number below the modulus that multiplies what is signed; ``first_multiple`` and
    ``second_multiple`` say how often prime - 1 is added to the private exponents.
    """

    factor: int = field(repr=False)
    first_multiple: int = field(repr=False)
    second_multiple: int = field(repr=False)


def encode(message: bytes, salt: bytes, modulus_bits: int) -> int:
    """Return EMSA-PSS-ENCODE of a message with SHA-384 and MGF1, for a modulus of so many bits."""
    # The block below holds a bit before the salt: encoded_bits >= 8 hash + 8 salt + 9.
    settings.whole("modulus_bits", modulus_bits, 8 * (HASH_BYTES + len(salt)) + 10)
    encoded_bits = modulus_bits - 1
    encoded_bytes = (encoded_bits + 7) // 8
    mask_bytes = encoded_bytes - HASH_BYTES - 1
    message_hash = hashlib.sha384(message).digest()
    salted_hash = hashlib.sha384(bytes(8) + message_hash + salt).digest()
    block = int.from_bytes(b"\x01" + salt)  # after as many zero bytes as there is room for
    masked = block ^ int.from_bytes(_mask(salted_hash, mask_bytes))
    unused_bits = 8 * encoded_bytes - encoded_bits
    masked &= (1 << (8 * mask_bytes - unused_bits)) - 1
    return int.from_bytes(masked.to_bytes(mask_bytes) + salted_hash + _TRAILER)


def blind(encoded: int, factor: int, modulus: int, exponent: int) -> int:
    """Return what the signer sees: uniform if the factor is, whatever is encoded.

    A modulus with small factors, made by a dishonest signer, would let factors of the encoded
    message through.  Such a modulus is refused when it happens.
    """
    blinded = encoded * pow(factor, exponent, modulus) % modulus
    if gcd(blinded, modulus) != 1:
        raise ParameterError("`modulus` must be a product of two large primes")
    return blinded


def unblind(blind_signature: int, factor: int, modulus: int) -> int:
    """Return the signature on what was encoded."""
    return blind_signature * pow(factor, -1, modulus) % modulus


def sign(blinded: int, key: RsaNumbers, blinds: SigningBlinds) -> int:
    """Return the blind signature; refuse to release one that does not verify."""
    hidden = blind(blinded, blinds.factor, key.modulus, key.exponent)
    signature = unblind(_private_power(hidden, key, blinds), blinds.factor, key.modulus)
    if pow(signature, key.exponent, key.modulus) != blinded:
        raise UnavailableError("a blind signature was computed wrongly and is not released")
    return signature


def _private_power(number: int, key: RsaNumbers, blinds: SigningBlinds) -> int:
    """Return number^d mod n, computed modulo either prime."""
    power = _power()
    first_order = key.first_prime - 1
    second_order = key.second_prime - 1
    # number^(d + k (prime - 1)) = number^d modulo a prime, for every k
    first_exponent = key.first_exponent + blinds.first_multiple * first_order
    second_exponent = key.second_exponent + blinds.second_multiple * second_order
    first = power(number % key.first_prime, first_exponent, key.first_prime)
    second = power(number % key.second_prime, second_exponent, key.second_prime)
    return second + key.second_prime * ((first - second) * key.coefficient % key.first_prime)


@cache
def _power() -> Callable[[int, int, int], int]:
    """Return a modular power: that of GMP in constant time if gmpy2 is there, or Python's own."""
    try:
        from gmpy2 import powmod_sec
    except ImportError:
        return pow
    return lambda base, exponent, modulus: int(powmod_sec(base, exponent, modulus))


def _mask(seed: bytes, length: int) -> bytes:
    """Return MGF1 of a seed with SHA-384."""
    blocks = range(-(-length // HASH_BYTES))
    stream = (hashlib.sha384(seed + block.to_bytes(4)).digest() for block in blocks)
    return b"".join(stream)[:length]
