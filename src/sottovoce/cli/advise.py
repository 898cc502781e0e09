"""``sottovoce advise``: what to expect of a collection before anybody is asked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sottovoce.cli.output import as_json, print_json
from sottovoce.errors import ParameterError


@click.command("advise")
@click.option("--users", type=int, required=True, help="How many people will answer.")
@click.option("--epsilon", type=float, required=True, help="What one answer may reveal.")
@click.option("--size", type=int, help="How many values a person may hold.")
@click.option("--questions", type=int, default=1, help="Over how many questions the people are partitioned.")
@click.option("--error", type=float, help="A wished standard error, as a share: how many users does it take?")
@click.option("--rule", default="least variance", help="How to choose: least variance, published, unary.")
@click.option("--marginals", metavar="2,2,3", help="Joint tables instead: the sizes of the attributes.")
@click.option("--order", type=int, default=3, help="Attributes of a joint table.")
@click.option("--bits", type=int, help="A search for long values instead: their bits.")
@click.option("--items", type=int, help="A search for frequent items instead: how many items there are.")
@click.option("--basket", type=float, default=5.0, help="Items that people have on average.")
@click.option("--top", type=int, default=16, help="How many a search is for.")
@click.option("--tables", type=click.Path(exists=True, dir_okay=False), help="SQL instead: a task file with tables.")
@click.option("--sql", multiple=True, help="A question that will be asked of the tables; may be repeated.")
@click.option("--share", type=float, help="A share of people to find: how many users does it take?")
@as_json
def command(*, as_json: bool, **options: Any) -> None:
    """Plan: mechanism or method, error, bytes, users needed."""
    advice = Wanted(**options).advice()
    if as_json:
        print_json(advice.to_dict())
    else:
        click.echo(str(advice))


@dataclass(frozen=True)
class Wanted:
    """The options of the command."""

    users: int
    epsilon: float
    size: int | None
    questions: int
    error: float | None
    rule: str
    marginals: str | None
    order: int
    bits: int | None
    items: int | None
    basket: float
    top: int
    share: float | None
    tables: str | None
    sql: tuple[str, ...]

    def advice(self) -> Any:
        """Return the advice about the one thing that is asked about."""
        named = {
            "size": self._values,
            "marginals": self._marginals,
            "bits": self._long_values,
            "items": self._items,
            "tables": self._tables,
        }
        asked = [advise for name, advise in named.items() if getattr(self, name) is not None]
        if len(asked) != 1:
            raise ParameterError("ask about one thing: --size, --marginals, --bits, --items or --tables")
        return asked[0]()

    def _values(self) -> Any:
        from sottovoce.plans.frequencies.advice import advise

        assert self.size is not None
        return advise(self.users, self.size, self.epsilon, questions=self.questions, error=self.error, rule=self.rule)

    def _tables(self) -> Any:
        from sottovoce.collector import taskfile
        from sottovoce.plans.tables.advice import advise_tables
        from sottovoce.plans.tables.joint import Queries

        path = Path(self.tables or "")
        plan = taskfile.read(path.read_text(encoding="utf-8"), toml=path.suffix == ".toml").plan
        if not isinstance(plan, Queries):
            raise ParameterError("only a task about tables answers questions in SQL")
        return advise_tables(plan, self.sql, self.users, self.epsilon)

    def _marginals(self) -> Any:
        from sottovoce.plans.marginals.advice import advise_marginals

        return advise_marginals(self.users, _sizes(self.marginals or ""), self.epsilon, self.order)

    def _long_values(self) -> Any:
        from sottovoce.plans.heavy_hitters.advice import advise_values

        assert self.bits is not None
        return advise_values(self.users, self.bits, self.epsilon, top=self.top, share=self.share)

    def _items(self) -> Any:
        from sottovoce.plans.itemsets.advice import advise_items

        assert self.items is not None
        return advise_items(self.users, self.items, self.epsilon, top=self.top, basket=self.basket, share=self.share)


def _sizes(text: str) -> list[int]:
    try:
        return [int(size) for size in text.split(",")]
    except ValueError:
        raise ParameterError("the sizes of attributes are whole numbers with commas between them") from None
