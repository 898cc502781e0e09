"""The scheme of Joye and Libert with words of 64 bits: Goldwasser-Micali with longer plaintexts.

    p = 1 mod 2^64        q = 3 mod 4        n = p q        y a non-residue modulo p and modulo q

With x uniform among the numbers that are invertible modulo n:

    encrypt(m) = y^m x^(2^64) mod n
    decrypt(c) = log of c^((p - 1) / 2^64) to the base y^((p - 1) / 2^64), modulo p

Here 2^64 is the highest power of two that divides p - 1.  A ciphertext has the Jacobi symbol +1
whatever the word.

Prefer it where devices are slow, browsers for instance: a single encryption takes a quarter of the
time of DGK.  Decryption takes more than twice as long.

Source: Joye and Libert 2013.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sottovoce.arrays import Longs
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.lab.peos.encryption.base import (
    MIN_MODULUS_BITS,
    MODULUS_BITS,
    WORD_BITS,
    Ciphertext,
    Ciphertexts,
    HomomorphicPrivateKey,
    HomomorphicPublicKey,
    numbers_of,
)
from sottovoce.lab.peos.encryption.discrete_log import PowerOfTwoLogarithm
from sottovoce.lab.peos.encryption.fixed_base import FixedBase
from sottovoce.lab.peos.encryption.random_numbers import (
    prime_above_multiple,
    prime_of_bits,
    unit_below,
)
from sottovoce.lab.peos.eos_extra import needs_eos

_WORDS = 1 << WORD_BITS


@dataclass(frozen=True)
class JoyeLibertPublicKey(HomomorphicPublicKey):
    """The modulus n and the base y."""

    scheme = "joye_libert"

    modulus: int
    word_base: int

    def __post_init__(self) -> None:
        self.check_modulus()
        self.check_jacobi("word_base", self.word_base)

    @classmethod
    def read(cls, document: Mapping[str, str]) -> "JoyeLibertPublicKey":
        """Return the key that a document describes."""
        return cls(*numbers_of(document, ("modulus", "word_base")))

    def encrypt(self, word: int, rng: Rng) -> Ciphertext:
        with needs_eos():
            from gmpy2 import powmod_sec
        # y^(2^64) is the power of a unit, so that the exponent may be m + 2^64: never 0.
        hidden = powmod_sec(self.word_base, _WORDS + int(word), self.modulus)
        return hidden * self._blinding(rng) % self.modulus

    def encrypt_all(self, words: Longs, rng: Rng) -> Ciphertexts:
        powers = map(self._word_powers.power, words.tolist())
        return [power * self._blinding(rng) % self.modulus for power in powers]

    def _blinding(self, rng: Rng) -> Any:
        """Return x^(2^64) of a random x; the exponent is public."""
        with needs_eos():
            from gmpy2 import powmod
        return powmod(unit_below(self.modulus, rng), _WORDS, self.modulus)

    @cached_property
    def _word_powers(self) -> FixedBase:
        return FixedBase(self.word_base, self.modulus, WORD_BITS)


@dataclass(frozen=True)
class JoyeLibertPrivateKey(HomomorphicPrivateKey):
    """The primes and the base; ``repr`` shows none of them."""

    scheme = "joye_libert"

    first_prime: int = field(repr=False)  # p
    second_prime: int = field(repr=False)  # q
    word_base: int = field(repr=False)

    def __post_init__(self) -> None:
        self._logarithm  # noqa: B018  # refuses a base of another order

    @classmethod
    def generate(cls, rng: Rng, modulus_bits: int = MODULUS_BITS) -> "JoyeLibertPrivateKey":
        """Return a new key.  Less than 3072 bits is for tests alone."""
        settings.whole("modulus_bits", modulus_bits, MIN_MODULUS_BITS)
        bits = modulus_bits // 2
        first_prime, _ = prime_above_multiple(_WORDS, bits, rng)
        second_prime = prime_of_bits(bits, rng)
        while second_prime % 4 != 3 or (first_prime * second_prime).bit_length() != modulus_bits:
            second_prime = prime_of_bits(bits, rng)
        word_base = _non_residue(first_prime, second_prime, rng)
        return cls(int(first_prime), int(second_prime), int(word_base))

    @classmethod
    def read(cls, document: Mapping[str, str]) -> "JoyeLibertPrivateKey":
        """Return the key that a document describes."""
        return cls(*numbers_of(document, ("first_prime", "second_prime", "word_base")))

    @cached_property
    def public(self) -> JoyeLibertPublicKey:
        return JoyeLibertPublicKey(self.first_prime * self.second_prime, self.word_base)

    def decrypt(self, ciphertext: Ciphertext) -> int:
        self.public.check([ciphertext])
        return self._logarithm.logarithm(self._lifted(ciphertext))

    def _lifted(self, number: Any) -> Any:
        """Return number^((p - 1) / 2^64) mod p: what remains has an order that divides 2^64."""
        with needs_eos():
            from gmpy2 import powmod_sec
        exponent = (self.first_prime - 1) // _WORDS
        return powmod_sec(number % self.first_prime, exponent, self.first_prime)

    @cached_property
    def _logarithm(self) -> PowerOfTwoLogarithm:
        return PowerOfTwoLogarithm(self._lifted(self.word_base), self.first_prime)


def _non_residue(first_prime: Any, second_prime: Any, rng: Rng) -> Any:
    """Return a random number that is a square modulo neither prime."""
    with needs_eos():
        from gmpy2 import jacobi
    while True:
        base = unit_below(first_prime * second_prime, rng)
        if jacobi(base, first_prime) == -1 and jacobi(base, second_prime) == -1:
            return base
