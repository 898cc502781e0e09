"""``sottovoce advise``: what to expect of a collection before anybody is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from sottovoce.cli.option_groups import group_of, options_of
from sottovoce.cli.output import as_json, print_json
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.tasks.advice import Advice
    from sottovoce.tasks.plan import Plan

_READ = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True)
class SubjectOptions:
    """The options that name the collection: a task file, or sizes in place of one."""

    OPTIONS: ClassVar = (
        click.option("--task", type=_READ, help="A task file: advice about its plan."),
        click.option("--size", type=int, help="A histogram of this many values."),
        click.option(
            "--marginals",
            metavar="2,2,3",
            help="Joint tables of attributes with these numbers of values.",
        ),
        click.option("--bits", type=int, help="A search for frequent values of this many bits."),
        click.option(
            "--strings", type=int, help="A search for frequent texts of up to this many bytes."
        ),
        click.option("--items", type=int, help="A search for frequent items among this many."),
        click.option(
            "--order", type=int, default=3, help="With --marginals: attributes of a table."
        ),
        click.option(
            "--top",
            type=int,
            default=16,
            help="With --bits, --strings and --items: how many values are sought.",
        ),
    )

    task: Path | None
    size: int | None
    marginals: str | None
    bits: int | None
    strings: int | None
    items: int | None
    order: int
    top: int

    def plan(self) -> "tuple[Plan | None, float | None]":
        """Return the plan (None for --size), and the epsilon that a task file states."""
        builders: dict[str, Callable[[], tuple[Plan | None, float | None]]] = {
            "task": self._of_task,
            "size": lambda: (None, None),
            "marginals": lambda: (self._joint_tables(), None),
            "bits": lambda: (self._long_values(), None),
            "strings": lambda: (self._texts(), None),
            "items": lambda: (self._frequent_items(), None),
        }
        chosen = [build for name, build in builders.items() if getattr(self, name) is not None]
        if len(chosen) != 1:
            raise ParameterError(
                "give exactly one of --task, --size, --marginals, --bits, --strings and --items"
            )
        return chosen[0]()

    def _of_task(self) -> "tuple[Plan, float]":
        from sottovoce.cli.task import read_task

        assert self.task is not None
        task = read_task(self.task)
        return task.plan, task.response_epsilon

    def _joint_tables(self) -> "Plan":
        from sottovoce.plans.marginals.marginals import Marginals

        try:
            sizes = [int(size) for size in (self.marginals or "").split(",")]
        except ValueError:
            raise ParameterError(
                "--marginals must be whole numbers with commas between them"
            ) from None
        domains = {f"attribute {number}": range(size) for number, size in enumerate(sizes, 1)}
        return Marginals(domains, order=self.order)

    def _long_values(self) -> "Plan":
        from sottovoce.domains.bits import Bits
        from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters

        return HeavyHitters(Bits(self.bits or 0), self.top)

    def _texts(self) -> "Plan":
        from sottovoce.domains.strings import Strings
        from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters

        return HeavyHitters(Strings(self.strings or 0), self.top)

    def _frequent_items(self) -> "Plan":
        from sottovoce.plans.itemsets.top_items import TopItems

        return TopItems(range(self.items or 0), self.top)


@dataclass(frozen=True)
class WishOptions:
    """Further questions, each of which only some plans can answer."""

    OPTIONS: ClassVar = (
        click.option(
            "--questions",
            type=int,
            help="With --size: questions that the people are divided among.",
        ),
        click.option(
            "--error",
            type=float,
            help="A wished standard error, as a share: how many users does it take?",
        ),
        click.option("--rule", help="How to choose a mechanism: least variance, published, unary."),
        click.option("--basket", type=float, help="For items: how many a person has on average."),
        click.option(
            "--share",
            type=float,
            help="For searches: a share of people to find; how many users does it take?",
        ),
        click.option(
            "--sql",
            multiple=True,
            help="For tables: a question that will be asked; may be repeated.",
        ),
    )

    questions: int | None
    error: float | None
    rule: str | None
    basket: float | None
    share: float | None
    sql: tuple[str, ...]

    def given(self) -> dict[str, Any]:
        """Return the options that were used, by name."""
        return {name: wish for name, wish in vars(self).items() if wish is not None and wish != ()}


@dataclass(frozen=True)
class ShuffleOptions:
    """The options of advice about reports that pass a shuffler."""

    OPTIONS: ClassVar = (
        click.option(
            "--shuffle",
            is_flag=True,
            help="With --size: reports pass a shuffler, and --epsilon holds against the collector.",
        ),
        click.option(
            "--delta", type=float, help="With --shuffle: how likely --epsilon may fail (1e-9)."
        ),
        click.option(
            "--local",
            type=float,
            help="With --shuffle: what a report may reveal if shufflers collude, at most (6).",
        ),
        click.option(
            "--fakes",
            type=int,
            help="With --shuffle: reports that the shuffler adds; by default as many as needed.",
        ),
    )

    shuffle: bool
    delta: float | None
    local: float | None
    fakes: int | None

    def given(self) -> dict[str, Any]:
        """Return the wishes that were used, by name; they need --shuffle."""
        wishes = {"delta": self.delta, "local": self.local, "fakes": self.fakes}
        given = {name: wish for name, wish in wishes.items() if wish is not None}
        if given and not self.shuffle:
            raise ParameterError(f"--{next(iter(given))} needs --shuffle")
        return given

    def advice(self, users: int, epsilon: float | None, subject: SubjectOptions) -> "Advice":
        """Return advice about a shuffled histogram."""
        from sottovoce.plans.shuffled_advice import advise_shuffled

        subject.plan()  # exactly one subject
        if subject.size is None:
            raise ParameterError("--shuffle advises about histograms: give --size")
        if epsilon is None:
            raise ParameterError("say what the collector may learn: --epsilon")
        return advise_shuffled(users, subject.size, epsilon, **self.given())


@click.command("advise")
@click.option("--users", type=int, required=True, help="How many people will answer.")
@click.option(
    "--epsilon", type=float, help="What one answer may reveal at most; a task file states its own."
)
@options_of(SubjectOptions)
@options_of(WishOptions)
@options_of(ShuffleOptions)
@as_json
def command(users: int, epsilon: float | None, *, as_json: bool, **options: Any) -> None:
    """Plan a collection: mechanism or method, error, bytes, users needed.

    \b
    sottovoce advise --users 50000 --size 1000 --epsilon 1
    sottovoce advise --users 50000 --task browser.toml
    sottovoce advise --users 9000 --task shop.toml --sql "SELECT AVG(age) FROM users"
    sottovoce advise --users 100000 --size 1024 --shuffle --epsilon 0.5 --local 8
    """
    subject = group_of(SubjectOptions, options)
    wishes = group_of(WishOptions, options)
    shuffle = group_of(ShuffleOptions, options)
    if shuffle.shuffle:
        _refuse_wishes(wishes.given())
        advice = shuffle.advice(users, epsilon, subject)
    else:
        shuffle.given()
        advice = _advice(users, epsilon, subject, wishes.given())
    if as_json:
        print_json(advice.to_dict())
    else:
        click.echo(str(advice))


def _refuse_wishes(wishes: dict[str, Any]) -> None:
    if wishes:
        raise ParameterError(f"--{next(iter(wishes))} cannot be combined with --shuffle")


def _advice(
    users: int, epsilon: float | None, subject: SubjectOptions, wishes: dict[str, Any]
) -> "Advice":
    from sottovoce.plans.advise import advise

    plan, stated = subject.plan()
    spent = stated if epsilon is None else epsilon
    if spent is None:
        raise ParameterError("say what one answer may reveal: --epsilon")
    return advise(plan, users=users, epsilon=spent, size=subject.size, **wishes)
