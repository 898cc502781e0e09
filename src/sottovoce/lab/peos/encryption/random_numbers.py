"""Random whole numbers and primes of any size, from the words of an ``Rng``.

The laboratory passes ``SystemRng`` wherever a key or a ciphertext is meant to be secret.
"""

from typing import Any

from sottovoce.core.rng import Rng
from sottovoce.lab.peos.eos_extra import needs_eos

_ROUNDS = 40  # of the test of Miller and Rabin, beside that of Baillie, Pomerance and others


def number_of_bits(bits: int, rng: Rng) -> Any:
    """Return a number that is uniform in [0, 2^bits)."""
    with needs_eos():
        from gmpy2 import mpz
    drawn = int.from_bytes(rng.bytes((bits + 7) // 8), "little")
    return mpz(drawn & (1 << bits) - 1)


def number_below(limit: int, rng: Rng) -> Any:
    """Return a number that is uniform in [0, limit): what is not below the limit is drawn again."""
    bits = (int(limit) - 1).bit_length()
    while True:
        drawn = number_of_bits(bits, rng)
        if drawn < limit:
            return drawn


def unit_below(modulus: int, rng: Rng) -> Any:
    """Return a number that is uniform among those invertible modulo ``modulus``."""
    with needs_eos():
        from gmpy2 import gcd
    while True:
        drawn = number_below(modulus, rng)
        if gcd(drawn, modulus) == 1:
            return drawn


def prime_of_bits(bits: int, rng: Rng) -> Any:
    """Return a random prime of exactly ``bits`` bits."""
    while True:
        candidate = number_of_bits(bits, rng) | 1 << (bits - 1) | 1
        if is_prime(candidate):
            return candidate


def is_prime(number: Any) -> bool:
    """Return whether a number is prime, up to an error that nobody has ever seen."""
    with needs_eos():
        import gmpy2
    return bool(gmpy2.is_prime(number, _ROUNDS))


def prime_above_multiple(divisor: Any, bits: int, rng: Rng) -> tuple[Any, Any]:
    """Return a prime p = divisor * cofactor + 1 of exactly ``bits`` bits, and its odd cofactor.

    The two highest bits of p are set, so that a product of two such primes has 2 ``bits`` bits.
    An odd cofactor leaves all factors 2 of p - 1 in ``divisor``.
    """
    highest = (3 << (bits - 2)) // divisor  # p >= 3/4 2^bits
    room = (1 << (bits - 2)) // divisor
    while True:
        cofactor = highest + 1 + number_below(room, rng) | 1
        candidate = divisor * cofactor + 1
        if candidate.bit_length() == bits and is_prime(candidate):
            return candidate, cofactor
