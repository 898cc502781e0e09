"""The contract of a family of questions: how many members it has, and the one at an index."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import Ints, Values, grouped
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.tasks.question import Question


class Family(ABC):
    """Questions that are made when they are asked for; a document holds what they share."""

    kind: ClassVar[str]
    one_mechanism: ClassVar[bool] = False  # whether the same mechanism randomises every member
    kinds: ClassVar[Registry["Family"]] = Registry("family", "sottovoce.tasks.families")

    def __init_subclass__(cls, kind: str, *, wire: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        if wire:
            Family.kinds.add(kind, cls)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> Question: ...

    @property
    def examined(self) -> int:
        """Return how many members are looked at one by one when the family is made."""
        return 0

    def representatives(self) -> Iterable[int]:
        """Return the indices of members that stand for all: every mechanism occurs in them."""
        return range(1 if self.one_mechanism else len(self))

    def encoded(self, members: Ints, values: Values, rng: Rng) -> Values:
        """Return what is randomised for people who are asked different members of one mechanism."""
        codes = np.zeros(len(members), np.int64)
        for member, people in grouped(members):
            encoding = self[member].encoding
            codes[people] = encoding(values[people], rng) if encoding else values[people]
        return codes
