"""Duchi's mechanism, also known as stochastic rounding: one bit, the sign of the number or the other one.

Prefer it to Piecewise for epsilon below 1.29.  The number is rounded to -1 or 1 without bias, and the sign is kept with
probability k = exp(epsilon) / (exp(epsilon) + 1).  The reported sign stands for c or -c with c = 1 / (2k - 1), and is
positive with probability 1/2 + x / 2c: the published law.  Every report has the square c^2, so the variance is
c^2 - x^2, with the rounding already in it.

Source: Duchi, Jordan and Wainwright 2018.
"""

from dataclasses import dataclass

from sottovoce.mechanisms.window import Window


@dataclass(frozen=True)
class Duchi(Window, kind="duchi"):
    """Report 1 for c, 0 for -c.

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
