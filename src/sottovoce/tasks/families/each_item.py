"""One question for every item: do you have it?

A public coin picks the item, and everybody answers the question about one item.

Source: Du 2025, section 5.1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.encodings.holds import Holds
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Question


@dataclass(frozen=True)
class EachItem(Family, kind="each_item"):
    """The question about each item in ``among``, or about all ``items`` if it is empty."""

    one_mechanism = True

    mechanism: Mechanism
    items: int
    among: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.mechanism.size != 2:
            raise ParameterError(
                f"`mechanism` must be for 2 values, yes or no, not for {self.mechanism.size}"
            )
        settings.whole("items", self.items, 2)
        settings.wholes("among", self.among, 0, self.items - 1)
        settings.distinct("among", self.among)

    def __len__(self) -> int:
        return len(self.among) or self.items

    def __getitem__(self, index: int) -> Question:
        item = self.among[index] if self.among else index
        return Question(self.mechanism, Holds(self.items, item))

    def encoded(self, members: Ints, values: Any, rng: Rng) -> Ints:
        asked_items = np.asarray(self.among, np.int64)[members] if self.among else members
        # Every entry of every set is compared with the item that its owner is asked about.
        is_asked = values.items == asked_items[values.owners]
        answers = np.zeros(len(members), np.int64)
        answers[values.owners[is_asked]] = 1
        return answers
