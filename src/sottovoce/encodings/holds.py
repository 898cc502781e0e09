"""Whether somebody has one item: yes or no."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.size import considered
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Holds(Encoding, kind="holds"):
    """Yield 1 for those who have the item and 0 for others."""

    items: int
    item: int

    def __post_init__(self) -> None:
        if not all(type(number) is int for number in (self.items, self.item)) or not 0 <= self.item < self.items:
            raise ParameterError("this question asks about an item that there is not")

    def __call__(self, values: Any, rng: Rng) -> Ints:
        held: Ints = values.holds(self.item).astype(np.int64)
        return held

    def outputs(self, domain: Domain) -> int:
        considered(domain, self.items)
        return 2
