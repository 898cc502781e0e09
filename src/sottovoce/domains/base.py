"""What a person may hold: values on one side, indices on the other.

Mechanisms speak indices in [0, size); labels stay here.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.errors import DomainError, ParameterError

DECLINED = "prefer not to say"


class Domain(ABC):
    """A set of values with an order that never changes."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Domain"]] = Registry("domain", "sottovoce.domains")

    def __init_subclass__(cls, kind: str, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        Domain.kinds.add(kind, cls)

    @property
    @abstractmethod
    def size(self) -> int:
        """Return how many values there are."""

    @abstractmethod
    def indices(self, values: Iterable[Any]) -> Values:
        """Return the index of every value, or refuse them all."""

    def random_value(self, rng: Rng) -> Values:
        """Return the index of a uniformly random value, in the shape in which ``indices`` returns one."""
        return rng.integers(self.size, 1)

    def public_parts(self, indices: Values) -> Sequence[bytes]:
        """Return what people let everybody see, one text each; nothing in most domains."""
        return ()

    def check_public(self, text: bytes) -> None:  # noqa: B027 - most domains have nothing to refuse
        """Refuse a public part that no value of this domain has."""


def flat_array(values: Iterable[Any]) -> Any:
    """Return values as a flat array; what is nested is no value."""
    try:
        held = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    except ValueError:
        held = np.zeros((0, 0))
    if held.ndim != 1:
        raise DomainError("a value must be a single number")
    return held


def checked_label(label: Any) -> str:
    if not isinstance(label, str) or not label:
        raise ParameterError("labels and names must be non-empty text")
    return normalize("NFC", label)
