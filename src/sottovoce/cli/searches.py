"""Options of ``sottovoce simulate`` for searches: frequent texts, items, or sets of items."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import click

from sottovoce.cli.described import Described
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.domains.base import Domain
    from sottovoce.tasks.plan import Plan


@dataclass(frozen=True)
class SearchOptions:
    """The options that describe a search."""

    OPTIONS: ClassVar = (
        click.option(
            "--heavy-hitters", is_flag=True, help="Search for the most frequent texts of a column."
        ),
        click.option(
            "--bytes",
            "length",
            type=click.IntRange(1, 60),
            default=20,
            help="With --heavy-hitters: bytes of the longest text; longer ones are cut.",
        ),
        click.option(
            "--items",
            is_flag=True,
            help="Search for the items that most people have; a cell lists items.",
        ),
        click.option("--separator", default=";", help="What stands between the items of a cell."),
        click.option(
            "--itemsets", is_flag=True, help="With --items: search for sets of items too."
        ),
        click.option(
            "--adaptive",
            is_flag=True,
            help="With --items: ask about one item at a time, in rounds.",
        ),
        click.option(
            "--rounds", type=click.IntRange(1, 1000), default=10, help="Rounds of --adaptive."
        ),
        click.option(
            "--top", type=click.IntRange(min=1), default=16, help="How many values a search is for."
        ),
        click.option(
            "--threshold",
            type=float,
            default=0.0,
            help="With --heavy-hitters: all above this share instead of --top.",
        ),
    )

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
        """Return whether the options ask for a search."""
        return self.heavy_hitters or self.items or self.itemsets or self.adaptive

    def check(self) -> None:
        """Refuse options that do not go together."""
        if not self.separator:
            raise ParameterError("--separator must have at least one character")
        if (self.itemsets or self.adaptive) and not self.items:
            raise ParameterError("--itemsets and --adaptive need --items")
        if self.itemsets and self.adaptive:
            raise ParameterError("give either --itemsets or --adaptive, not both")
        if self.items and self.heavy_hitters:
            raise ParameterError("give either --heavy-hitters or --items, not both")

    def plan(self, described: Described) -> "Plan":
        """Return the plan of the search; items that no option states are taken from the data."""
        from sottovoce.domains.strings import Strings
        from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters

        described.only_column("a search is about one column")
        described.refuse_mechanism("a search")
        if described.values.decline:
            raise ParameterError(
                "--decline does not go with a search: leave out the people who decline"
            )
        if self.items:
            return self._items_plan(self._items(described), described.people)
        if described.values.given:
            raise ParameterError(
                "--heavy-hitters searches for values that nobody can list: state no domain"
            )
        return HeavyHitters(Strings(self.length), self.top, threshold=self.threshold)

    def _items(self, described: Described) -> "Domain":
        ((name, column),) = described.cells.items()
        stated = described.values.stated(described.cells).get(name)
        if stated is not None:
            return stated
        entries = [item.strip() for cell in column for item in (cell or "").split(self.separator)]
        return described.values.found(name, [item for item in entries if item])

    def _items_plan(self, items: "Domain", people: int) -> "Plan":
        from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
        from sottovoce.plans.itemsets.itemsets import Itemsets
        from sottovoce.plans.itemsets.top_items import TopItems

        if self.adaptive:
            return AdaptiveTopItems(items, people, self.top, rounds=self.rounds)
        return (Itemsets if self.itemsets else TopItems)(items, self.top)
