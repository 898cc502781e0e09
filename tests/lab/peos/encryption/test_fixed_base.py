"""Powers by tables are powers."""

import pytest
from gmpy2 import powmod

from sottovoce.lab.peos.encryption.fixed_base import FixedBase

MODULUS = (1 << 127) - 1


@pytest.mark.parametrize("exponent", [0, 1, 255, 256, 0xFF00FF, (1 << 64) - 1])
def test_powers_are_those_of_gmp(exponent):
    assert FixedBase(3, MODULUS, 64).power(exponent) == powmod(3, exponent, MODULUS)


def test_an_exponent_that_the_table_does_not_reach_is_refused():
    with pytest.raises(OverflowError):
        FixedBase(3, MODULUS, 16).power(1 << 16)
