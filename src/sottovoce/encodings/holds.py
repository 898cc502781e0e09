"""Whether a person has one item: yes or no."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.size import check_items


@dataclass(frozen=True)
class Holds(Encoding, kind="holds"):
    """Encode a set as 1 if it contains the item, and as 0 otherwise."""

    items: int
    item: int

    def __post_init__(self) -> None:
        settings.whole("items", self.items, 1)
        settings.whole("item", self.item, 0, self.items - 1)

    def __call__(self, values: Any, rng: Rng) -> Ints:
        answers: Ints = values.holds(self.item).astype(np.int64)
        return answers

    def outputs(self, domain: Domain) -> int:
        check_items(domain, self.items)
        return 2
