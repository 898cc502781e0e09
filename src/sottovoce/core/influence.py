"""Influence: what one false report can do to a number, and intervals that allow for false reports.

A report is a vote for every value.  A pure mechanism with probabilities p and q gives a value

    (1 - q) / (p - q)   at most        -q / (p - q)   at least

and a false report may choose either.  For a linear target with coefficients c, a report that
supports the set S of values votes (sum of c over S - q sum of c) / (p - q).  An ``InfluenceLaw``
knows which sets a report can support, so it states the extremes of that vote.

Let at most a share b of all who answer be false.  If an honest estimate of a share would be f, what
is seen is f' = (1 - b) f + b v, where the mean vote v of the false reports is anything from -down
to up.  So, whatever they send,

    (f' - b up) / (1 - b)  <=  f  <=  (f' + b down) / (1 - b)

Both bounds widen with b, so they hold for every smaller share as well.  The interval of sampling is
added before the division, which makes it a little too wide.

A report of a group that stands for more people than itself has that many times the influence, and
false reports may all join one group: where n of N people make up the group, the share b becomes b N
/ n there.  A collector that deals groups by enrolment tokens prevents that.

Source: Cao, Jia and Gong 2021.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.arrays import Floats, Ints


@dataclass(frozen=True)
class Influence:
    """The most that one false report can add to a number, and the most it can take from it.

    ``stands_for`` is how many people the report is counted for.  ``up`` and ``down`` include it.
    """

    up: float
    down: float
    stands_for: float = 1.0

    @classmethod
    def of_support(cls, p: float, q: float) -> "Influence":
        """Return the influence on the count of one value, by a report that may support it or not.

        >>> Influence.of_support(0.5, 0.25)
        Influence(up=3.0, down=1.0, stands_for=1.0)
        """
        return cls((1 - q) / (p - q), q / (p - q))

    def times(self, factor: float) -> "Influence":
        """Return the influence on the number times a factor."""
        if factor < 0:
            return Influence(-factor * self.down, -factor * self.up, self.stands_for)
        return Influence(factor * self.up, factor * self.down, self.stands_for)

    def standing_for(self, people: float) -> "Influence":
        """Return the influence of a report that represents ``people`` times as many people."""
        return Influence(people * self.up, people * self.down, people * self.stands_for)

    def to_dict(self) -> dict[str, float]:
        """Return the influence as plain data."""
        return {"up": self.up, "down": self.down}


@dataclass(frozen=True, eq=False)
class CellInfluences:
    """The influence of one report on every single cell; a report changes several cells at once."""

    up: Floats
    down: Floats
    stands_for: Floats

    @classmethod
    def alike(cls, influence: Influence, count: int) -> "CellInfluences":
        """Return the same influence on each of ``count`` cells."""
        extremes = (influence.up, influence.down, influence.stands_for)
        return cls(*(np.full(count, extreme) for extreme in extremes))

    @classmethod
    def listed(cls, influences: list[Influence]) -> "CellInfluences":
        """Return an influence for each cell."""
        return cls(
            np.array([influence.up for influence in influences]),
            np.array([influence.down for influence in influences]),
            np.array([influence.stands_for for influence in influences]),
        )

    def __getitem__(self, cell: int) -> Influence:
        return Influence(float(self.up[cell]), float(self.down[cell]), float(self.stands_for[cell]))

    def standing_for(self, people: float) -> "CellInfluences":
        """Return the influences of a report that represents ``people`` times as many people."""
        return CellInfluences(people * self.up, people * self.down, people * self.stands_for)

    @property
    def largest(self) -> Influence:
        """Return the most that a report can do to any cell."""
        return Influence(float(self.up.max()), float(self.down.max()), float(self.stands_for.max()))

    def attacked(
        self, low: Floats, high: Floats, false_reports: float, people: int
    ) -> tuple[Floats, Floats]:
        """Return the bounds of totals widened for so many false reports of all ``people``.

        The bounds of a cell are NaN if all of its reports may be false: then they say nothing.
        """
        false_share = false_reports * self.stands_for / people
        honest_share = np.where(false_share < 1, 1 - false_share, np.nan)
        return (
            np.asarray((low - false_reports * self.up) / honest_share),
            np.asarray((high + false_reports * self.down) / honest_share),
        )


@dataclass(frozen=True)
class Exposure:
    """How false reports move one number: the influence of each, and of how many ``people``.

    ``origin`` is the number to which reports of influence 0 would move it: 0 for counts and sums,
    the middle of the range for a mean, the number itself for a ratio.
    """

    influence: Influence
    people: int
    origin: float = 0.0

    def times(self, factor: float) -> "Exposure":
        """Return the exposure of the number times a factor."""
        return Exposure(self.influence.times(factor), self.people, factor * self.origin)

    def attacked(self, low: float, high: float, fakes: float) -> tuple[float, float] | None:
        """Return the bounds widened for a share ``fakes`` of false reports.

        None if all reports behind the number may be false.
        """
        cell = CellInfluences.alike(self.influence, 1)
        below, above = np.array([low - self.origin]), np.array([high - self.origin])
        widened = cell.attacked(below, above, fakes * self.people, self.people)
        bounds = [self.origin + float(bound[0]) for bound in widened]
        return None if np.isnan(bounds).any() else (bounds[0], bounds[1])


class InfluenceLaw(ABC):
    """The most that one report can add to, or subtract from, a linear function of the votes."""

    # Whether cells can be exchanged: then only the coefficients matter, not where they stand.
    symmetric: ClassVar[bool] = True

    @abstractmethod
    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        """Return the extremes of one report's vote for the sum of these cells.

        ``padded`` says that cells of the domain beyond those listed have the mean coefficient,
        because nobody holds them; otherwise they have 0.
        """

    @abstractmethod
    def cells(self, count: int) -> CellInfluences:
        """Return the extremes of one report's vote for every single cell."""

    def picked(self, indices: Ints) -> "InfluenceLaw":
        """Return the law for the candidates at these indices."""
        return self

    def dealt(self) -> "InfluenceLaw":
        """Return the law of a report whose group is dealt: the mean over all groups."""
        return self


