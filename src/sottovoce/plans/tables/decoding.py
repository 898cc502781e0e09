"""Many columns of scores at once: the sums of reports are decoded, no person is scored.

A score is linear in the votes for the cells of a layer, so the sum of the scores of all people
follows from the decoded votes of every layer.  So does the expected sum of the products of two
scores: with coefficients c and d, their means c' and d', and n people who hold the cells t,

    spread * n * sum((c - c') (d - d')) + (held + 1) * sum over people of (c[t] - c') (d[t] - d')

(``ScoreMoments``), where the last sum is again estimated by the votes.  All columns together are
contracted axis by axis: vectors that columns share are used once.  Layers that are too large to be
decoded have few reports each, which are scored one by one.

Source: docs/affine-response.md, section 1; Xu 2020, section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.noise import ScoreMoments
from sottovoce.errors import NoDataError
from sottovoce.plans.tables.coefficients import AxisProduct, Coefficients
from sottovoce.plans.tables.layered_blue import Levels
from sottovoce.plans.tables.layout import Slot
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address

MAX_CELLS = 1 << 24  # of all layers together whose sums are kept in memory
MAX_TABLE = 1 << 22  # combinations of the vectors of all axes
SCORES_AT_ONCE = 1 << 22  # of the reports of a layer that is too large to be decoded


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums over some people: of every column of scores, and of every product of two."""

    users: int
    scores: Floats
    products: Floats


