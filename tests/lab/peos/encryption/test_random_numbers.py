"""Random numbers of any size: uniform, and primes of the wanted form."""

import numpy as np
import pytest
from gmpy2 import gcd

from sottovoce.lab.peos.encryption.random_numbers import (
    is_prime,
    number_below,
    number_of_bits,
    prime_above_multiple,
    prime_of_bits,
    unit_below,
)
from sottovoce.lab.seeded import SeededRng


def test_numbers_below_a_limit_are_uniform():
    rng = SeededRng(1)
    draws = 6000
    counts = np.bincount([int(number_below(6, rng)) for _ in range(draws)])
    # chi-square with 5 degrees of freedom: mean 5, variance 10
    statistic = float(((counts - draws / 6) ** 2 / (draws / 6)).sum())
    assert len(counts) == 6
    assert statistic < 5 + 5 * 10**0.5, (statistic, 5)


def test_the_check_of_uniformity_finds_a_modulo_bias():
    """A broken twin: three bits modulo 6 favour 0 and 1."""
    rng = SeededRng(2)
    draws = 6000
    counts = np.bincount([int(number_of_bits(3, rng)) % 6 for _ in range(draws)])
    statistic = float(((counts - draws / 6) ** 2 / (draws / 6)).sum())
    assert statistic > 5 + 5 * 10**0.5


def test_units_are_invertible():
    rng = SeededRng(3)
    units = {int(unit_below(15, rng)) for _ in range(200)}
    assert units == {number for number in range(1, 15) if gcd(number, 15) == 1}


@pytest.mark.parametrize("bits", [20, 128])
def test_a_prime_has_its_bits(bits):
    prime = prime_of_bits(bits, SeededRng(4))
    assert is_prime(prime)
    assert prime.bit_length() == bits


def test_a_prime_above_a_multiple_has_an_odd_cofactor_and_its_highest_bits():
    divisor = 1 << 64
    for seed in range(5):
        prime, cofactor = prime_above_multiple(divisor, 192, SeededRng(seed))
        assert is_prime(prime)
        assert prime == divisor * cofactor + 1
        assert cofactor % 2 == 1
        assert prime >> 190 == 3
