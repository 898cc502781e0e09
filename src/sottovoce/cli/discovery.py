"""Searches on the command line: what is frequent in texts too many to list, in items, or in sets of items."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.cli.columns import Column
from sottovoce.cli.output import warn
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.domains.categories import Categories
    from sottovoce.domains.integers import Integers
    from sottovoce.tasks.plan import Plan

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--heavy-hitters", is_flag=True, help="Search for the most frequent texts of a column."),
    click.option("--bytes", "length", type=click.IntRange(1, 60), default=20, help="Longest text; the rest is cut."),
    click.option("--items", is_flag=True, help="Search for the items that most people have; cells list items."),
    click.option("--separator", default=";", help="What stands between the items of a cell."),
    click.option("--itemsets", is_flag=True, help="With --items: search for sets of items, too."),
    click.option("--adaptive", is_flag=True, help="With --items: ask about one item at a time, in rounds."),
    click.option("--rounds", type=click.IntRange(1, 1000), default=10, help="Rounds of --adaptive."),
    click.option("--top", type=click.IntRange(min=1), default=16, help="How many a search is for."),
    click.option("--threshold", type=float, default=0.0, help="With --heavy-hitters: all above this share instead."),
)


@dataclass(frozen=True)
class SearchOptions:
    """The options that describe a search."""

    heavy_hitters: bool
    length: int
    items: bool
    separator: str
    itemsets: bool
    adaptive: bool
    rounds: int
    top: int
    threshold: float

    @property
    def wanted(self) -> bool:
        """Return whether the options ask for a search; refuses those that do not go together."""
        if not self.separator:
            raise ParameterError("a separator has at least one character")
        if (self.itemsets or self.adaptive) and not self.items:
            raise ParameterError("--itemsets and --adaptive are ways to search among items: give --items")
        if (self.itemsets and self.adaptive) or (self.items and self.heavy_hitters):
            raise ParameterError("one search at a time: --heavy-hitters, --items, with --itemsets or with --adaptive")
        return self.heavy_hitters or self.items

    def plan(self, items: "Categories | Integers | None", users: int) -> "Plan":
        """Return the plan of the search, among these items where there are any."""
        from sottovoce.domains.strings import Strings
        from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
        from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
        from sottovoce.plans.itemsets.itemsets import Itemsets
        from sottovoce.plans.itemsets.top_items import TopItems

        if items is None:
            return HeavyHitters(Strings(self.length), self.top, threshold=self.threshold)
        if self.adaptive:
            return AdaptiveTopItems(items, users, self.top, rounds=self.rounds)
        return (Itemsets if self.itemsets else TopItems)(items, self.top)


def options(command: Command) -> Command:
    """Return the command with the options of a search."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def split(column: Column, separator: str) -> list[list[str]]:
    """Return the items of every cell; an empty cell is an empty set."""
    return [[item.strip() for item in (cell or "").split(separator) if item.strip()] for cell in column]


def warn_of_strangers(baskets: list[list[str]], listed: "Categories | Integers") -> None:
    """Say how many entries are no items of the domain: the devices leave them out."""
    known = set(listed.labels)
    strangers = sum(item not in known for basket in baskets for item in basket)
    if strangers:
        entries = sum(map(len, baskets))
        warn(f"{strangers:,} of {entries:,} entries are no items of the domain and are left out, as on a device")
