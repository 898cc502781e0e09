"""DGK: the orders of its bases, and the leak of careless keys."""

from dataclasses import replace

import pytest
from gmpy2 import invert, jacobi, powmod

from lab.peos.keys import small_key
from sottovoce.core.rng import SystemRng
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.peos.encryption.dgk import (
    RANDOMNESS_BITS,
    SUBGROUP_BITS,
    DgkPrivateKey,
    DgkPublicKey,
)
from sottovoce.lab.peos.encryption.random_numbers import (
    is_prime,
    number_of_bits,
    prime_of_bits,
    unit_below,
)
from sottovoce.lab.seeded import SeededRng

RNG = SystemRng()
WORDS = 1 << 64


def test_the_bases_have_the_orders_of_the_scheme():
    key = small_key("dgk")
    primes = (key.first_prime, key.second_prime)
    subgroups = (key.first_subgroup, key.second_subgroup)
    for prime, subgroup in zip(primes, subgroups, strict=True):
        assert is_prime(prime)
        assert is_prime(subgroup)
        assert subgroup.bit_length() == SUBGROUP_BITS
        order = WORDS * subgroup
        assert (prime - 1) // order % 2 == 1  # an odd cofactor
        assert powmod(key.word_base, order, prime) == 1
        assert powmod(key.word_base, order // 2, prime) != 1
        assert powmod(key.word_base, WORDS, prime) != 1
        assert powmod(key.blinding_base, subgroup, prime) == 1
        assert key.blinding_base % prime != 1


def careless_factor(bits, rng):
    """Return a prime 2^64 v s + 1 with s of any parity, and a number of order 2^64 v modulo it."""
    subgroup = prime_of_bits(SUBGROUP_BITS, rng)
    order = WORDS * subgroup
    while True:
        cofactor = number_of_bits(bits - order.bit_length(), rng)
        prime = order * cofactor + 1
        if is_prime(prime):
            break
    while True:
        base = powmod(unit_below(prime, rng), cofactor, prime)
        if powmod(base, order // 2, prime) != 1 and powmod(base, WORDS, prime) != 1:
            return prime, cofactor, base, powmod(base, WORDS, prime)


def joined(residue, prime, other_residue, other_prime):
    difference = (residue - other_residue) * invert(other_prime, prime) % prime
    return int(other_residue + other_prime * difference)


def test_careless_keys_leak_the_lowest_bit_and_are_refused():
    """A broken twin: cofactors of any parity.  Half of such keys give a bit of every word away."""
    rng = SeededRng(5)
    leaking = 0
    for _ in range(12):
        first, first_cofactor, first_base, first_blinding = careless_factor(512, rng)
        second, second_cofactor, second_base, second_blinding = careless_factor(512, rng)
        modulus = int(first * second)
        word_base = joined(first_base, first, second_base, second)
        blinding_base = joined(first_blinding, first, second_blinding, second)
        unequal = first_cofactor % 2 != second_cofactor % 2
        for word in (4, 5):
            rho = number_of_bits(RANDOMNESS_BITS, rng)
            hidden = powmod(word_base, word, modulus) * powmod(blinding_base, rho, modulus)
            leaked = jacobi(hidden % modulus, modulus)
            assert leaked == ((-1) ** word if unequal else 1)
        if unequal and modulus.bit_length() >= 1024:
            with pytest.raises(ParameterError, match="Jacobi symbol"):
                DgkPublicKey(modulus, word_base, blinding_base)
        leaking += unequal
    assert 0 < leaking < 12


def test_a_private_key_with_a_base_of_another_order_is_refused():
    key = small_key("dgk")
    with pytest.raises(ParameterError, match="order 2"):
        replace(key, word_base=key.blinding_base)
    with pytest.raises(ParameterError, match="order `first_subgroup`"):
        replace(key, blinding_base=key.word_base)


def test_a_unit_that_is_no_ciphertext_is_refused():
    key = small_key("dgk")
    # 2 has an order with large unknown factors, which decryption does not remove.
    with pytest.raises(CodecError, match="not a ciphertext of this key"):
        key.decrypt(2)


def test_a_short_modulus_is_refused():
    with pytest.raises(ParameterError, match="modulus_bits"):
        DgkPrivateKey.generate(RNG, 512)
    with pytest.raises(ParameterError, match="bits of modulus"):
        DgkPublicKey(15, 4, 4)


def test_a_private_key_shows_nothing():
    assert repr(small_key("dgk")) == "DgkPrivateKey()"
