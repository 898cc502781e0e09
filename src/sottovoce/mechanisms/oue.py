"""Optimised unary encoding: a fair coin for the held bit, and as few false ones as epsilon allows.

    p = 1 / 2        q = 1 / (e^epsilon + 1)

The most accurate unary encoding for values that few people hold, and as accurate as optimised local
hashing.  Choose it for domains of more than about 3 e^epsilon values, where one bit per value is
affordable.

Source: Wang 2021, section 3.3.3.
"""

from dataclasses import dataclass
from decimal import Decimal

from sottovoce.maths import exact
from sottovoce.mechanisms.unary import Unary


@dataclass(frozen=True)
class OUE(Unary, kind="oue"):
    """Report a row of bits; the held bit is set half the time.

    >>> oue = OUE(epsilon=1.0, size=4)
    >>> oue.p, round(oue.q, 3)
    (0.5, 0.269)
    """

    def probabilities(self) -> tuple[Decimal, Decimal]:
        # p = 1 / 2,  q = 1 / (e^epsilon + 1)
        return Decimal("0.5"), 1 / (exact.exp(self.epsilon) + 1)
