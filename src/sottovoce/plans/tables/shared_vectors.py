"""What the targets of several layers have in common.

A query about two of six columns gives the cells of a layer coefficients that depend on these two
columns alone.  The other columns, where they stand next to each other, only repeat a coefficient as
often as they have cells together: (3, 13) as often as (13, 3).  So many layers have one target, but
for a number.  Their reports are compared with it in one pass, and it is transformed once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.product_target import OuterProduct, ProductTarget

MAX_KEPT = 1 << 12  # ones that are kept


AxisVectors = int | tuple[Floats, ...]  # so many ones, or the vector of every term


@dataclass(frozen=True, eq=False)
class SharedTerms:
    """Terms as ``factor`` times terms that other layers may have too."""

    factor: float
    weights: tuple[float, ...]
    axes: tuple[AxisVectors, ...]

    @property
    def key(self) -> Any:
        """Return what equal terms of one scoring have in common, whatever their factor."""
        identities = [axis if isinstance(axis, int) else tuple(map(id, axis)) for axis in self.axes]
        return self.weights, tuple(identities)

    @property
    def constant(self) -> bool:
        """Return whether all cells have the same coefficient."""
        return all(isinstance(axis, int) for axis in self.axes)


@dataclass(frozen=True, eq=False)
class SharedVectors:
    """Vectors of one scoring that its layers share; ``transformed`` keeps what a mechanism computed
    from one, under its identity.
    """

    transformed: dict[int, Floats] = field(default_factory=dict)
    _constant: dict[int, bool] = field(default_factory=dict)
    _ones: dict[int, Floats] = field(default_factory=dict)

    def shared(self, terms: Sequence[OuterProduct], *, merged: bool) -> SharedTerms:
        """Return the terms with ones where nothing depends on an axis.

        ``merged`` makes one axis of neighbours that nothing depends on.
        """
        factor = 1.0
        weights = [term.weight for term in terms]
        axes: list[AxisVectors] = []
        for vectors in zip(*(term.factors for term in terms), strict=True):
            if not all(map(self._is_constant, vectors)):
                axes.append(vectors)
                continue
            if all(vector is vectors[0] for vector in vectors):
                factor *= float(vectors[0][0])
            else:
                pairs = zip(weights, vectors, strict=True)
                weights = [weight * float(vector[0]) for weight, vector in pairs]
            before = axes[-1] if axes else None
            if merged and isinstance(before, int):
                axes[-1] = before * len(vectors[0])
            else:
                axes.append(len(vectors[0]))
        if len(weights) == 1:
            factor *= weights[0]
            weights = [1.0]
        return SharedTerms(factor, tuple(weights), tuple(axes))

    def target(self, shared: SharedTerms, radices: tuple[int, ...]) -> ProductTarget:
        """Return the terms, without their factor, as a target; without ``radices`` nothing is
        padded.
        """
        terms = []
        for index, weight in enumerate(shared.weights):
            factors = [
                self._ones_of(axis) if isinstance(axis, int) else axis[index]
                for axis in shared.axes
            ]
            terms.append(OuterProduct(weight, tuple(factors)))
        lengths = tuple(map(len, terms[0].factors))
        return ProductTarget(radices or lengths, tuple(terms), self.transformed)

    def _is_constant(self, vector: Floats) -> bool:
        if id(vector) not in self._constant:
            self._constant[id(vector)] = bool((vector == vector[0]).all())
        return self._constant[id(vector)]

    def _ones_of(self, length: int) -> Floats:
        """Return ones; few of them are kept, so that what is transformed is known again."""
        if length > MAX_KEPT:
            return np.ones(length)
        return self._ones.setdefault(length, np.ones(length))
