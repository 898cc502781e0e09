"""The contract of encodings: what a device computes from its value before it randomises.

An encoding is data in the document of a task.  It may draw randomness of its own, which changes
what a report reveals.  It therefore states the worst ratio of the whole question, and the ledger
charges that ratio.
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
    """A function from the indices of a domain to the indices of a mechanism."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Encoding"]] = Registry("encoding", "sottovoce.encodings")

    def __init_subclass__(cls, kind: str, *, wire: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        if wire:  # encodings of the laboratory cannot be named by a document
            Encoding.kinds.add(kind, cls)

    @abstractmethod
    def __call__(self, values: Values, rng: Rng) -> Values:
        """Return the values that the mechanism randomises; all randomness comes from ``rng``."""

    def promoting(self, values: Values, rng: Rng) -> Values:
        """Return for every value an index whose support counts for it.

        An attacker who promotes the value encodes this index.  Random choices that would say
        nothing about the value are left out.
        """
        return self(values, rng)

    @abstractmethod
    def outputs(self, domain: Domain) -> int:
        """Return how many indices it yields for a domain; a domain that does not fit is refused."""

    @property
    def reports_per_value(self) -> int:
        """Return how many reports it takes to hear of every value: the length of padded sets."""
        return 1

    def worst_ratio(self, mechanism: Mechanism) -> Fraction:
        """Return the largest ratio of the probabilities of one report under two values.

        An encoding without randomness neither adds nor hides anything: the ratio is the
        mechanism's.
        """
        return mechanism.worst_ratio
