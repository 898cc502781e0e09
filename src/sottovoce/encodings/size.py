"""How many candidates somebody has: asked before it is decided how far sets are padded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.arrays import Ints
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.domains.sets import Sets
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Size(Encoding, kind="size"):
    """Yield the number of candidates that somebody has whole; candidates are sets of items, or all single ones."""

    items: int
    among: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        check_candidates(self.items, self.among)

    def __call__(self, values: Any, rng: Rng) -> Ints:
        sizes: Ints = (values.holding(self.among) if self.among else values).sizes
        return sizes

    def outputs(self, domain: Domain) -> int:
        considered(domain, self.items)
        return (len(self.among) or self.items) + 1


def check_candidates(items: int, among: Sequence[Sequence[int]]) -> None:
    """Refuse candidates that are no sets of items: each has at least one, ascending, and no two are the same."""
    if type(items) is not int or items < 2:
        raise ParameterError("a set is of at least two items")
    if any(type(item) is not int for one in among for item in one):
        raise ParameterError("items are numbered")
    if any(not one or sorted(set(one)) != list(one) or not 0 <= one[0] <= one[-1] < items for one in among):
        raise ParameterError("a candidate lists the items of one set, each once and in ascending order")
    if len(set(map(tuple, among))) < len(among):
        raise ParameterError("no two candidates are the same set")


def considered(domain: Domain, items: int) -> Sets:
    """Return the domain, or refuse one of other sets than those of so many items."""
    if not isinstance(domain, Sets) or domain.items.size != items:
        raise ParameterError("this question asks about sets of other items than the domain has")
    return domain
