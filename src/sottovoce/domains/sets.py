"""Sets of items: what somebody has bought, played or visited."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

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
    """Any set of the items, the empty one too; the device leaves out items that are not listed.

    >>> Sets(["bread", "milk", "tea"]).indices([["tea", "bread"], []]).sizes
    array([2, 0])
    """

    items: Categories | Integers

    # Written by hand: a list of labels is accepted where the field holds a domain.
    def __init__(self, items: Domain | Iterable[Any]) -> None:
        listed = domain_of(items)
        if listed.declinable:
            raise ParameterError("`items` must not be declinable: somebody can send the empty set")
        object.__setattr__(self, "items", listed)

    @property
    def size(self) -> int:
        raise ParameterError("a question about sets needs an encoding: there are too many sets")

    @property
    def item_count(self) -> int:
        return self.items.size

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the items."""
        return self.items.labels

    def indices(self, values: Iterable[Any]) -> Any:
        if isinstance(values, Baskets):
            return self._checked(values)
        baskets = [self._basket(value) for value in values]
        items = np.fromiter(chain.from_iterable(baskets), np.int64)
        return Baskets.of([len(basket) for basket in baskets], items)

    def random_value(self, rng: Rng) -> Any:
        return Baskets.of([1], rng.integers(self.items.size, 1))

    def _checked(self, baskets: Baskets) -> Baskets:
        if len(baskets.items) and int(baskets.items.max()) >= self.items.size:
            raise DomainError(f"an item must be a whole number below {self.items.size}")
        return baskets

    def _basket(self, value: Any) -> list[int]:
        """Return the indices of the listed items in one set."""
        if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
            raise DomainError("a value must be a set or a list of items")
        return self.items.known_indices(value)
