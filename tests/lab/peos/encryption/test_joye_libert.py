"""Joye-Libert: the residues of its key."""

from dataclasses import replace

import pytest
from gmpy2 import jacobi

from lab.peos.keys import small_key
from sottovoce.core.rng import SystemRng
from sottovoce.errors import ParameterError
from sottovoce.lab.peos.encryption.joye_libert import JoyeLibertPrivateKey, JoyeLibertPublicKey
from sottovoce.lab.peos.encryption.random_numbers import is_prime

RNG = SystemRng()


def test_the_primes_and_the_base_are_those_of_the_scheme():
    key = small_key("joye_libert")
    assert is_prime(key.first_prime)
    assert is_prime(key.second_prime)
    assert key.first_prime % (1 << 64) == 1
    assert (key.first_prime - 1) >> 64 & 1  # 2^64 is the highest power of two in p - 1
    assert key.second_prime % 4 == 3
    assert jacobi(key.word_base, key.first_prime) == -1
    assert jacobi(key.word_base, key.second_prime) == -1


def test_a_base_that_leaks_is_refused():
    """A broken twin: a residue modulo one prime alone has the Jacobi symbol -1."""
    key = small_key("joye_libert")
    base = 2
    while jacobi(base, key.public.modulus) != -1:
        base += 1
    with pytest.raises(ParameterError, match="Jacobi symbol"):
        JoyeLibertPublicKey(key.public.modulus, base)


def test_a_base_that_is_a_square_is_refused():
    key = small_key("joye_libert")
    with pytest.raises(ParameterError, match="order 2"):
        replace(key, word_base=4)


def test_a_short_modulus_is_refused():
    with pytest.raises(ParameterError, match="modulus_bits"):
        JoyeLibertPrivateKey.generate(RNG, 512)


def test_a_private_key_shows_nothing():
    assert repr(small_key("joye_libert")) == "JoyeLibertPrivateKey()"
