"""How much of each attribute may be told when the others tell of it too.

Every attribute of a cluster is reported by direct response that prefers the truth by a factor exp(spent).  Whoever
reads the others learns of an attribute what its ``Ties`` let through; ``leaks`` add that up, on the assumption that,
given the attribute, the others are independent of each other.  ``audit`` assumes nothing: it enumerates every output.

Differs from print: equation 4.1 has the q of the other attribute, P is the rate of agreement and not of difference, and
an interval of rates counts by 1/2 and the distance of its farther end from 1/2.

Source: Du 2025, sections 4.1 and 4.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, permutations, product
from math import expm1, floor, fsum, log, prod, sqrt

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.product import along

Rows = tuple[tuple[float, ...], ...]

MOST_AUDITED = 10  # attributes
_MOST_OUTPUTS = 1 << 20
_STEP = Decimal("1e-12")  # what is spent is a multiple of it
_HALVINGS = 100


@dataclass(frozen=True, eq=False)
class Ties:
    """How the attributes of a cluster hang together: (attributes, attributes, values, values) chances.

    Entry [i, j, s, t] is the chance that attribute j has value t where i has s.  Attributes with fewer values than
    others repeat their first row and have columns of zeros, which changes no worst case.
    """

    given: Floats

    @classmethod
    def of_agreements(cls, agreements: Sequence[Sequence[float]]) -> "Ties":
        """Return the ties of binary attributes of which each pair agrees at a given rate, whatever their values."""
        rates = check_agreements(agreements)
        given = np.where(np.eye(2, dtype=bool), rates[:, :, None, None], 1 - rates[:, :, None, None])
        return cls(_untied(given))

    @classmethod
    def of_tables(cls, sizes: Sequence[int], tables: Sequence[Rows]) -> "Ties":
        """Return the ties in the joint tables of all pairs, in the order (0, 1), (0, 2), ... (1, 2), ..."""
        count, most = len(sizes), max(sizes)
        if len(tables) != count * (count - 1) // 2:
            raise ParameterError("there is one joint table for every pair of attributes of a cluster")
        given = np.zeros((count, count, most, most))
        for (one, other), table in zip(combinations(range(count), 2), tables, strict=True):
            held = _check_table(table, (sizes[one], sizes[other]))
            given[one, other], given[other, one] = _rows(held, most), _rows(held.T, most)
        return cls(_untied(given))

    def among(self, attributes: Sequence[int]) -> "Ties":
        """Return the ties between some of the attributes."""
        return Ties(self.given[np.ix_(attributes, attributes)])

    def __len__(self) -> int:
        return len(self.given)

    @property
    def strengths(self) -> Floats:
        """Return (attributes, attributes): the most that knowing one moves the chance of a value of another."""
        return np.asarray(np.ptp(self.given, axis=2).max(axis=2))

    def leaks(self, spent: float) -> Floats:
        """Return by how much the logarithm of the odds about each attribute can move, all outputs read."""
        grown = np.log1p(expm1(spent) * self.given)
        apart = (grown[:, :, :, None] - grown[:, :, None]).max(axis=4).sum(axis=1)
        return np.asarray(spent + apart.max(axis=(1, 2)))

    def roots(self, epsilon: float) -> Floats:
        """Return for each attribute how much every one may spend before this one's leak exceeds epsilon."""
        low = np.zeros(len(self))
        high = np.full(len(self), epsilon * (1 + 1e-9) + 1e-9)  # the root is epsilon itself where nothing is tied
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            fits = np.array([self.leaks(one)[place] for place, one in enumerate(middle)]) <= epsilon
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return low

    def spent(self, epsilon: float) -> float:
        """Return the most, in steps of 1e-12, that every attribute may spend: no leak exceeds epsilon, to sixty digits.

        Every machine finds the same number, since a task's digest depends on it.
        """
        bound, steps = exact.exp(epsilon), floor(Decimal(self._root(epsilon)) / _STEP)
        while self._odds(steps * _STEP) > bound:
            steps -= 1
        while (steps + 1) * _STEP <= exact.stated(epsilon) and self._odds((steps + 1) * _STEP) <= bound:
            steps += 1
        return float(steps * _STEP)

    def _root(self, epsilon: float) -> float:
        low, high = 0.0, epsilon
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.leaks(middle).max() <= epsilon else (low, middle)
        return low

    def _odds(self, spent: Decimal) -> Decimal:
        """Return exp of the largest leak."""
        with exact.sixty_digits():
            return self._worst_odds(exact.exp(spent))

    def _worst_odds(self, ratio: Decimal) -> Decimal:
        grown = [_grown(rows, ratio - 1) for rows in self.given.reshape(len(self) ** 2, *self.given.shape[2:])]
        count, values = len(self), self.given.shape[2]
        worst = ratio
        for one, (this, other) in product(range(count), permutations(range(values), 2)):
            odds = ratio
            for table in grown[one * count : (one + 1) * count]:
                most = max(a / b for a, b in zip(table[this], table[other], strict=True))
                odds *= most
            worst = max(worst, odds)
        return worst


