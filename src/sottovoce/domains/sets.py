"""Sets of items: what somebody has bought, played, visited."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unicodedata import normalize

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.errors import DomainError, ParameterError
from sottovoce.maths.ragged import Baskets

JOINT = " + "  # between the items of a set in its label


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

    @property
    def described(self) -> str:
        return f"a set of {self.items.size:,} items"

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        """Return the items of every cell; an empty cell is an empty set."""
        texts = [[item.strip() for item in (cell or "").split(separator)] for cell in cells]
        return [self.items.from_cells(name, [item for item in items if item]) for items in texts]

    def remarks(self, values: Any) -> tuple[str, ...]:
        known = {str(label) for label in self.labels}
        entries = [str(item) for items in values for item in items]
        unknown = sum(item not in known for item in entries)
        if not unknown:
            return ()
        text = f"{unknown:,} of {len(entries):,} entries are no items of the domain and are left out, as on a device"
        return (text,)

    def counts(self, indices: Baskets, labels: Iterable[str] | None = None) -> dict[str, int]:
        """Return how many people have each item, or every item of a set such as ``"bread + milk"``."""
        if labels is None:
            return dict(zip(self.labels, indices.counts(self.items.size).tolist(), strict=True))
        wanted = list(labels)
        whole = indices.holding([sorted(self._items_of(label)) for label in wanted])
        return dict(zip(wanted, whole.counts(len(wanted)).tolist(), strict=True))

    def _items_of(self, label: str) -> list[int]:
        """Return the items that a label names, or nothing; names of items may contain the separator."""
        pieces = label.split(JOINT)
        for cut in range(len(pieces), 0, -1):
            first = self._places.get(JOINT.join(pieces[:cut]))
            rest = self._items_of(JOINT.join(pieces[cut:])) if cut < len(pieces) else []
            if first is not None and (rest or cut == len(pieces)):
                return [first, *rest]
        return []
