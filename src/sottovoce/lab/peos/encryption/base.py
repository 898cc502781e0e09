"""The contract of additively homomorphic encryption of words, and what every scheme shares.

A plaintext is a word, a number modulo 2^64.  Multiplying ciphertexts adds the words, and the sum
wraps around inside the scheme:

    decrypt(encrypt(a) * encrypt(b) mod n) = a + b mod 2^64

With a larger plaintext ring whoever decrypts would see by how much a sum of shares went beyond
2^64, which tells about the shares.

Every operation that hands a ciphertext on multiplies it by a fresh encryption.  There is no public
operation that adds a known word without fresh randomness: whoever saw the ciphertext before and
holds the private key could follow it through a permutation.

Source: Wang 2021, section 9.5.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, TypeAlias

import numpy as np

from sottovoce.arrays import Longs
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.peos.eos_extra import needs_eos

WORD_BITS = 64
MODULUS_BITS = 3072  # 128 bits of security; anything less is for tests
MIN_MODULUS_BITS = 1024  # a factor must have room for 2^64, a subgroup and a cofactor

# Numbers below the modulus, as gmpy2 holds them.
Ciphertext: TypeAlias = Any
Ciphertexts: TypeAlias = list[Any]


class HomomorphicPublicKey(ABC):
    """What everybody may know: it encrypts words and adds to ciphertexts."""

    scheme: ClassVar[str]

    modulus: int
    word_base: int  # whose powers carry the words

    @abstractmethod
    def encrypt(self, word: int, rng: Rng) -> Ciphertext:
        """Return a fresh encryption of one word, as a user makes it.

        Powers with secret exponents are computed in constant time.
        """

    @abstractmethod
    def encrypt_all(self, words: Longs, rng: Rng) -> Ciphertexts:
        """Return fresh encryptions of many words, with tables of powers of the fixed bases."""

    def add(self, first: Ciphertext, second: Ciphertext) -> Ciphertext:
        """Return an encryption of the sum.  Its randomness is not fresh: do not hand it on."""
        return first * second % self.modulus

    def add_words(self, ciphertexts: Ciphertexts, words: Longs, rng: Rng) -> Ciphertexts:
        """Return the ciphertexts with words added, each with fresh randomness."""
        fresh = self.encrypt_all(words, rng)
        return [self.add(*pair) for pair in zip(ciphertexts, fresh, strict=True)]

    def rerandomise(self, ciphertexts: Ciphertexts, rng: Rng) -> Ciphertexts:
        """Return other encryptions of the same words."""
        return self.add_words(ciphertexts, np.zeros(len(ciphertexts), np.uint64), rng)

    @property
    def width(self) -> int:
        """Return the bytes of a packed ciphertext."""
        return (self.modulus.bit_length() + 7) // 8

    def pack(self, ciphertexts: Ciphertexts) -> bytes:
        """Return the ciphertexts as little-endian bytes, ``width`` bytes each."""
        return b"".join(int(number).to_bytes(self.width, "little") for number in ciphertexts)

    def unpack(self, data: bytes) -> Ciphertexts:
        """Return the ciphertexts in some bytes; numbers that are none of this key are refused."""
        with needs_eos():
            from gmpy2 import mpz
        if len(data) % self.width:
            raise CodecError(f"packed ciphertexts of this key must have {self.width} bytes each")
        starts = range(0, len(data), self.width)
        rows = (data[start : start + self.width] for start in starts)
        ciphertexts = [mpz(int.from_bytes(row, "little")) for row in rows]
        self.check(ciphertexts)
        return ciphertexts

    def check(self, ciphertexts: Ciphertexts) -> None:
        """Refuse numbers that are not invertible modulo n, which no encryption is."""
        with needs_eos():
            from gmpy2 import gcd, mpz
        product = mpz(1)
        for number in ciphertexts:
            if not 0 < number < self.modulus:
                raise CodecError("a ciphertext must be above 0 and below the modulus")
            product = product * number % self.modulus
        if gcd(product, self.modulus) != 1:
            raise CodecError("a ciphertext must have no factor in common with the modulus")

    def document(self) -> dict[str, str]:
        """Return the key as plain data: the scheme, and numbers in hexadecimal."""
        return {"scheme": self.scheme, **_hexadecimal(self)}

    @property
    def fingerprint(self) -> bytes:
        """Return the SHA-256 of the document: 32 bytes by which parties compare keys."""
        text = json.dumps(self.document(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).digest()

    def check_modulus(self) -> None:
        """Refuse a modulus that is too short for the structure of the schemes."""
        settings.whole("bits of modulus", self.modulus.bit_length(), MIN_MODULUS_BITS)

    def check_jacobi(self, name: str, base: int) -> None:
        """Refuse a base of words whose Jacobi symbol is not +1.

        Everybody can compute the symbol of a ciphertext.  With a base of symbol -1 it would be
        (-1)^word, and so the lowest bit of every encrypted word.
        """
        with needs_eos():
            from gmpy2 import jacobi
        if not 1 < base < self.modulus or jacobi(base, self.modulus) != 1:
            raise ParameterError(f"`{name}` must have the Jacobi symbol +1: it leaks bits if not")


class HomomorphicPrivateKey(ABC):
    """What the server alone knows: it decrypts."""

    scheme: ClassVar[str]

    @property
    @abstractmethod
    def public(self) -> HomomorphicPublicKey:
        """Return the key that everybody may know."""

    @abstractmethod
    def decrypt(self, ciphertext: Ciphertext) -> int:
        """Return the word in a ciphertext; a number that is no ciphertext is refused."""

    def decrypt_all(self, ciphertexts: Sequence[Ciphertext]) -> Longs:
        """Return the words in many ciphertexts."""
        words = (self.decrypt(ciphertext) for ciphertext in ciphertexts)
        return np.fromiter(words, np.uint64, len(ciphertexts))

    def document(self) -> dict[str, str]:
        """Return the key as plain data: secret."""
        return {"scheme": self.scheme, **_hexadecimal(self)}


def numbers_of(document: Mapping[str, str], names: Sequence[str]) -> list[int]:
    """Return the named numbers of a key's document; a document of another shape is refused."""
    if set(document) != {"scheme", *names}:
        raise CodecError(f"a key of this scheme must have exactly: scheme, {', '.join(names)}")
    try:
        return [int(document[name], 16) for name in names]
    except (TypeError, ValueError):
        raise CodecError("the numbers of a key must be written in hexadecimal") from None


def _hexadecimal(key: Any) -> dict[str, str]:
    return {number.name: f"{int(getattr(key, number.name)):x}" for number in fields(key)}