@dataclass(frozen=True, eq=False)
class CoefficientBounds:
    """Bounds of coefficients that are too many to list, with one entry per layer of cells.

    ``highest`` is no less than the largest of them and 0, ``lowest`` no more than the smallest and
    0.  ``positive`` is no less than the sum of those above 0, ``negative`` no more than the sum of
    those below.  ``total`` is their sum.
    """

    highest: Floats
    lowest: Floats
    positive: Floats
    negative: Floats
    total: Floats

    def __getitem__(self, layers: Ints) -> "CoefficientBounds":
        return CoefficientBounds(
            self.highest[layers],
            self.lowest[layers],
            self.positive[layers],
            self.negative[layers],
            self.total[layers],
        )


class SupportInfluence(InfluenceLaw):
    """The law of a pure mechanism, whose reports support some values and not the others."""

    p: float
    q: float

    def cells(self, count: int) -> CellInfluences:
        return CellInfluences.alike(Influence.of_support(self.p, self.q), count)

    def bounds(self, known: CoefficientBounds) -> tuple[Floats, Floats]:
        """Return bounds of ``up`` and ``down`` for coefficients that are too many to list."""
        gain = self.p - self.q
        expected = self.q * known.total
        up = (self.largest_sums(known.highest, known.positive) - expected) / gain
        down = (self.largest_sums(-known.lowest, -known.negative) + expected) / gain
        return np.asarray(up), np.asarray(down)

    def largest_sums(self, highest: Floats, positive: Floats) -> Floats:
        """Return bounds of the sums of coefficients that a report supports."""
        return positive


@dataclass(frozen=True)
class AnySetInfluence(SupportInfluence):
    """A report may support any set of values: unary encoding, and hashing with a free seed.

    With hashing it is a bound: to put many chosen values into one bucket takes more tries than
    there are seeds.  For one value it is exact.
    """

    p: float
    q: float

    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        largest = float(np.maximum(coefficients, 0.0).sum())
        smallest = float(np.minimum(coefficients, 0.0).sum())
        return _of_sums(largest, smallest, self.q * float(coefficients.sum()), self.p - self.q)


@dataclass(frozen=True)
class SizedSetInfluence(SupportInfluence):
    """Every report supports ``supported`` of ``cells`` values: GRR, subset selection, affine.

    The largest sum that a report supports is that of the largest coefficients.  That is exact where
    every such set is possible.  Affine response supports only affine subspaces, which hold few
    values that were chosen without regard for the hash: there it is a bound, exact for one value.
    """

    p: float
    q: float
    supported: int
    cell_count: int

    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        others = self.cell_count - len(coefficients)
        other_coefficient = float(coefficients.mean()) if padded else 0.0
        ordered = np.sort(coefficients)
        return _of_sums(
            self._largest_sum(ordered, other_coefficient, others),
            -self._largest_sum(-ordered[::-1], -other_coefficient, others),
            self.q * (float(coefficients.sum()) + other_coefficient * others),
            self.p - self.q,
        )

    def _largest_sum(self, ascending: Floats, other_coefficient: float, others: int) -> float:
        """Return the largest sum of the coefficients of ``supported`` cells.

        ``ascending`` are the listed coefficients; ``others`` further cells have
        ``other_coefficient``.
        """
        descending = ascending[::-1]
        above = min(self.supported, int(np.count_nonzero(descending > other_coefficient)))
        level = min(self.supported - above, others)
        below = self.supported - above - level
        listed = descending[:above].sum() + descending[above : above + below].sum()
        return float(listed) + level * other_coefficient

    def largest_sums(self, highest: Floats, positive: Floats) -> Floats:
        return np.minimum(self.supported * highest, positive)


