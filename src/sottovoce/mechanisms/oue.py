"""Optimised unary encoding: a coin for the held bit, and as few false ones as epsilon allows.

The most accurate unary encoding for values that few people hold, and as accurate as optimal hashing; choose it
beyond about 3 exp(epsilon) values where a report of one bit per value is affordable.

Source: Wang 2021, section 3.3.3.
"""

from dataclasses import dataclass
from decimal import Decimal

from sottovoce.maths import exact
from sottovoce.mechanisms.unary import Unary


@dataclass(frozen=True)
class OUE(Unary, kind="oue"):
    """Report a row of bits; the held one is set half the time.

    >>> oue = OUE(epsilon=1.0, size=4)
    >>> oue.p, round(oue.q, 3)
    (0.5, 0.269)
    """

    def ideal(self) -> tuple[Decimal, Decimal]:
        return Decimal("0.5"), exact.divide(1, exact.add(exact.exp(self.epsilon), 1))
