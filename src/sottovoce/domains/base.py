"""The contract of domains: which values a person may hold, and the index of each value.

Mechanisms work on indices in [0, size) and never see a label.  A domain turns values into indices
on the device, and refuses values that it does not have without repeating them in the error.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core import settings
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.errors import DomainError, ParameterError

DECLINED = "prefer not to say"


class Domain(ABC):
    """A set of values in an order that never changes."""

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
        """Return the index of one uniformly random value, in the shape that ``indices`` returns."""
        return rng.integers(self.size, 1)

    @property
    def value_bits(self) -> int:
        """Return the bits of a value, and 0 if values are not strings of bits."""
        return 0

    @property
    def item_count(self) -> int:
        """Return how many items a set may hold, and 0 if values are not sets."""
        return 0

    @property
    def attribute_count(self) -> int:
        """Return how many attributes a record has, and 0 if values are not records."""
        return 0

    def attribute_size(self, column: int) -> int:
        """Return how many values the attribute in a column of a record has."""
        raise ParameterError("this domain has no attributes")

    def public_parts(self, indices: Values) -> Sequence[bytes]:
        """Return what people let everybody see, one text each; nothing in most domains."""
        return ()

    def check_public(self, text: bytes) -> None:  # noqa: B027 - most domains have nothing to refuse
        """Refuse a public part that no value of this domain has."""


def flat_array(values: Iterable[Any]) -> Any:
    """Return values as a flat array; a nested value is refused."""
    try:
        array = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    except ValueError:  # rows of different lengths
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise DomainError("a value must be a single number")
    return array


def normalized_labels(name: str, labels: Iterable[Any]) -> tuple[str, ...]:
    """Return the labels of the setting ``name`` in composed form (NFC)."""
    return tuple(normalize("NFC", label) for label in settings.texts(name, labels))