@dataclass(frozen=True, eq=False)
class StatedInfluence(InfluenceLaw):
    """A stated influence on every cell.  For several cells together the sum of them is a bound."""

    up: Floats
    down: Floats
    stands_for: Floats

    symmetric = False

    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        used = np.flatnonzero(coefficients)
        up = np.where(coefficients > 0, self.up, self.down) * np.abs(coefficients)
        down = np.where(coefficients > 0, self.down, self.up) * np.abs(coefficients)
        stands_for = float(self.stands_for[used].max()) if len(used) else 1.0
        return Influence(float(up.sum()), float(down.sum()), stands_for)

    def cells(self, count: int) -> CellInfluences:
        return CellInfluences(self.up, self.down, self.stands_for)

    def picked(self, indices: Ints) -> "StatedInfluence":
        return StatedInfluence(self.up[indices], self.down[indices], self.stands_for[indices])

    def dealt(self) -> "StatedInfluence":
        people = self.stands_for
        return StatedInfluence(self.up / people, self.down / people, np.ones(len(people)))


@dataclass(frozen=True)
class ScaledInfluence(InfluenceLaw):
    """The law of votes times a positive ``factor``, such as the length of padded sets."""

    law: InfluenceLaw
    factor: float

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.law.symmetric

    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        return self.law.of(coefficients, padded=padded).times(self.factor)

    def cells(self, count: int) -> CellInfluences:
        cells = self.law.cells(count)
        return CellInfluences(self.factor * cells.up, self.factor * cells.down, cells.stands_for)

    def picked(self, indices: Ints) -> "ScaledInfluence":
        return ScaledInfluence(self.law.picked(indices), self.factor)

    def dealt(self) -> "ScaledInfluence":
        return ScaledInfluence(self.law.dealt(), self.factor)


@dataclass(frozen=True, eq=False)
class GroupInfluence(InfluenceLaw):
    """The law of sums of cells: cell j of the law belongs to cell ``cell_of[j]`` of the table.

    The report is counted for ``people``.
    """

    law: InfluenceLaw
    cell_of: Ints
    people: float = 1.0

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        sizes = np.bincount(self._cell_of)
        return self.law.symmetric and bool((sizes == sizes[0]).all())

    @property
    def _cell_of(self) -> Ints:
        return np.asarray(self.cell_of, np.int64)

    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        return self.law.of(coefficients[self._cell_of]).standing_for(self.people)

    def cells(self, count: int) -> CellInfluences:
        if self.symmetric:
            return CellInfluences.alike(self.of(_single(0, count)), count)
        return CellInfluences.listed([self.of(_single(cell, count)) for cell in range(count)])

    def dealt(self) -> "GroupInfluence":
        return GroupInfluence(self.law.dealt(), self.cell_of)


@dataclass(frozen=True, eq=False)
class MeanInfluence(InfluenceLaw):
    """The law of a weighted mean of tables, where a report belongs to one of them.

    An attacker chooses the table; where tables are ``shared`` out evenly by dealt coins, the mean
    over them counts.
    """

    weights: Floats
    laws: tuple[InfluenceLaw, ...]
    shared: bool = False

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return all(law.symmetric for law in self.laws)

    def of(self, coefficients: Floats, *, padded: bool = False) -> Influence:
        pairs = zip(self.weights.tolist(), self.laws, strict=True)
        parts = [
            Influence(weight * part.up, weight * part.down, weight * part.stands_for)
            for weight, part in ((weight, law.of(coefficients)) for weight, law in pairs)
        ]
        join = sum if self.shared else max
        return Influence(
            join(part.up for part in parts),
            join(part.down for part in parts),
            join(part.stands_for for part in parts),
        )

    def cells(self, count: int) -> CellInfluences:
        if self.symmetric:
            return CellInfluences.alike(self.of(_single(0, count)), count)
        return CellInfluences.listed([self.of(_single(cell, count)) for cell in range(count)])

    def dealt(self) -> "MeanInfluence":
        return MeanInfluence(self.weights, tuple(law.dealt() for law in self.laws), shared=True)


def _single(cell: int, count: int) -> Floats:
    coefficients = np.zeros(count)
    coefficients[cell] = 1.0
    return coefficients


def _of_sums(largest: float, smallest: float, expected: float, gain: float) -> Influence:
    """Return the influence where the supported coefficients sum to anything between two bounds."""
    return Influence((largest - expected) / gain, (expected - smallest) / gain)
