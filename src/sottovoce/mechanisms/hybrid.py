"""Hybrid mechanism: a public coin sends every user to Piecewise or to Duchi's mechanism.

The choice for the mean of a number when epsilon is not tiny: at every epsilon its worst case is at most the better one
of the two.  With probability alpha = 1 - exp(-epsilon / 2) for Piecewise the x^2 in their variances cancel, so every
number has the same error.  Up to epsilon 0.61 alpha is 0, and every report is Duchi's.

The coin is part of the report and does not depend on the number, so chances are joint with it.  Both mechanisms are
drawn for everybody, Duchi's first, and one of the two reports is sent.

Source: Wang et al. 2019 (Hybrid).
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.packing import below, rows
from sottovoce.core.rng import Rng
from sottovoce.errors import CodecError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.mechanisms.piecewise import Piecewise

ROW = np.dtype([("coin", "u1"), ("cell", "<u2")])
# ln((-5 + 2 (6353 - 405 sqrt 241)^(1/3) + 2 (6353 + 405 sqrt 241)^(1/3)) / 27): where it meets Duchi's worst case
MEETING = Decimal("0.6093524930273095317")


@dataclass(frozen=True)
class Hybrid(NumericMechanism, kind="hybrid"):
    """Report a coin and a cell; ``alpha`` is the threshold of the coin, ``keep`` and ``sign`` those of the two parts.

    >>> Hybrid(epsilon=1.0, size=201).width
    3
    """

    epsilon: float
    size: int
    cells: int = 4096
    window: int = 0
    alpha: int = threshold()
    keep: int = threshold()
    sign: int = threshold()

    largest = Piecewise.largest

    def prepare(self) -> None:
        odds = exact.exp(exact.divide(exact.stated(self.epsilon), 2))
        if exact.stated(self.epsilon) > MEETING:
            self.settle("alpha", exact.threshold_below(exact.divide(exact.add(odds, -1), odds)))
        self.settle("window", self.piecewise.window)
        self.settle("keep", self.piecewise.keep)
        self.settle("sign", self.duchi.keep)

    @cached_property
    def piecewise(self) -> Piecewise:
        """Return the mechanism of the users whose coin is 1."""
        return Piecewise(self.epsilon, self.size, self.keep, self.cells, self.window)

    @cached_property
    def duchi(self) -> Duchi:
        """Return the mechanism of the users whose coin is 0."""
        return Duchi(self.epsilon, self.size, self.sign)

    @property
    def worst_ratio(self) -> Fraction:
        return max(self.duchi.worst_ratio, self.piecewise.worst_ratio if self.alpha else Fraction(0))

    @property
    def width(self) -> int:
        return ROW.itemsize

    @property
    def outputs(self) -> int:
        return self.duchi.outputs + (self.cells if self.alpha else 0)

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        reports = np.empty(len(values), ROW)
        reports["coin"] = rng.bernoulli(self.alpha, len(values))
        signs, cells = self.duchi.privatize(values, rng), self.piecewise.privatize(values, rng)
        reports["cell"] = np.where(reports["coin"], cells, signs)
        return reports

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(ROW, copy=False).tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, ROW)
        below(2 if self.alpha else 1, reports["coin"])
        if (reports["cell"] >= np.where(reports["coin"], self.cells, self.duchi.outputs)).any():
            raise CodecError(f"a cell must be below {self.cells}, and a sign below {self.duchi.outputs}")
        return reports

    def outcomes(self) -> Reports:
        signs = self.duchi.outputs
        listed = np.zeros(self.outputs, ROW)
        listed["coin"][signs:] = 1
        listed["cell"] = np.append(np.arange(signs), np.arange(self.outputs - signs))
        return listed

    def codes(self, reports: Reports) -> Ints:
        """Return signs first, then cells."""
        return np.asarray(reports["cell"] + np.int64(self.duchi.outputs) * reports["coin"], np.int64)

    def numbers(self, outputs: Ints) -> Floats:
        cells = outputs - self.duchi.outputs
        return np.where(cells < 0, self.duchi.numbers(outputs), self.piecewise.numbers(cells))

    def variance(self, values: Values) -> Floats:
        chosen = self.alpha / exact.UNIT
        return np.asarray(chosen * self.piecewise.variance(values) + (1 - chosen) * self.duchi.variance(values))

    def likelihood(self, reports: Reports) -> Floats:
        chosen, coins, cells = self.alpha / exact.UNIT, reports["coin"], reports["cell"].astype(np.int64)
        near, signs = self.piecewise.likelihood(cells), self.duchi.likelihood(cells)
        return np.where(coins[:, None] == 1, chosen * near, (1 - chosen) * signs)
