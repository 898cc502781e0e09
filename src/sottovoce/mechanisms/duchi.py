"""Duchi's mechanism, also known as stochastic rounding: the sign of the number, or the other sign.

Prefer it to Piecewise for epsilon below 1.29.  The number x in [-1, 1] is rounded to -1 or 1
without bias, and the sign is kept with probability k.  The reported sign stands for c or -c:

    k = e^epsilon / (e^epsilon + 1)        c = 1 / (2 k - 1)        variance = c^2 - x^2

The sign is positive with probability 1/2 + x / (2 c), which is the published law.

Source: Duchi, Jordan and Wainwright 2018.
"""

from dataclasses import dataclass

from sottovoce.mechanisms.window import WindowMechanism


@dataclass(frozen=True)
class Duchi(WindowMechanism, kind="duchi"):
    """Report 1 for c, 0 for -c: two cells, and a window of one.

    >>> duchi = Duchi(epsilon=1.0, size=201)
    >>> duchi.numbers(duchi.outcomes()).round(3).tolist()
    [-2.164, 2.164]
    """

    @property
    def outputs(self) -> int:
        return 2

    @property
    def window(self) -> int:
        return 1
