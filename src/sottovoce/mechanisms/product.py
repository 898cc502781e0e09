"""Every attribute of a record by direct response of its own: a record in, a record out, budgets
added.

A baseline for joint statistics: splitting epsilon over attributes costs far more than asking about
a few of them.  It is also how correlated attributes are reported under guarantees that are weaker
than those of this library.

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
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR

_LONGEST_TALLY = 1 << 20


@dataclass(frozen=True)
class Product(Mechanism, kind="product"):
    """Report a whole record; ``sizes`` are those of its attributes, the first of which changes
    slowest.

    ``keeps`` are thresholds of 2^64, one for every attribute; left out, the budget is split evenly.

    >>> Product(epsilon=2.0, size=6, sizes=(2, 3)).epsilon_realised <= 2.0
    True
    """

    epsilon: float
    size: int
    sizes: tuple[int, ...] = ()
    keeps: tuple[int, ...] = ()

    max_size = 1 << 62

    def prepare(self) -> None:
        if not self.sizes or min(self.sizes) < 2 or prod(self.sizes) != self.size:
            raise ParameterError("the sizes of at least one attribute multiply to the size of the domain")
        if max(self.sizes) > GRR.max_size:
            raise ParameterError(f"an attribute has at most {GRR.max_size} values")
        if not self.keeps:
            share = exact.part(self.epsilon, len(self.sizes))
            object.__setattr__(self, "keeps", tuple(GRR(share, size).keep for size in self.sizes))
        if len(self.keeps) != len(self.sizes) or not all(0 < keep < exact.UNIT for keep in self.keeps):
            raise ParameterError("there is one threshold from 1 to 2^64 - 1 for every attribute")
        if min(self._ratios) <= 1:
            # The ratio of one that prefers lies would divide those of the others, though it tells
            # as much.
            raise ParameterError("the threshold of every attribute prefers the truth")

    @cached_property
    def responses(self) -> tuple[GRR, ...]:
        """Return what randomises each attribute, each with the epsilon that its own threshold
        spends.
        """
        return tuple(_response(size, keep) for size, keep in zip(self.sizes, self.keeps, strict=True))

    @property
    def worst_ratio(self) -> Fraction:
        return prod(self._ratios, start=Fraction(1))

    @property
    def worst_part(self) -> Fraction:
        return max(self._ratios)

    @property
    def has_tally(self) -> bool:
        return self.size <= _LONGEST_TALLY

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self.size)).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        columns = self.digits(self.check(values))
        return self.joined([one.privatize(column, rng) for one, column in zip(self.responses, columns, strict=True)])

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.size)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.size, rows(data, unsigned(self.size))).astype(np.int64)

    def outcomes(self) -> Reports:
        return np.arange(self.size)

    def likelihood(self, reports: Reports) -> Floats:
        chances = np.ones((len(reports), 1))
        for one, column in zip(self.responses, self.digits(reports), strict=True):
            chances = (chances[:, :, None] * one.likelihood(column)[:, None]).reshape(len(reports), -1)
        return chances

    def tally(self, reports: Reports) -> Tally:
        if not self.has_tally:
            raise ParameterError(f"records of more than {_LONGEST_TALLY:,} combinations are read as they are")
        return Tally(self.key, len(reports), {"records": np.bincount(reports, minlength=self.size)})

    def estimate(self, tally: Tally) -> Estimate:
        counts = self.check_tally(tally)["records"].astype(np.float64)
        inverses = [np.asarray(np.linalg.inv(channel), np.float64) for channel in self.channels]
        votes = along(counts, self.sizes, inverses)
        return Estimate(votes, ProductNoise(self.channels), tally.users, self.epsilon)

    @property
    def _ratios(self) -> list[Fraction]:
        return [_ratio(size, keep) for size, keep in zip(self.sizes, self.keeps, strict=True)]

    @cached_property
    def channels(self) -> tuple[Floats, ...]:
        """Return (outputs, values) of every attribute: the chances of its outputs."""
        return tuple(one.likelihood(np.arange(one.size)) for one in self.responses)

    def digits(self, records: Values) -> list[Values]:
        """Return the columns of records."""
        columns = []
        for size in reversed(self.sizes):
            records, column = np.divmod(records, size)
            columns.append(column)
        return columns[::-1]

    def joined(self, columns: Sequence[Values]) -> Values:
        """Return the records of columns."""
        records = np.zeros(len(columns[0]), np.int64)
        for size, column in zip(self.sizes, columns, strict=True):
            records = records * size + column
        return records


@dataclass(frozen=True, eq=False)
class ProductNoise(Noise):
    """The errors of inverting a channel that is a product over attributes."""

    channels: tuple[Floats, ...]

    def picked(self, places: Ints) -> Noise:
        raise ParameterError("the cells of whole records are estimated together")

    def variances(self, votes: Floats, users: int) -> Floats:
        # E[x_v^2] of a user who holds t
        squares = [np.linalg.inv(one) ** 2 @ one for one in self.channels]
        held = np.clip(votes, 0, users)
        return along(held, self._sizes, squares) - held

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        inverses = [np.asarray(np.linalg.inv(one).T, np.float64) for one in self.channels]
        scores = along(coefficients, self._sizes, inverses)
        squares = along(scores**2, self._sizes, [one.T for one in self.channels]) - coefficients**2
        return float(np.clip(votes, 0, users) @ squares)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(one) for one in self.channels)


def along(table: Floats, sizes: Sequence[int], matrices: Sequence[Floats]) -> Floats:
    """Return a flat table after one matrix along every axis.

    >>> along(np.arange(4.0), (2, 2), [np.eye(2), np.array([[1.0, 1.0], [1.0, -1.0]])]).tolist()
    [1.0, -1.0, 5.0, -1.0]
    """
    made = table.reshape(tuple(sizes))
    for axis, matrix in enumerate(matrices):
        made = np.moveaxis(np.tensordot(matrix, made, axes=(1, axis)), 0, axis)
    return np.asarray(made.ravel())


def _ratio(size: int, keep: int) -> Fraction:
    return Fraction(keep * (size - 1), exact.UNIT - keep)


def _response(size: int, keep: int) -> GRR:
    spent = exact.log(_ratio(size, keep))
    return GRR(exact.at_least(spent), size, keep)
