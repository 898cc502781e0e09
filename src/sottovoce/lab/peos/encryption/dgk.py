"""The scheme of Damgård, Geisler and Krøigaard with words of 64 bits and full decryption.

    p = 2^64 v_p s_p + 1        q = 2^64 v_q s_q + 1        n = p q

with primes v of 256 bits and odd cofactors s.  The base g has the order 2^64 v_p modulo p and
2^64 v_q modulo q, the base h the orders v_p and v_q.  With rho uniform below 2^640:

    encrypt(m) = g^m h^rho mod n        decrypt(c) = log of c^(v_p) to the base g^(v_p), modulo p

An even cofactor beside an odd one would give g the Jacobi symbol -1, which makes the lowest bit of
every word public.  Keys with such a base are refused.

Prefer it over Joye-Libert where one server decrypts many reports: decryption takes less than half
the time.

Source: Damgård, Geisler and Krøigaard 2007; Wang 2021, section 9.5.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sottovoce.arrays import Longs
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
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
    number_of_bits,
    prime_above_multiple,
    prime_of_bits,
    unit_below,
)
from sottovoce.lab.peos.eos_extra import needs_eos

SUBGROUP_BITS = 256  # of v_p and v_q
RANDOMNESS_BITS = 5 * SUBGROUP_BITS // 2  # 128 more than the order of h has

_WORDS = 1 << WORD_BITS


@dataclass(frozen=True)
class DgkPublicKey(HomomorphicPublicKey):
    """The modulus n and the bases g and h."""

    scheme = "dgk"

    modulus: int
    word_base: int
    blinding_base: int

    def __post_init__(self) -> None:
        self.check_modulus()
        self.check_jacobi("word_base", self.word_base)
        self.check_jacobi("blinding_base", self.blinding_base)

    @classmethod
    def read(cls, document: Mapping[str, str]) -> "DgkPublicKey":
        """Return the key that a document describes."""
        return cls(*numbers_of(document, ("modulus", "word_base", "blinding_base")))

    def encrypt(self, word: int, rng: Rng) -> Ciphertext:
        with needs_eos():
            from gmpy2 import powmod_sec
        # g^(2^64) is a power of h, so that the exponent may be m + 2^64: never 0, one length.
        hidden = powmod_sec(self.word_base, _WORDS + int(word), self.modulus)
        rho = number_of_bits(RANDOMNESS_BITS, rng)
        return hidden * powmod_sec(self.blinding_base, rho, self.modulus) % self.modulus

    def encrypt_all(self, words: Longs, rng: Rng) -> Ciphertexts:
        return [self._encrypt_by_tables(word, rng) for word in words.tolist()]

    def _encrypt_by_tables(self, word: int, rng: Rng) -> Ciphertext:
        rho = number_of_bits(RANDOMNESS_BITS, rng)
        return self._word_powers.power(word) * self._blinding_powers.power(rho) % self.modulus

    @cached_property
    def _word_powers(self) -> FixedBase:
        return FixedBase(self.word_base, self.modulus, WORD_BITS)

    @cached_property
    def _blinding_powers(self) -> FixedBase:
        return FixedBase(self.blinding_base, self.modulus, RANDOMNESS_BITS)


@dataclass(frozen=True)
class DgkPrivateKey(HomomorphicPrivateKey):
    """The primes, their subgroups and the bases; ``repr`` shows none of them."""

    scheme = "dgk"

    first_prime: int = field(repr=False)  # p
    second_prime: int = field(repr=False)  # q
    first_subgroup: int = field(repr=False)  # v_p
    second_subgroup: int = field(repr=False)  # v_q
    word_base: int = field(repr=False)
    blinding_base: int = field(repr=False)

    def __post_init__(self) -> None:
        # Decryption works modulo p alone: it forgets h there, and g keeps the order 2^64.
        self._logarithm  # noqa: B018  # refuses a base of another order
        if self._lifted(self.blinding_base) != 1:
            raise ParameterError("`blinding_base` must have the order `first_subgroup`")

    @classmethod
    def generate(cls, rng: Rng, modulus_bits: int = MODULUS_BITS) -> "DgkPrivateKey":
        """Return a new key.  Less than 3072 bits is for tests alone."""
        settings.whole("modulus_bits", modulus_bits, MIN_MODULUS_BITS)
        first = _Factor.draw(modulus_bits // 2, rng)
        second = _Factor.draw(modulus_bits // 2, rng)
        word_base = _joined(first.word_base(rng), second.word_base(rng), first, second)
        blinding_base = _joined(first.blinding_base(rng), second.blinding_base(rng), first, second)
        return cls(
            int(first.prime),
            int(second.prime),
            int(first.subgroup),
            int(second.subgroup),
            int(word_base),
            int(blinding_base),
        )

    @classmethod
    def read(cls, document: Mapping[str, str]) -> "DgkPrivateKey":
        """Return the key that a document describes."""
        primes = ("first_prime", "second_prime", "first_subgroup", "second_subgroup")
        return cls(*numbers_of(document, (*primes, "word_base", "blinding_base")))

    @cached_property
    def public(self) -> DgkPublicKey:
        modulus = self.first_prime * self.second_prime
        return DgkPublicKey(modulus, self.word_base, self.blinding_base)

    def decrypt(self, ciphertext: Ciphertext) -> int:
        self.public.check([ciphertext])
        return self._logarithm.logarithm(self._lifted(ciphertext))

    def _lifted(self, number: Any) -> Any:
        """Return number^(v_p) mod p: what remains has an order that divides 2^64."""
        with needs_eos():
            from gmpy2 import powmod_sec
        return powmod_sec(number % self.first_prime, self.first_subgroup, self.first_prime)

    @cached_property
    def _logarithm(self) -> PowerOfTwoLogarithm:
        return PowerOfTwoLogarithm(self._lifted(self.word_base), self.first_prime)


@dataclass(frozen=True)
class _Factor:
    """One prime factor of the modulus: 2^64 * subgroup * cofactor + 1."""

    prime: Any
    subgroup: Any
    cofactor: Any

    @classmethod
    def draw(cls, bits: int, rng: Rng) -> "_Factor":
        subgroup = prime_of_bits(SUBGROUP_BITS, rng)
        prime, cofactor = prime_above_multiple(_WORDS * subgroup, bits, rng)
        return cls(prime, subgroup, cofactor)

    def word_base(self, rng: Rng) -> Any:
        """Return a number of order 2^64 * subgroup: a random one of the group of that order."""
        with needs_eos():
            from gmpy2 import powmod
        half = _WORDS // 2 * self.subgroup
        while True:
            base = powmod(unit_below(self.prime, rng), self.cofactor, self.prime)
            if powmod(base, half, self.prime) != 1 and powmod(base, _WORDS, self.prime) != 1:
                return base

    def blinding_base(self, rng: Rng) -> Any:
        """Return a number of order ``subgroup``, which is prime."""
        with needs_eos():
            from gmpy2 import powmod
        while True:
            base = powmod(unit_below(self.prime, rng), _WORDS * self.cofactor, self.prime)
            if base != 1:
                return base


def _joined(residue: Any, other_residue: Any, first: _Factor, second: _Factor) -> Any:
    """Return the number with one residue modulo p and another modulo q."""
    with needs_eos():
        from gmpy2 import invert
    difference = (residue - other_residue) * invert(second.prime, first.prime) % first.prime
    return other_residue + second.prime * difference
