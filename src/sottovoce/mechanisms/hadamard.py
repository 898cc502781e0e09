"""Hadamard response: a column of the Hadamard matrix in which the value's row is likely positive.

    P[the row is positive in the reported column] = e^epsilon / (e^epsilon + 1)

A report supports the values whose rows are positive in its column, so q = 1/2.  The accuracy is
that of binary local hashing, hence near the best only for epsilon below 1.  A report is one small
integer without a seed, and one Walsh-Hadamard transform decodes the whole domain.

Draws come in this order: whether the sign will be positive, then a column.  A column of the wrong
sign is exchanged for its partner, in which one fixed bit of the row number is flipped.

Source: Acharya, Sun and Zhang 2019.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.influence import Influence, SupportInfluence
from sottovoce.core.noise import BandScores, IndependentNoise
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.core.support_law import SupportLaw
from sottovoce.core.tally import Tally
from sottovoce.maths import exact
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.base import PureMechanism, threshold


@dataclass(frozen=True)
class HadamardResponse(PureMechanism, kind="hadamard"):
    """Report a column; it supports the values whose rows are positive there.

    Value v has row v + 1.

    >>> HadamardResponse(epsilon=0.5, size=100).columns
    128
    """

    epsilon: float
    size: int
    keep: int = threshold()

    max_size = (1 << 26) - 1  # a tally has a cell for every column

    def prepare(self) -> None:
        # p = e^epsilon / (e^epsilon + 1)
        odds = exact.exp(self.epsilon)
        self.set_default("keep", exact.threshold_below(odds / (odds + 1)))

    @property
    def columns(self) -> int:
        """Return the side of the matrix: the smallest power of two above the domain."""
        return 1 << self.size.bit_length()

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return 0.5  # two rows agree in half of the columns

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(self.keep, exact.UNIT - self.keep)

    @property
    def share(self) -> float:
        # The blanket is uniform over the columns, half of which are positive in any row.
        return 0.5

    @property
    def overlap(self) -> float:
        # Two rows are both positive in a quarter of the columns.
        return 0.5

    @property
    def noise(self) -> "HadamardNoise":
        return HadamardNoise.between(self.p, np.arange(self.size))

    @property
    def influence_law(self) -> "HadamardInfluence":
        return HadamardInfluence(self.p, np.arange(self.size) + 1)

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self.columns)).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        matrix_rows = self.check(values) + 1
        positive = rng.bernoulli(self.keep, len(matrix_rows))
        columns = rng.integers(self.columns, len(matrix_rows))
        # Flipping the lowest set bit of the row number flips the sign: a bijection of the two
        # halves.
        partners = columns ^ (matrix_rows & -matrix_rows)
        return np.where(_is_positive(matrix_rows, columns) == positive, columns, partners)

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        return rng.integers(self.columns, count)

    def draw_supporting(self, wanted: Values, tries: int, rng: Rng) -> Reports:
        # A column supports a row if they have an even number of bits in common.  With a basis of
        # the wanted rows in which every pivot bit occurs once, flipping the pivot of each basis row
        # that is not supported yet makes the column a uniform one of those that support all.
        columns = rng.integers(self.columns, len(wanted))
        for row, pivot in _reduced_basis(np.asarray(wanted) + 1):
            columns = np.where(_is_positive(row, columns), columns, columns ^ pivot)
        return columns

    def supports_own(self, reports: Reports, values: Values) -> Bools:
        return _is_positive(values + 1, reports)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.columns)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.columns, rows(data, unsigned(self.columns))).astype(np.int64)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        return _is_positive(candidates + 1, reports[:, None])

    def tally(self, reports: Reports) -> Tally:
        return Tally(self.key, len(reports), {"columns": self._histogram(reports)})

    def supports(self, tally: Tally) -> Ints:
        return self._positive_counts(self.check_tally(tally)["columns"])

    def count(self, reports: Reports, candidates: Values) -> Ints:
        return self._positive_counts(self._histogram(reports))[candidates]

    def estimate_among(self, reports: Reports, candidates: Values) -> Estimate:
        estimate = super().estimate_among(reports, candidates)
        law = HadamardInfluence(self.p, np.asarray(candidates) + 1)
        return replace(estimate, noise=HadamardNoise.between(self.p, candidates), law=law)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        # The transform holds, for every column, the coefficients of positive rows less all others.
        # Row 0 belongs to no value.
        signed_sums = transform(np.pad(coefficients, (1, self.columns - 1 - self.size)))
        return np.asarray(signed_sums[reports] / (2 * self.p - 1))

    def outcomes(self) -> Reports:
        return np.arange(self.columns)

    def likelihood(self, reports: Reports) -> Floats:
        supports = self.support(reports, np.arange(self.size))
        return np.where(supports, self.p, 1 - self.p) / (self.columns // 2)

    def _histogram(self, reports: Reports) -> Ints:
        return np.bincount(reports, minlength=self.columns).astype(np.int64)

    def _positive_counts(self, histogram: Ints) -> Ints:
        """Return how many reports are positive in each value's row: (users + signed sum) / 2."""
        signed_sums = transform(histogram)  # its first entry is the number of reports
        return np.asarray((signed_sums[0] + signed_sums[1 : self.size + 1]) // 2)


@dataclass(frozen=True, eq=False)
class HadamardNoise(IndependentNoise):
    """The noise of Hadamard response.

    The votes for two values are correlated for the users whose row is the XOR of the two rows.
    Holders of values that were not estimated are not seen.
    """

    gain: float  # 1 / (2 p - 1), the size of every vote
    owned: Ints  # the matrix row of every cell

    @classmethod
    def between(cls, p: float, candidates: Values) -> "HadamardNoise":
        """Return the noise of these candidates' votes."""
        independent = IndependentNoise.of(p, 0.5)
        return cls(independent.unheld, independent.held, 1 / (2 * p - 1), candidates + 1)

    def covariance(self, votes: Floats, users: int) -> Floats:
        # The votes for the rows u and v vary together for the users who hold row u ^ v.
        held = np.clip(votes, 0, users)
        holders = np.zeros(1 << int(self.owned.max()).bit_length())
        holders[self.owned] = held
        together = self.gain * holders[self.owned[:, None] ^ self.owned]
        return np.asarray(np.diag(self.variances(held, users)) + together)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        # For one user who holds row t, with coefficients c:
        #   gain^2 sum of c^2  -  c_t^2  +  gain * (sum of c_u c_v over rows with u ^ v = t)
        squares = coefficients**2
        own = self.held * squares + self.gain * self._products(coefficients)
        own_sum = np.clip(own @ votes, users * own.min(), users * own.max())
        return float(users * self.unheld * squares.sum() + own_sum)

    def _empty_scores(self, law: SupportLaw, band: Ints, cells: int) -> BandScores:
        # The users who hold the worst row t outside the band have the largest variance.
        coefficients = np.zeros(cells)
        coefficients[band] = 1.0
        products = self._all_products(coefficients)
        products[0] = 0.0  # no user holds row 0
        products[self.owned[band]] = 0.0
        scores = super()._empty_scores(law, band, cells)
        return BandScores(scores.variance + self.gain * float(products.max()), scores.most)

    def _products(self, coefficients: Floats) -> Floats:
        """Return, for the row t of every cell, the sum of c_u c_v over rows with u ^ v = t."""
        return self._all_products(coefficients)[self.owned]

    def _all_products(self, coefficients: Floats) -> Floats:
        """Return the sum of c_u c_v over rows with u ^ v = t, for every t."""
        by_row = np.zeros(1 << int(self.owned.max()).bit_length())
        by_row[self.owned] = coefficients
        # The convolution over XOR is the product of transforms.
        return np.asarray(transform(transform(by_row) ** 2) / len(by_row))


@dataclass(frozen=True, eq=False)
class HadamardInfluence(SupportInfluence):
    """A report is a column, whose positive rows it supports: all columns are compared."""

    p: float
    owned: Ints  # the matrix row of every cell

    symmetric = False
    q = 0.5

    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        matrix_rows = np.asarray(self.owned, np.int64)
        by_row = np.zeros(1 << int(matrix_rows.max()).bit_length())
        by_row[matrix_rows] = coefficients
        votes = transform(by_row) / (2 * self.p - 1)
        return Influence(float(votes.max()), -float(votes.min()))

    def picked(self, indices: Ints) -> "HadamardInfluence":
        return HadamardInfluence(self.p, self.owned[indices])


def _reduced_basis(matrix_rows: Ints) -> list[tuple[Ints, Ints]]:
    """Return a basis of every line of rows over GF(2), as pairs of rows and their pivot bits.

    No other row of a basis has the pivot bit.  Rows that depend on others become 0.
    """
    basis: list[tuple[Ints, Ints]] = []
    for column in matrix_rows.T:
        rest = column.copy()
        for row, pivot in basis:
            rest = np.where(rest & pivot, rest ^ row, rest)
        new_pivot = rest & -rest
        basis = [(np.where(row & new_pivot, row ^ rest, row), pivot) for row, pivot in basis]
        basis.append((rest, new_pivot))
    return basis


def _is_positive(matrix_rows: Values, columns: Values) -> Bools:
    """Return whether the Hadamard matrix has +1 there: (-1)^popcount(row & column)."""
    return np.asarray(np.bitwise_count(matrix_rows & columns) % 2 == 0)
