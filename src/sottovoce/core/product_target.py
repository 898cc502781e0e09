"""A linear target over the cells of a grid, written as a sum of outer products.

A domain may number the cells of a grid, such as all pairs (interval of age, region).  A coefficient
for every cell is then often a product of one factor per axis, which mechanisms can score without
listing the cells.
"""

from dataclasses import dataclass, field
from functools import reduce
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class OuterProduct:
    """``weight`` times the outer product of one factor per axis."""

    weight: float
    factors: tuple[Floats, ...]

    @property
    def mean(self) -> float:
        """Return the mean coefficient of the cells that the factors list."""
        return self.weight * prod(float(factor.mean()) for factor in self.factors)

    @property
    def constant(self) -> bool:
        """Return whether all cells have the same coefficient."""
        return all((factor == factor[0]).all() for factor in self.factors)


@dataclass(frozen=True, eq=False)
class ProductTarget:
    """The sum of some terms; axes are in the order of the cell numbers, the last changing fastest.

    ``radices`` says how many cell numbers each axis takes.  Beyond a shorter factor lies padding,
    which nobody holds: a mechanism may give it any coefficient.  ``transformed`` keeps what a
    mechanism computed from a factor, under the factor's identity: targets that share factors share
    it.
    """

    radices: tuple[int, ...]
    terms: tuple[OuterProduct, ...]
    transformed: dict[int, Floats] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return how many cell numbers there are."""
        return prod(self.radices)

    @property
    def is_padded(self) -> bool:
        """Return whether a factor is shorter than the cell numbers of its axis."""
        return any(tuple(map(len, term.factors)) != self.radices for term in self.terms)

    def dense(self, size: int) -> Floats:
        """Return the coefficients of the first ``size`` cell numbers.

        Those beyond the grid are 0.
        """
        total = np.zeros(size)
        for term in self.terms:
            padded = [
                _padded(factor, radix)
                for factor, radix in zip(term.factors, self.radices, strict=True)
            ]
            total[: self.size] += term.weight * reduce(np.multiply.outer, padded).ravel()
        return total

    def listed(self) -> tuple[Ints, Floats]:
        """Return the numbers of the cells that have a coefficient in some term, and the
        coefficients.
        """
        steps = np.cumprod([1, *reversed(self.radices[1:])])[::-1]
        numbers = []
        coefficients = []
        for term in self.terms:
            used = [np.flatnonzero(factor) for factor in term.factors]
            offsets = [indices * step for indices, step in zip(used, steps, strict=True)]
            values = [factor[indices] for factor, indices in zip(term.factors, used, strict=True)]
            numbers.append(reduce(np.add.outer, offsets).ravel())
            coefficients.append(term.weight * reduce(np.multiply.outer, values).ravel())
        cells, inverse = np.unique(np.concatenate(numbers), return_inverse=True)
        return np.asarray(cells), np.bincount(
            inverse, np.concatenate(coefficients), len(cells)
        ).astype(float)


def _padded(factor: Floats, radix: int) -> Floats:
    return factor if len(factor) == radix else np.pad(factor, (0, radix - len(factor)))
