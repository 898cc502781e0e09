"""What a client computes before it randomises, as data that travels in the task.

An encoding may add randomness of its own and so change what a report reveals: it states the
end-to-end ratio, which is what the ledger is charged for.
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from sottovoce.arrays import Values
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.mechanisms.base import Mechanism


class Encoding(ABC):
    """A function from domain indices to the indices of the mechanism."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Encoding"]] = Registry("encoding", "sottovoce.encodings")

    def __init_subclass__(cls, kind: str, *, wire: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        if wire:  # encodings of the laboratory cannot be named by a document
            Encoding.kinds.add(kind, cls)

    @abstractmethod
    def __call__(self, values: Values, rng: Rng) -> Values:
        """Return what the mechanism randomises; draws only from ``rng``."""

    @abstractmethod
    def outputs(self, domain: Domain) -> int:
        """Return how many indices it yields for a domain; refuses a domain that it cannot read."""

    def worst_ratio(self, mechanism: Mechanism) -> Fraction:
        """Return the largest ratio of the chances of one report under two values, end to end."""
        return mechanism.worst_ratio  # a deterministic encoding neither adds nor hides anything
