"""Sets of items: what somebody has bought, played or visited."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

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

    has_flat_index = False

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
        return Baskets.of([1], np.array([rng.integer(self.items.size)]))

    def _checked(self, baskets: Baskets) -> Baskets:
        if len(baskets.items) and int(baskets.items.max()) >= self.items.size:
            raise DomainError(f"an item must be a whole number below {self.items.size}")
        return baskets

    def _basket(self, value: Any) -> list[int]:
        """Return the indices of the listed items in one set."""
        if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
            raise DomainError("a value must be a set or a list of items")
        return self.items.known_indices(value)

    def statement_facts(self) -> dict[str, Any]:
        return {"count": self.items.size}

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
        count = f"{unknown:,} of {len(entries):,} entries"
        text = f"{count} are no items of the domain and are left out, as on a device"
        return (text,)

    def counts(self, indices: Baskets, labels: Iterable[str] | None = None) -> dict[str, int]:
        """Return how many people have each item, or all items of a set like ``"bread + milk"``."""
        if labels is None:
            return dict(zip(self.labels, indices.counts(self.items.size).tolist(), strict=True))
        wanted = list(labels)
        whole = indices.holding([sorted(self._items_of(label)) for label in wanted])
        return dict(zip(wanted, whole.counts(len(wanted)).tolist(), strict=True))

    @cached_property
    def _index_of_item(self) -> dict[str, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def _items_of(self, label: str) -> list[int]:
        """Return the items that a label names, or nothing; names of items may contain the
        separator.
        """
        pieces = label.split(JOINT)
        for cut in range(len(pieces), 0, -1):
            first = self._index_of_item.get(JOINT.join(pieces[:cut]))
            rest = self._items_of(JOINT.join(pieces[cut:])) if cut < len(pieces) else []
            if first is not None and (rest or cut == len(pieces)):
                return [first, *rest]
        return []
