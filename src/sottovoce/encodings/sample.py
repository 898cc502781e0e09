"""Padding and sampling: one element of a set stands for it, and short sets are filled with dummies.

A set is padded to ``length`` elements with **distinct** dummies, then one element is drawn.  No element of any set is
drawn with a chance above 1/length, which hides it among the others: with direct response the whole report reveals
less than the response alone.  One dummy for all would undo that: an empty set would always yield it.

Source: Wang 2021, section 5.2.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.size import check_candidates, considered
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism

LONGEST = 1 << 16


@dataclass(frozen=True)
class Sample(Encoding, kind="sample"):
    """Yield one of the candidates that somebody has whole, by position, or one of ``length`` dummies after them.

    Candidates are sets of items; none are named where every single one of the ``items`` is.  A set of more than
    ``length`` candidates is sampled as it is.
    """

    items: int
    length: int
    among: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        check_candidates(self.items, self.among)
        if type(self.length) is not int or not 1 <= self.length <= LONGEST:
            raise ParameterError(f"sets are padded to a length from 1 to {LONGEST}")

    @property
    def candidates(self) -> int:
        """Return how many candidates there are; dummies follow them."""
        return len(self.among) or self.items

    def __call__(self, values: Any, rng: Rng) -> Ints:
        held = values.holding(self.among) if self.among else values
        drawn = rng.below(np.maximum(held.sizes, self.length))
        # Distinct dummies at random and one of them at random: any of all, each with the same chance.
        chosen = self.candidates + rng.integers(self.length, len(held))
        real = np.flatnonzero(drawn < held.sizes)
        chosen[real] = held.items[held.starts[:-1][real] + drawn[real]]
        return chosen

    def outputs(self, domain: Domain) -> int:
        considered(domain, self.items)
        return self.candidates + self.length

    def worst_ratio(self, mechanism: Mechanism) -> Fraction:
        """Return 1 + (ratio - 1)/length for direct response over all outputs, the mechanism's own for any other.

        A report y of direct response has the chance q' + (p' - q') s, where s, the chance that y was drawn, lies
        between 0 and 1/length for every set.  Hashing may put a whole set into one bucket, so it gains nothing.
        """
        if mechanism.kind != "grr":
            return mechanism.worst_ratio
        return 1 + (mechanism.worst_ratio - 1) / self.length