def cautious(sample: Ints, beta: float = 1e-3) -> Rows:
    """Return agreements of binary columns that are stronger than the true ones but for a chance of beta.

    The sample must be public or its people have agreed to being read; asked privately, it costs a budget of its own.
    """
    people, count = sample.shape
    if people < 1 or not 0 < beta < 1:
        raise NoDataError("agreements are bounded from at least one person, and with a chance between 0 and 1")
    seen = (sample[:, :, None] == sample[:, None]).mean(axis=0) - 0.5
    reach = sqrt(log(2 * max(1, count * (count - 1) // 2) / beta) / (2 * people))
    rates = 0.5 + np.where(seen < 0, -1, 1) * np.minimum(np.abs(seen) + reach, 0.5)
    np.fill_diagonal(rates, 1.0)
    return tuple(tuple(row) for row in rates.tolist())


def strongest(low: float, high: float) -> float:
    """Return the agreement that stands for an interval of them.

    >>> strongest(0.25, 0.6)
    0.75
    """
    if not 0 <= low <= high <= 1:
        raise ParameterError("an interval of agreements lies within 0 and 1")
    return 0.5 + max(abs(low - 0.5), abs(high - 0.5))


def counted(sample: Ints, sizes: Sequence[int]) -> tuple[Rows, ...]:
    """Return the joint table of every pair of columns, a half added to every cell: an estimate, not a bound."""
    tables = []
    for one, other in combinations(range(len(sizes)), 2):
        cells = sample[:, one] * sizes[other] + sample[:, other]
        table = np.bincount(cells, minlength=sizes[one] * sizes[other]) + 0.5
        tables.append(tuple(tuple(row) for row in table.reshape(sizes[one], sizes[other]).tolist()))
    return tuple(tables)


@dataclass(frozen=True)
class Leaks:
    """What an audit found: the logarithm of the worst odds about each attribute, and about the whole record."""

    attributes: tuple[float, ...]
    record: float


def audit(joint: Floats, spent: Sequence[float]) -> Leaks:
    """Return what reports betray of people with this joint distribution, one axis for each attribute."""
    sizes = joint.shape
    if len(sizes) > MOST_AUDITED or prod(sizes) > _MOST_OUTPUTS or len(spent) != len(sizes):
        raise ParameterError(f"an audit lists the outputs of at most {MOST_AUDITED} attributes, each of which spends")
    if (joint < 0).any() or not joint.sum():
        raise ParameterError("a joint distribution has no negative chances, and some positive")
    channels = [_channel(size, one) for size, one in zip(sizes, spent, strict=True)]
    worst = tuple(_worst(joint, axis, channels) for axis in range(len(sizes)))
    return Leaks(worst, sum(float(np.log(one.max() / one.min())) for one in channels))


def check_agreements(agreements: Sequence[Sequence[float]]) -> Floats:
    """Return the agreements as a matrix, or refuse them."""
    rates = np.array(agreements, np.float64)
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1] or not ((rates >= 0) & (rates <= 1)).all():
        raise ParameterError("agreements are a square of rates from 0 to 1")
    if (rates != rates.T).any() or (np.diagonal(rates) != 1).any():
        raise ParameterError("agreements are symmetric, and every attribute agrees with itself")
    return rates


def _worst(joint: Floats, axis: int, channels: Sequence[Floats]) -> float:
    held = np.moveaxis(joint, axis, 0)
    seen = []
    for value in range(len(held)):
        if held[value].any():  # of a value that nobody has nothing can be learnt
            only = np.zeros_like(held)
            only[value] = held[value] / held[value].sum()
            seen.append(along(np.moveaxis(only, 0, axis).ravel(), joint.shape, channels))
    logs = np.log(np.array(seen))
    return float(np.ptp(logs, axis=0).max())


def _channel(size: int, spent: float) -> Floats:
    chances = np.eye(size) * expm1(spent) + 1
    return np.asarray(chances / chances.sum(axis=0))


def _check_table(table: Rows, shape: tuple[int, int]) -> Floats:
    held = np.array(table, np.float64)
    if held.shape != shape or not (np.isfinite(held) & (held >= 0)).all():
        raise ParameterError("a joint table has one row and one column for every value, and nothing negative")
    if not held.sum(axis=0).all() or not held.sum(axis=1).all():
        raise ParameterError("every value of a joint table occurs: add a half to every cell of a count")
    return held


def _rows(held: Floats, most: int) -> Floats:
    """Return the chances of the columns given each row, padded to so many values."""
    given = np.zeros((most, most))
    totals = np.array([fsum(row) for row in held.tolist()])  # the same on every machine
    given[: held.shape[0], : held.shape[1]] = held / totals[:, None]
    given[held.shape[0] :] = given[0]
    return given


def _untied(given: Floats) -> Floats:
    """Return ties in which no attribute tells of itself a second time."""
    places = np.arange(len(given))
    given[places, places] = 0.0
    return given


def _grown(rows: Floats, excess: Decimal) -> list[list[Decimal]]:
    return [[1 + exact.stated(one) * excess for one in row] for row in rows.tolist()]
