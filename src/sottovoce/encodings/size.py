"""The number of candidates that a person has; answers determine the padded length of sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sottovoce.arrays import Ints
from sottovoce.core import bounds, settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Size(Encoding, kind="size"):
    """Yield how many candidates a set holds whole.

    Candidates are the sets of items in ``among``, or every single one of the ``items`` if ``among``
    is empty.
    """

    items: int
    among: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        check_candidates(self.items, self.among)

    def __call__(self, values: Any, rng: Rng) -> Ints:
        baskets = values.holding(self.among) if self.among else values
        sizes: Ints = baskets.sizes
        return sizes

    def outputs(self, domain: Domain) -> int:
        check_items(domain, self.items)
        candidates = len(self.among) or self.items
        return candidates + 1


def check_candidates(items: int, among: Sequence[Sequence[int]]) -> None:
    """Refuse candidates that are not distinct sets of items in ascending order."""
    settings.whole("items", items, 2)
    settings.entries("among", among, 0, bounds.MAX_CANDIDATES)
    settings.wholes("among", chain.from_iterable(among), 0, items - 1)
    for candidate in among:
        if len(candidate) != 1:  # of one item there is nothing to compare, and there may be many
            settings.entries("among", candidate, 1)
            settings.ascending("among", candidate)
    settings.distinct("among", map(tuple, among))


def check_items(domain: Domain, items: int) -> None:
    """Refuse a domain whose values are not sets of so many items."""
    if domain.item_count != items:
        raise ParameterError(
            f"the question asks about sets of {items} items,"
            f" but the domain has {domain.item_count or 'no'} items"
        )
