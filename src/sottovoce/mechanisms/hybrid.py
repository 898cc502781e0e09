"""Hybrid mechanism: a public coin sends every user to Piecewise or to Duchi's mechanism.

Choose it for the mean of a number when epsilon is not tiny: at every epsilon its worst case is at
most the better one of the two.  With probability

    alpha = 1 - e^(-epsilon / 2)

for Piecewise the x^2 in the two variances cancel, so that every number has the same error.  Up to
epsilon 0.61 alpha is 0, and every report is Duchi's.

The coin is part of the report and does not depend on the number.  Both mechanisms are drawn for
everybody, Duchi's first, and one of the two reports is sent.

Source: Wang et al. 2019 (Hybrid).
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.interval_counts import ExactLaw, interval_counts
from sottovoce.core.packing import below, rows
from sottovoce.core.plausibility import FALSE_ALARM, PlausibilityTest
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import CodecError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.mechanisms.piecewise import Piecewise

ROW = np.dtype([("coin", "u1"), ("cell", "<u2")])

# The epsilon at which the worst case of the hybrid meets Duchi's:
#   ln((-5 + 2 (6353 - 405 sqrt 241)^(1/3) + 2 (6353 + 405 sqrt 241)^(1/3)) / 27)
DUCHI_UP_TO = Decimal("0.6093524930273095317")


@dataclass(frozen=True)
class Hybrid(NumericMechanism, kind="hybrid"):
    """Report a coin and a cell.

    ``alpha`` is the threshold of the coin, ``keep`` that of Piecewise and ``sign`` that of Duchi.

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

    max_size = Piecewise.max_size

    def prepare(self) -> None:
        if exact.stated(self.epsilon) > DUCHI_UP_TO:
            # alpha = 1 - e^(-epsilon / 2) = (s - 1) / s with s = e^(epsilon / 2)
            s = exact.exp(exact.stated(self.epsilon) / 2)
            self.set_default("alpha", exact.threshold_below((s - 1) / s))
        self.set_default("window", self.piecewise.window)
        self.set_default("keep", self.piecewise.keep)
        self.set_default("sign", self.duchi.keep)

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
        # The coin is public, so the ratio is that of the worse mechanism that is used at all.
        if not self.alpha:
            return self.duchi.worst_ratio
        return max(self.duchi.worst_ratio, self.piecewise.worst_ratio)

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
        signs = self.duchi.privatize(values, rng)
        cells = self.piecewise.privatize(values, rng)
        reports["cell"] = np.where(reports["coin"], cells, signs)
        return reports

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(ROW, copy=False).tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, ROW)
        below(2 if self.alpha else 1, reports["coin"])
        limits = np.where(reports["coin"], self.cells, self.duchi.outputs)
        if (reports["cell"] >= limits).any():
            raise CodecError(
                f"a cell must be below {self.cells}, and a sign below {self.duchi.outputs}"
            )
        return reports

    def outcomes(self) -> Reports:
        sign_count = self.duchi.outputs
        reports = np.zeros(self.outputs, ROW)
        reports["coin"][sign_count:] = 1
        cells = np.arange(self.outputs - sign_count)
        reports["cell"] = np.append(np.arange(sign_count), cells)
        return reports

    def codes(self, reports: Reports) -> Ints:
        """Return the output of each report: signs come first, then cells."""
        offsets = np.int64(self.duchi.outputs) * reports["coin"]
        return np.asarray(reports["cell"] + offsets, np.int64)

    def plausibility(
        self, evidence: Tally, *, fakes: int = 0, alpha: float = FALSE_ALARM
    ) -> tuple[PlausibilityTest, ...]:
        # The coin does not depend on the number; both mechanisms test the cells of their users.
        signs, cells = np.split(evidence["outputs"], [self.duchi.outputs])
        users = np.array([signs.sum(), cells.sum()])
        piecewise_share = self.alpha / exact.UNIT
        law = ExactLaw.of(np.array([1 - piecewise_share, piecewise_share]))
        tests = [interval_counts("coins", users, law, alpha)]
        for mechanism, counts in ((self.duchi, signs), (self.piecewise, cells)):
            if counts.any():
                part = Tally(mechanism.key, int(counts.sum()), {"outputs": counts})
                tests += mechanism.plausibility(part, alpha=alpha / 2)
        return tuple(tests)

    def numbers(self, outputs: Ints) -> Floats:
        cells = outputs - self.duchi.outputs
        return np.where(cells < 0, self.duchi.numbers(outputs), self.piecewise.numbers(cells))

    def variance(self, values: Values) -> Floats:
        # Both mechanisms are unbiased, so the variance is the mean of theirs.
        alpha = self.alpha / exact.UNIT
        by_piecewise = alpha * self.piecewise.variance(values)
        by_duchi = (1 - alpha) * self.duchi.variance(values)
        return np.asarray(by_piecewise + by_duchi)

    def likelihood(self, reports: Reports) -> Floats:
        alpha = self.alpha / exact.UNIT
        cells = reports["cell"].astype(np.int64)
        by_piecewise = alpha * self.piecewise.likelihood(cells)
        by_duchi = (1 - alpha) * self.duchi.likelihood(cells)
        return np.where(reports["coin"][:, None] == 1, by_piecewise, by_duchi)
