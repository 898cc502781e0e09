"""One question for every item: do you have it?  A public coin picks which, everybody answers one of them.

Source: Du 2025, section 5.1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.rng import Rng
from sottovoce.encodings.holds import Holds
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Question


@dataclass(frozen=True)
class EachItem(Family, kind="each_item"):
    """The question about each of some of the ``items``, all by one mechanism for two values."""

    one_mechanism = True

    mechanism: Mechanism
    items: int
    among: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.mechanism.size != 2:
            raise ParameterError("having an item is a matter of yes or no")
        if not all(type(number) is int for number in (self.items, *self.among)) or self.items < 2:
            raise ParameterError("items are numbered, and a set is of at least two of them")
        if len(set(self.among)) < len(self.among) or not all(0 <= item < self.items for item in self.among):
            raise ParameterError("the items asked about are some of all, each once")

    def __len__(self) -> int:
        return len(self.among) or self.items

    def __getitem__(self, index: int) -> Question:
        item = self.among[index] if self.among else index
        return Question(self.mechanism, Holds(self.items, item))

    def encoded(self, members: Ints, values: Any, rng: Rng) -> Ints:
        wanted = np.asarray(self.among, np.int64)[members] if self.among else members
        found = np.zeros(len(members), np.int64)
        found[values.owners[values.items == wanted[values.owners]]] = 1
        return found
