"""Powers of a fixed base, by a table: one multiplication per digit of the exponent.

With digits of 8 bits, entry (i, v) of the table is base^(v 256^i), and

    base^e = product over i of entry (i, digit i of e)

A table of 640-bit exponents has 20,480 entries and takes about a tenth of a second to build.  Which
entries are read depends on the exponent, so this is not constant-time code.  Shufflers use it for
thousands of encryptions; a user's single encryption does without.
"""

from functools import cached_property
from typing import Any

from sottovoce.lab.peos.eos_extra import needs_eos

_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS


class FixedBase:
    """The powers of one base modulo n, for exponents below 2^exponent_bits."""

    def __init__(self, base: Any, modulus: int, exponent_bits: int) -> None:
        self.base = base
        self.modulus = modulus
        self.width = -(-exponent_bits // _DIGIT_BITS)

    @cached_property
    def _rows(self) -> list[list[Any]]:
        with needs_eos():
            from gmpy2 import mpz
        rows = []
        power = mpz(self.base)  # base^(256^i)
        for _ in range(self.width):
            row = [mpz(1)]
            for _ in range(_DIGITS - 1):
                row.append(row[-1] * power % self.modulus)
            rows.append(row)
            power = row[-1] * power % self.modulus
        return rows

    def power(self, exponent: int) -> Any:
        """Return base^exponent mod n."""
        digits = int(exponent).to_bytes(self.width, "little")
        product: Any = 1
        for row, digit in zip(self._rows, digits, strict=True):
            if digit:
                product = product * row[digit] % self.modulus
        return product