@dataclass(frozen=True, eq=False)
class Decoding:
    """Columns of scores of one factor; ``pairs`` lists which two of them are multiplied."""

    scoring: Scoring
    pairs: Ints
    collected: Collected

    def sums(self, slot: Slot) -> ScoreSums:
        """Return the sums over everybody of the scores of one slot."""
        constants = np.array(self.scoring.constants[slot.number])
        left, right = self.pairs.T
        users = 0
        scores, products = np.zeros(len(constants)), np.zeros(len(self.pairs))
        for member in range(len(slot.family)):
            try:
                layer = self._layer(slot, member, constants)
            except NoDataError:
                continue  # nobody was asked about this layer
            users += layer.users
            scores += layer.scores
            products += (
                constants[left] * layer.scores[right] + constants[right] * layer.scores[left]
            )
            products += layer.products
        products += users * constants[left] * constants[right]
        return ScoreSums(users, users * constants + scores, products)

    def _layer(self, slot: Slot, member: int, constants: Floats) -> ScoreSums:
        """Return the sums over the people asked about a layer, the constants left out."""
        address = Address(0, member, slot.number)
        if slot.cell(member).aligned:
            return self._scored(address, constants)
        group, levels = slot.levels(member)
        matrices = self._groups[group].matrices(levels)
        if matrices is None:
            count = self._report_counts.get(address)
            users = self.collected.tally(address).users if count is None else count
            return ScoreSums(users, np.zeros(len(constants)), np.zeros(len(self.pairs)))
        tally = self.collected.tally(address)
        mechanism = slot.mechanism(member)
        votes = mechanism.estimate(tally).totals
        layer = _Layer(matrices, votes, tally.users, mechanism.noise.score_moments)
        sums = self._groups[group].sums(layer, self.pairs)
        left, right = self.pairs.T
        scales = np.array([column.scale(member) for column in self.scoring.columns])
        chance = slot.chance(member)
        scores = scales * sums.scores / chance
        products = scales[left] * scales[right] * sums.products / chance**2
        return ScoreSums(tally.users, scores, products)

    def _scored(self, address: Address, constants: Floats) -> ScoreSums:
        left, right = self.pairs.T
        users = 0
        scores, products = np.zeros(len(constants)), np.zeros(len(self.pairs))
        step = max(1, SCORES_AT_ONCE // len(constants))
        for batch in self.collected.reports(address):
            for start in range(0, len(batch), step):
                reports = batch[start : start + step]
                found = self.scoring(address.slot, address.member, reports) - constants
                users += len(found)
                scores += found.sum(axis=0)
                products += np.einsum("ij,ij->j", found[:, left], found[:, right])
        return ScoreSums(users, scores, products)

    @cached_property
    def _report_counts(self) -> dict[Address, int]:
        return dict(self.collected.report_counts(0))

    @cached_property
    def _groups(self) -> "list[_GroupTerms]":
        """Return what the columns are made of, for every group of layers."""
        groups = zip(*(column.groups for column in self.scoring.columns), strict=True)
        return [_GroupTerms.of(columns, self.pairs) for columns in groups]


def table_size(columns: Sequence[Coefficients], pairs: Ints) -> int:
    """Return how many combinations of vectors the columns of a factor need, at most.

    Squares of columns, and products of two, combine the vectors of any two of their terms.
    """
    largest = 0
    for group in zip(*(column.groups for column in columns), strict=True):
        counts = np.array([len(terms) for terms in group])
        term_pairs = int((counts[pairs[:, 0]] * counts[pairs[:, 1]]).sum())
        if term_pairs > MAX_TABLE:
            return term_pairs
        terms = _GroupTerms.of(group, pairs)
        sizes = (prod(map(len, terms.levels)), prod(each.shape[1] for each in terms.paired))
        largest = max(largest, *sizes)
    return largest


@dataclass(frozen=True, eq=False)
class _Layer:
    """The decoded votes of one layer, and the vectors of all columns: (vectors, nodes) by axis."""

    matrices: list[Floats]
    votes: Floats
    users: int
    law: ScoreMoments

    @cached_property
    def grid(self) -> Floats:
        """Return the votes by axis, without those for padding."""
        shape = [matrix.shape[1] for matrix in self.matrices]
        return self.votes[: prod(shape)].reshape(shape)

    @property
    def missing(self) -> float:
        """Return the votes for the padding, which nobody holds."""
        return float(self.users - self.grid.sum())


@dataclass(frozen=True, eq=False)
class _Terms:
    """Outer products: whose part each is, its weight, and the number of its vector on every
    axis.
    """

    count: int  # of owners
    owners: Ints
    weights: Floats
    vectors: tuple[Ints, ...]

    def sums(self, matrices: Sequence[Floats]) -> Floats:
        """Return the sum of the coefficients of all cells, for every owner."""
        parts = [
            matrix.sum(axis=1)[index] for matrix, index in zip(matrices, self.vectors, strict=True)
        ]
        return self._by_owner(prod(parts, start=np.ones(len(self.owners))))

    def contracted(self, grid: Floats, matrices: Sequence[Floats]) -> Floats:
        """Return the sum of a number per cell times its coefficient, for every owner."""
        table = grid
        shrinking = sorted(
            range(len(matrices)), key=lambda axis: matrices[axis].shape[0] / matrices[axis].shape[1]
        )
        for axis in shrinking:
            table = np.moveaxis(np.tensordot(matrices[axis], table, axes=(1, axis)), 0, axis)
        return self._by_owner(table[self.vectors])

    def _by_owner(self, values: Floats) -> Floats:
        return np.bincount(self.owners, self.weights * values, self.count).astype(float)


@dataclass(frozen=True, eq=False)
class _GroupTerms:
    """The terms of all columns and of all pairs for one group of layers.

    ``levels`` are the different vectors of every axis, and ``paired`` which two of them the terms
    of pairs multiply.
    """

    levels: tuple[tuple[Levels, ...], ...]
    columns: _Terms
    paired: tuple[Ints, ...]
    pairs: _Terms

    @classmethod
    def of(cls, columns: Sequence[tuple[AxisProduct, ...]], pairs: Ints) -> "_GroupTerms":
        """Return the terms of the columns of a group."""
        owners = [owner for owner, terms in enumerate(columns) for _ in terms]
        terms = [term for terms in columns for term in terms]
        if not terms:
            nothing = _Terms(len(columns), np.zeros(0, np.int64), np.zeros(0), ())
            return cls((), nothing, (), nothing)
        axes = range(len(terms[0].axes))
        numbered = [_numbered([id(term.axes[axis]) for term in terms]) for axis in axes]
        levels = tuple(
            tuple(terms[first].axes[axis] for first in numbered[axis].firsts) for axis in axes
        )
        weights = np.array([term.weight for term in terms])
        vectors = tuple(each.numbers for each in numbered)
        single = _Terms(len(columns), np.array(owners), weights, vectors)
        pair_owners, left, right = _term_pairs(single, pairs)
        paired = []
        numbers = []
        for index in vectors:
            # A product does not depend on the order of its vectors.
            both = np.sort(np.stack([index[left], index[right]]), axis=0)
            unique, inverse = np.unique(both, axis=1, return_inverse=True)
            paired.append(unique)
            numbers.append(inverse.ravel())
        double = _Terms(len(pairs), pair_owners, weights[left] * weights[right], tuple(numbers))
        return cls(levels, single, tuple(paired), double)

    def matrices(self, levels: Sequence[int]) -> list[Floats] | None:
        """Return the vectors of one layer by axis; None if it has no part in any column."""
        matrices = []
        for level, different in zip(levels, self.levels, strict=False):
            vectors = [each[level] for each in different]
            known = next((vector for vector in vectors if vector is not None), None)
            if known is None:
                return None
            nothing = np.zeros(len(known))
            matrices.append(np.stack([nothing if vector is None else vector for vector in vectors]))
        return matrices or None

    def sums(self, layer: _Layer, pairs: Ints) -> ScoreSums:
        """Return the sums of the votes of a layer, means left out, and of their products."""
        left, right = pairs.T
        matrices = layer.matrices
        products = [
            matrix[which[0]] * matrix[which[1]]
            for matrix, which in zip(matrices, self.paired, strict=True)
        ]
        users, law = layer.users, layer.law
        value = self.columns.contracted(layer.grid, matrices)
        squared = self.pairs.contracted(layer.grid, products)
        squares = self.pairs.sums(products)
        if not law.centred:
            return ScoreSums(users, value, users * law.spread * squares + (law.held + 1) * squared)
        cells = layer.grid.size
        mean = self.columns.sums(matrices) / cells
        scores = value + mean * layer.missing - users * mean
        apart = squared + squares / cells * layer.missing - users * mean[left] * mean[right]
        apart -= mean[left] * scores[right] + mean[right] * scores[left]
        noise = users * law.spread * (squares - cells * mean[left] * mean[right])
        return ScoreSums(users, scores, noise + (law.held + 1) * apart)


@dataclass(frozen=True, eq=False)
class _Numbered:
    """A number for every item, equal for equal ones, and where each number comes first."""

    numbers: Ints
    firsts: list[int]


def _numbered(items: Sequence[int]) -> _Numbered:
    _, firsts, numbers = np.unique(items, return_index=True, return_inverse=True)
    return _Numbered(numbers, firsts.tolist())


def _term_pairs(terms: _Terms, pairs: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the number of a pair of columns with a term of each, for all combinations.

    The terms of a column stand next to each other.
    """
    counts = np.bincount(terms.owners, minlength=terms.count)
    starts = np.cumsum(counts) - counts
    left, right = pairs.T
    sizes = counts[left] * counts[right]
    numbers = np.repeat(np.arange(len(pairs)), sizes)
    within = np.arange(len(numbers)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first, second = np.divmod(within, np.maximum(counts[right], 1)[numbers])
    return numbers, starts[left][numbers] + first, starts[right][numbers] + second
