"""Sets of items: what somebody has bought, played, visited."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unicodedata import normalize

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.errors import DomainError, ParameterError
from sottovoce.maths.ragged import Baskets


@dataclass(frozen=True, init=False)
class Sets(Domain, kind="sets"):
    """Any set of the items, the empty one too.  Items that are not listed are left out, on the device.

    >>> Sets(["bread", "milk", "tea"]).indices([["tea", "bread"], []]).sizes
    array([2, 0])
    """

    items: Categories | Integers

    def __init__(self, items: Domain | Iterable[Any]) -> None:
        listed = domain_of(items)
        if isinstance(listed, Categories) and listed.declinable:
            raise ParameterError("a set may be empty: declining is not an item")
        object.__setattr__(self, "items", listed)

    @property
    def size(self) -> int:
        raise ParameterError("sets are asked about through an encoding: there are too many of them")

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the items."""
        return self.items.labels

    def indices(self, values: Iterable[Any]) -> Any:
        if isinstance(values, Baskets):
            return self._known(values)
        held = [self._basket(value) for value in values]
        flat = np.fromiter((item for basket in held for item in basket), np.int64)
        return Baskets.of([len(basket) for basket in held], flat)

    def _known(self, baskets: Baskets) -> Baskets:
        if len(baskets.items) and int(baskets.items.max()) >= self.items.size:
            raise DomainError(f"an item must be a whole number below {self.items.size}")
        return baskets

    def _basket(self, value: Any) -> list[int]:
        if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
            raise DomainError("a value must be a set or a list of items")
        if isinstance(self.items, Integers):
            low, high = self.items.low, self.items.high
            numbers = list(value)
            if not all(type(one) is int or isinstance(one, np.integer) for one in numbers):
                raise DomainError("an item of this set must be a whole number")
            return [int(one) - low for one in numbers if low <= one <= high]
        return self._listed(list(value))

    def _listed(self, names: list[Any]) -> list[int]:
        if not all(isinstance(one, str) for one in names):
            raise DomainError("an item of this set must be text")
        return [found for found in (self._places.get(normalize("NFC", one)) for one in names) if found is not None]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: index for index, label in enumerate(self.items.labels)}

    def random_value(self, rng: Rng) -> Any:
        return Baskets.of([1], rng.integers(self.items.size, 1))
