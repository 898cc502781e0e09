"""What each attribute of a cluster may spend if the others reveal something about it.

Every attribute of a cluster is reported by GRR with a ratio of exp(spent) between the true value
and any other.  The reports of the others let through what the ``Ties`` between attributes allow.
``leaks`` adds that up, assuming that the other attributes are independent of each other given this
one.  ``audit`` assumes nothing: it enumerates every output.

Differs from print: equation 4.1 takes the q of the other attribute; P is the rate of agreement, not
of difference; an interval of rates counts by 1/2 plus the distance of its farther end from 1/2.

Source: Du 2025, sections 4.1 and 4.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, permutations, product
from math import expm1, floor, fsum, log, prod, sqrt

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.settings import open_share
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.product_response import apply_along_axes
from sottovoce.maths import exact
from sottovoce.maths.bisection import bisect, bisect_rows

Rows = tuple[tuple[float, ...], ...]

MAX_AUDITED = 10  # attributes
_MAX_OUTPUTS = 1 << 20
_STEP = Decimal("1e-12")  # what is spent is a multiple of it
_HALVINGS = 100


@dataclass(frozen=True, eq=False)
class Ties:
    """How the attributes of a cluster depend on each other.

    ``given`` is (attributes, attributes, values, values).

    Entry [i, j, s, t] is the chance that attribute j has value t where i has s.  Attributes with
    fewer values than others repeat their first row and have columns of zeros, which changes no
    worst case.
    """

    given: Floats

    @classmethod
    def of_agreements(cls, agreements: Sequence[Sequence[float]]) -> "Ties":
        """Return the ties of binary attributes of which each pair agrees at a given rate."""
        rates = check_agreements(agreements)[:, :, None, None]
        return cls(_without_own(np.where(np.eye(2, dtype=bool), rates, 1 - rates)))

    @classmethod
    def of_tables(cls, sizes: Sequence[int], tables: Sequence[Rows]) -> "Ties":
        """Return the ties in the joint tables of all pairs: (0, 1), (0, 2), ... (1, 2)."""
        count = len(sizes)
        most_values = max(sizes)
        if len(tables) != count * (count - 1) // 2:
            raise ParameterError("`tables` must have one joint table for every pair of a cluster")
        given = np.zeros((count, count, most_values, most_values))
        for (first, second), table in zip(combinations(range(count), 2), tables, strict=True):
            cells = _check_table(table, (sizes[first], sizes[second]))
            given[first, second] = _conditional(cells, most_values)
            given[second, first] = _conditional(cells.T, most_values)
        return cls(_without_own(given))

    def among(self, attributes: Sequence[int]) -> "Ties":
        """Return the ties between some of the attributes."""
        return Ties(self.given[np.ix_(attributes, attributes)])

    def __len__(self) -> int:
        return len(self.given)

    @property
    def strengths(self) -> Floats:
        """Return (attributes, attributes): how far one attribute moves the chance of another."""
        return np.asarray(np.ptp(self.given, axis=2).max(axis=2))

    def leaks(self, spent: float) -> Floats:
        """Return how far the log-odds about each attribute can move when all outputs are read."""
        grown = np.log1p(expm1(spent) * self.given)
        by_others = (grown[:, :, :, None] - grown[:, :, None]).max(axis=4).sum(axis=1)
        return np.asarray(spent + by_others.max(axis=(1, 2)))

    def roots(self, epsilon: float) -> Floats:
        """Return for each attribute what all may spend before its own leak exceeds epsilon."""

        def fits(spent: Floats) -> Bools:
            leaks = [self.leaks(part)[attribute] for attribute, part in enumerate(spent.tolist())]
            return np.array(leaks) <= epsilon

        # Where nothing is tied the root is epsilon itself.
        high = np.full(len(self), epsilon * (1 + 1e-9) + 1e-9)
        return bisect_rows(fits, np.zeros(len(self)), high, halvings=_HALVINGS)[0]

    def spent(self, epsilon: float) -> float:
        """Return the most that every attribute may spend, in steps of 1e-12.

        No leak exceeds epsilon, to sixty digits.  Every machine finds the same number, because a
        task's digest depends on it.
        """
        bound = exact.exp(epsilon)
        fitting = bisect(
            lambda spent: bool(self.leaks(spent).max() <= epsilon), 0.0, epsilon, halvings=_HALVINGS
        )
        steps = floor(Decimal(fitting.low) / _STEP)
        while self._worst_odds(steps * _STEP) > bound:
            steps -= 1
        largest = floor(exact.stated(epsilon) / _STEP)
        while steps < largest and self._worst_odds((steps + 1) * _STEP) <= bound:
            steps += 1
        return float(steps * _STEP)

    def _worst_odds(self, spent: Decimal) -> Decimal:
        """Return exp of the largest leak, to sixty digits."""
        with exact.sixty_digits():
            return self._worst_odds_at(exact.exp(spent))

    def _worst_odds_at(self, ratio: Decimal) -> Decimal:
        count = len(self)
        values = self.given.shape[2]
        flat = self.given.reshape(count**2, *self.given.shape[2:])
        grown = [_grown(rows, ratio - 1) for rows in flat]
        worst = ratio
        for attribute, (first, second) in product(range(count), permutations(range(values), 2)):
            odds = ratio
            for table in grown[attribute * count : (attribute + 1) * count]:
                pairs = zip(table[first], table[second], strict=True)
                odds *= max(high / low for high, low in pairs)
            worst = max(worst, odds)
        return worst


def cautious_agreements(sample: Ints, beta: float = 1e-3) -> Rows:
    """Return agreements of binary columns that are at least as strong as the true ones.

    They are weaker only with a chance of ``beta``.  The sample must be public, or its people must
    have agreed to be read; asked privately, it costs a budget of its own.
    """
    people, count = sample.shape
    if people < 1:
        raise NoDataError("agreements are bounded from at least one person")
    open_share("beta", beta)
    distance = (sample[:, :, None] == sample[:, None]).mean(axis=0) - 0.5
    pairs = max(1, count * (count - 1) // 2)
    reach = sqrt(log(2 * pairs / beta) / (2 * people))
    rates = 0.5 + np.where(distance < 0, -1, 1) * np.minimum(np.abs(distance) + reach, 0.5)
    np.fill_diagonal(rates, 1.0)
    return tuple(tuple(row) for row in rates.tolist())


def strongest(low: float, high: float) -> float:
    """Return the agreement that stands for an interval of them.

    >>> strongest(0.25, 0.6)
    0.75
    """
    if not 0 <= low <= high <= 1:
        raise ParameterError("`low` and `high` must be an interval within 0 and 1")
    return 0.5 + max(abs(low - 0.5), abs(high - 0.5))


def pair_tables(sample: Ints, sizes: Sequence[int]) -> tuple[Rows, ...]:
    """Return the joint table of every pair of columns, a half added to every cell.

    They are estimates, not bounds.
    """
    tables = []
    for first, second in combinations(range(len(sizes)), 2):
        cells = sample[:, first] * sizes[second] + sample[:, second]
        counts = np.bincount(cells, minlength=sizes[first] * sizes[second]) + 0.5
        rows = counts.reshape(sizes[first], sizes[second]).tolist()
        tables.append(tuple(tuple(row) for row in rows))
    return tuple(tables)


@dataclass(frozen=True)
class Leaks:
    """The logarithm of the worst odds about each attribute, and about the whole record."""

    attributes: tuple[float, ...]
    record: float


def audit(joint: Floats, spent: Sequence[float]) -> Leaks:
    """Return what reports reveal about people with this joint distribution.

    It has one axis per attribute.
    """
    sizes = joint.shape
    if len(sizes) > MAX_AUDITED:
        raise ParameterError(f"`joint` must have at most {MAX_AUDITED} attributes to be audited")
    if prod(sizes) > _MAX_OUTPUTS:
        raise ParameterError(f"`joint` must have at most {_MAX_OUTPUTS:,} cells to be audited")
    if len(spent) != len(sizes):
        raise ParameterError("`spent` must have one entry for every attribute of `joint`")
    if (joint < 0).any() or not joint.sum():
        raise ParameterError("`joint` must have no negative chances, and a positive one")
    channels = [_channel(size, part) for size, part in zip(sizes, spent, strict=True)]
    worst = tuple(_worst_log_odds(joint, axis, channels) for axis in range(len(sizes)))
    record = sum(float(np.log(channel.max() / channel.min())) for channel in channels)
    return Leaks(worst, record)


def check_agreements(agreements: Sequence[Sequence[float]]) -> Floats:
    """Return the agreements as a matrix, or refuse them."""
    rates = np.array(agreements, np.float64)
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1]:
        raise ParameterError("`agreements` must be a square matrix")
    if not ((rates >= 0) & (rates <= 1)).all():
        raise ParameterError("each entry of `agreements` must be a rate from 0 to 1")
    if (rates != rates.T).any():
        raise ParameterError("`agreements` must be symmetric")
    if (np.diagonal(rates) != 1).any():
        raise ParameterError("`agreements` must be 1 on the diagonal")
    return rates


def _worst_log_odds(joint: Floats, axis: int, channels: Sequence[Floats]) -> float:
    by_value = np.moveaxis(joint, axis, 0)
    outputs = []
    for value in range(len(by_value)):
        if by_value[value].any():  # nothing can be learnt about a value that nobody has
            only = np.zeros_like(by_value)
            only[value] = by_value[value] / by_value[value].sum()
            cells = np.moveaxis(only, 0, axis).ravel()
            outputs.append(apply_along_axes(cells, joint.shape, channels))
    return float(np.ptp(np.log(np.array(outputs)), axis=0).max())


def _channel(size: int, spent: float) -> Floats:
    chances = np.eye(size) * expm1(spent) + 1
    return np.asarray(chances / chances.sum(axis=0))


def _check_table(table: Rows, shape: tuple[int, int]) -> Floats:
    cells = np.array(table, np.float64)
    if cells.shape != shape:
        raise ParameterError("a joint table must have one row and one column for every value")
    if not (np.isfinite(cells) & (cells >= 0)).all():
        raise ParameterError("each cell of a joint table must be a number of at least 0")
    if not cells.sum(axis=0).all() or not cells.sum(axis=1).all():
        raise ParameterError(
            "every value of a joint table must occur: add a half to every cell of a count"
        )
    return cells


def _conditional(cells: Floats, values: int) -> Floats:
    """Return the chances of the columns given each row, padded to so many values."""
    given = np.zeros((values, values))
    totals = np.array([fsum(row) for row in cells.tolist()])  # the same on every machine
    given[: cells.shape[0], : cells.shape[1]] = cells / totals[:, None]
    given[cells.shape[0] :] = given[0]
    return given


def _without_own(given: Floats) -> Floats:
    """Return ties in which no attribute reveals itself a second time."""
    diagonal = np.arange(len(given))
    given[diagonal, diagonal] = 0.0
    return given


def _grown(rows: Floats, excess: Decimal) -> list[list[Decimal]]:
    return [[1 + exact.stated(chance) * excess for chance in row] for row in rows.tolist()]
