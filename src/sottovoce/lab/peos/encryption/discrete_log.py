"""Logarithms in a group of order 2^64, digit by digit (Pohlig and Hellman).

With a base b of order 2^64 modulo a prime and z = b^m, the digits of m to the base 256 follow one
after another, the lowest first.  Once the digits below i are known and divided out of z,

    z^(2^(64 - 8 (i + 1))) = (b^(2^56))^(digit i)

which is one of 256 numbers that a table lists.  A logarithm takes 224 squarings.

Source: Pohlig and Hellman 1978.
"""

from typing import Any

from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.peos.encryption.base import WORD_BITS
from sottovoce.lab.peos.encryption.fixed_base import FixedBase
from sottovoce.lab.peos.eos_extra import needs_eos

_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS


class PowerOfTwoLogarithm:
    """Logarithms to one base of order 2^64 modulo a prime."""

    def __init__(self, base: Any, prime: int) -> None:
        with needs_eos():
            from gmpy2 import invert, powmod
        if powmod(base, 1 << (WORD_BITS - 1), prime) != prime - 1:
            raise ParameterError("`base` must have the order 2^64 modulo the prime")
        self._prime = prime
        self._inverse = FixedBase(invert(base, prime), prime, WORD_BITS)
        root = powmod(base, 1 << (WORD_BITS - _DIGIT_BITS), prime)
        self._digit_of = {powmod(root, digit, prime): digit for digit in range(_DIGITS)}

    def logarithm(self, power: Any) -> int:
        """Return m from b^m; a number outside the group is refused."""
        with needs_eos():
            from gmpy2 import powmod
        word = 0
        rest = power
        for shift in range(0, WORD_BITS, _DIGIT_BITS):
            lifted = powmod(rest, 1 << (WORD_BITS - _DIGIT_BITS - shift), self._prime)
            digit = self._digit_of.get(lifted)
            if digit is None:
                raise CodecError("this number is not a ciphertext of this key")
            word |= digit << shift
            rest = rest * self._inverse.power(digit << shift) % self._prime
        return word
