"""Generalised randomised response for every attribute of a record: a record in, a record out.

Each attribute is randomised by GRR on its own, so the budgets of the attributes add up.  A record
is one index, the first attribute changing slowest.  Inverting the product of the channels gives
unbiased totals of all records.

A baseline for joint statistics: splitting epsilon over attributes costs far more accuracy than
asking each person about a few of them.  Correlation-bounded perturbation reports in the same way.

Source: Cormode 2018, section 4.7; Du 2025, chapter 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import Noise
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.core.settings import wholes
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR

MAX_TALLY_RECORDS = 1 << 20


@dataclass(frozen=True)
class ProductResponse(Mechanism, kind="product", wire=False):
    """Report a whole record; ``sizes`` are the numbers of values of its attributes.

    ``keeps`` are thresholds of 2^64, one for every attribute.  By default the budget is split
    evenly.

    >>> ProductResponse(epsilon=2.0, size=6, sizes=(2, 3)).epsilon_realised <= 2.0
    True
    """

    epsilon: float
    size: int
    sizes: tuple[int, ...] = ()
    keeps: tuple[int, ...] = ()

    max_size = 1 << 62

    def prepare(self) -> None:
        wholes("sizes", self.sizes, 2, GRR.max_size)
        if not self.sizes or prod(self.sizes) != self.size:
            raise ParameterError("the product of `sizes` must be `size`")
        if not self.keeps:
            part = exact.part(self.epsilon, len(self.sizes))
            object.__setattr__(self, "keeps", tuple(GRR(part, size).keep for size in self.sizes))
        if len(self.keeps) != len(self.sizes):
            raise ParameterError("`keeps` must have one threshold for every attribute")
        wholes("keeps", self.keeps, 1, exact.UNIT - 1)
        if min(self._ratios) <= 1:
            # A ratio below 1 would divide the ratios of the others, although it reveals as much.
            raise ParameterError("each entry of `keeps` must make the true value the likeliest")

    @cached_property
    def responses(self) -> tuple[GRR, ...]:
        """Return the mechanism of each attribute, with the epsilon that its threshold spends."""
        pairs = zip(self.sizes, self.keeps, strict=True)
        return tuple(_response(size, keep) for size, keep in pairs)

    @property
    def worst_ratio(self) -> Fraction:
        return prod(self._ratios, start=Fraction(1))

    @property
    def worst_part(self) -> Fraction:
        """Return the worst ratio of a single attribute."""
        return max(self._ratios)

    @property
    def has_tally(self) -> bool:
        return self.size <= MAX_TALLY_RECORDS

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self.size)).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        columns = self.split(self.check(values))
        pairs = zip(self.responses, columns, strict=True)
        return self.join([response.privatize(column, rng) for response, column in pairs])

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.size)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.size, rows(data, unsigned(self.size))).astype(np.int64)

    def outcomes(self) -> Reports:
        return np.arange(self.size)

    def likelihood(self, reports: Reports) -> Floats:
        chances = np.ones((len(reports), 1))
        for response, column in zip(self.responses, self.split(reports), strict=True):
            pairs = chances[:, :, None] * response.likelihood(column)[:, None]
            chances = pairs.reshape(len(reports), -1)
        return chances

    def tally(self, reports: Reports) -> Tally:
        if not self.has_tally:
            raise ParameterError(
                f"records of more than {MAX_TALLY_RECORDS:,} combinations have no tally:"
                " read the reports"
            )
        counts = np.bincount(reports, minlength=self.size)
        return Tally(self.key, len(reports), {"records": counts})

    def estimate(self, tally: Tally) -> Estimate:
        counts = self.check_tally(tally)["records"].astype(np.float64)
        inverses = [np.asarray(np.linalg.inv(channel), np.float64) for channel in self.channels]
        votes = apply_along_axes(counts, self.sizes, inverses)
        return Estimate(votes, ProductNoise(self.channels), tally.users, self.epsilon)

    @property
    def _ratios(self) -> list[Fraction]:
        return [_ratio(size, keep) for size, keep in zip(self.sizes, self.keeps, strict=True)]

    @cached_property
    def channels(self) -> tuple[Floats, ...]:
        """Return (outputs, values) chances of outputs under values, for every attribute."""
        return tuple(response.likelihood(np.arange(response.size)) for response in self.responses)

    def split(self, records: Values) -> list[Values]:
        """Return the columns of records."""
        columns = []
        for size in reversed(self.sizes):
            records, column = np.divmod(records, size)
            columns.append(column)
        return columns[::-1]

    def join(self, columns: Sequence[Values]) -> Values:
        """Return the records of columns."""
        records = np.zeros(len(columns[0]), np.int64)
        for size, column in zip(self.sizes, columns, strict=True):
            records = records * size + column
        return records


@dataclass(frozen=True, eq=False)
class ProductNoise(Noise):
    """The errors of inverting a channel that is a product over attributes."""

    channels: tuple[Floats, ...]

    def picked(self, indices: Ints) -> Noise:
        raise ParameterError("the cells of whole records are estimated together")

    def variances(self, votes: Floats, users: int) -> Floats:
        # E[x_v^2] of a user who holds t, x_v being the vote for v
        squares = [np.linalg.inv(channel) ** 2 @ channel for channel in self.channels]
        held = np.clip(votes, 0, users)
        return apply_along_axes(held, self._sizes, squares) - held

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        inverses = [np.asarray(np.linalg.inv(channel).T, np.float64) for channel in self.channels]
        scores = apply_along_axes(coefficients, self._sizes, inverses)
        transposed = [channel.T for channel in self.channels]
        squares = apply_along_axes(scores**2, self._sizes, transposed) - coefficients**2
        return float(np.clip(votes, 0, users) @ squares)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(channel) for channel in self.channels)


def apply_along_axes(table: Floats, sizes: Sequence[int], matrices: Sequence[Floats]) -> Floats:
    """Return a flat table of shape ``sizes`` after one matrix was applied along every axis.

    >>> swap = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> apply_along_axes(np.arange(4.0), (2, 2), [np.eye(2), swap]).tolist()
    [1.0, -1.0, 5.0, -1.0]
    """
    cells = table.reshape(tuple(sizes))
    for axis, matrix in enumerate(matrices):
        cells = np.moveaxis(np.tensordot(matrix, cells, axes=(1, axis)), 0, axis)
    return np.asarray(cells.ravel())


def _ratio(size: int, keep: int) -> Fraction:
    return Fraction(keep * (size - 1), exact.UNIT - keep)


def _response(size: int, keep: int) -> GRR:
    spent = exact.log(_ratio(size, keep))
    return GRR(exact.at_least(spent), size, keep)
