"""Padding and sampling: one element of a set stands for the set.

A set of fewer than ``length`` elements is padded to that length with dummies that all differ.  Then
one element is drawn uniformly, so no element is drawn with a probability above 1 / length.  With
direct response (GRR) this hides the element among the others, and the whole report reveals less
than the response alone:

    worst ratio = 1 + (e^epsilon' - 1) / length        epsilon' is the epsilon of the response

The dummies must differ: with a single dummy an empty set would always yield it.

Source: Wang 2021, section 5.2.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.size import check_candidates, check_items
from sottovoce.mechanisms.base import Mechanism

MAX_LENGTH = 1 << 16


@dataclass(frozen=True)
class Sample(Encoding, kind="sample"):
    """Yield the position of one candidate that the set holds whole, or one of ``length`` dummies.

    Candidates are the sets of items in ``among``, or every single one of the ``items`` if ``among``
    is empty.  Dummies come after them.  A set that holds more than ``length`` candidates is sampled
    without padding.
    """

    items: int
    length: int
    among: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        check_candidates(self.items, self.among)
        settings.whole("length", self.length, 1, MAX_LENGTH)

    @property
    def candidates(self) -> int:
        """Return how many candidates there are; dummies follow them."""
        return len(self.among) or self.items

    def __call__(self, values: Any, rng: Rng) -> Ints:
        baskets = values.holding(self.among) if self.among else values
        drawn = rng.below(np.maximum(baskets.sizes, self.length))
        # A random one of distinct random dummies is uniform over all dummies.
        elements = self.candidates + rng.integers(self.length, len(baskets))
        is_real = np.flatnonzero(drawn < baskets.sizes)
        elements[is_real] = baskets.items[baskets.starts[:-1][is_real] + drawn[is_real]]
        return elements

    def promoting(self, values: Any, rng: Rng) -> Ints:
        # One of the candidates that the set holds, never a dummy, unless it holds none.
        baskets = values.holding(self.among) if self.among else values
        drawn = rng.below(np.maximum(baskets.sizes, 1))
        elements = self.candidates + rng.integers(self.length, len(baskets))
        is_real = np.flatnonzero(baskets.sizes)
        elements[is_real] = baskets.items[baskets.starts[:-1][is_real] + drawn[is_real]]
        return elements

    def outputs(self, domain: Domain) -> int:
        check_items(domain, self.items)
        return self.candidates + self.length

    @property
    def reports_per_value(self) -> int:
        return self.length

    def worst_ratio(self, mechanism: Mechanism) -> Fraction:
        return mechanism.worst_ratio_of_sample(self.length)
