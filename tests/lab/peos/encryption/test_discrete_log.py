"""Logarithms to a base of order 2^64."""

import pytest
from gmpy2 import powmod

from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.peos.encryption.discrete_log import PowerOfTwoLogarithm
from sottovoce.lab.peos.encryption.random_numbers import prime_above_multiple
from sottovoce.lab.seeded import SeededRng

PRIME, COFACTOR = prime_above_multiple(1 << 64, 128, SeededRng(1))
BASE = next(
    powmod(number, COFACTOR, PRIME)
    for number in range(2, 100)
    if powmod(number, (PRIME - 1) // 2, PRIME) != 1
)


@pytest.mark.parametrize("word", [0, 1, 255, 256, 0x0123456789ABCDEF, (1 << 64) - 1])
def test_the_logarithm_of_a_power_is_its_exponent(word):
    assert PowerOfTwoLogarithm(BASE, PRIME).logarithm(powmod(BASE, word, PRIME)) == word


def test_a_base_of_another_order_is_refused():
    with pytest.raises(ParameterError, match="order 2"):
        PowerOfTwoLogarithm(BASE * BASE % PRIME, PRIME)


def test_a_number_outside_the_group_is_refused():
    outside = powmod(5, 1 << 64, PRIME)
    with pytest.raises(CodecError, match="not a ciphertext"):
        PowerOfTwoLogarithm(BASE, PRIME).logarithm(outside)
