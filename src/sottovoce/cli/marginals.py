"""Joint tables on the command line: several columns of one file, truth beside a few tables, the tree of all."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.cli.output import coverage, print_json, table
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.domains.base import Domain
    from sottovoce.lab.truth.frequencies import Compared
    from sottovoce.lab.truth.marginals import Edge
    from sottovoce.plans.marginals.marginal_answers import MarginalAnswers
    from sottovoce.plans.marginals.marginals import Marginals
    from sottovoce.tasks.task import Task

Command = TypeVar("Command", bound=Callable[..., Any])

_SHOWN = 25  # rows of a table
_OPTIONS = (
    click.option("--marginals", is_flag=True, help="Ask for the joint tables of several columns."),
    click.option("--order", type=click.IntRange(min=1), default=2, help="Columns of a joint table."),
)


@dataclass(frozen=True)
class JointOptions:
    """The options that describe joint tables."""

    marginals: bool
    order: int

    def plan(self, domains: "Mapping[str, Domain]", users: int) -> "Marginals":
        """Return the plan for columns with these domains."""
        from sottovoce.domains.records import Records
        from sottovoce.plans.marginals.marginals import Marginals

        if len(domains) < 2:
            raise ParameterError("joint tables are of at least two columns: --column for each")
        return Marginals(Records(tuple(domains), tuple(domains.values())), users, self.order)


def options(command: Command) -> Command:
    """Return the command with the options of joint tables."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Joint tables of people whose records are known."""

    task: "Task"
    compared: "tuple[Compared, ...]"
    distance: float
    tables: int
    tree: "tuple[Edge, ...]"

    @classmethod
    def of(cls, task: "Task", held: Any, answer: "MarginalAnswers", level: float) -> "Rehearsal":
        """Return the tables of single attributes and of the strongest pair, and how far all tables are off."""
        from sottovoce.lab.truth import marginals
        from sottovoce.lab.truth.frequencies import compare

        records = task.plan.domain.indices(held)
        tree, (distance, tables) = marginals.tree(answer, records), marginals.distance(answer, records)
        shown = [(name,) for name in answer.plan.domain.names] + [(edge.one, edge.other) for edge in tree[:1]]
        made = replace(answer, parts={"/".join(names): answer.marginal(*names).at(level) for names in shown})
        return cls(task, compare(task, held, made), distance, tables, tree)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        from sottovoce.wire import codec

        return {
            "name": self.task.name,
            "task": codec.digest(codec.document(self.task)),
            "answers": [one.to_dict() for one in self.compared],
            "distance": self.distance,
            "tables": self.tables,
            "tree": [asdict(edge) for edge in self.tree],
        }

    def show(self, *, as_json: bool) -> None:
        """Print truth beside estimate."""
        from rich.console import Console

        if as_json:
            print_json(self.to_dict())
            return
        console = Console(highlight=False)
        for one in self.compared:
            console.print(table(one, _SHOWN), "")
        console.print(coverage(self.compared))
        order = getattr(self.task.plan, "order", 0)
        console.print(f"mean total variation distance of the {self.tables:,} tables of {order}: {self.distance:.4f}")
        for edge in self.tree:
            told = f"{edge.one} - {edge.other}: {edge.estimate:.4f} nats, really {edge.truth:.4f}"
            console.print(f"tree: {told}", markup=False)


def draw(task: "Task", held: Any, answer: "MarginalAnswers", path: Path) -> None:
    """Draw the heat map of all pairs, estimated and real."""
    from sottovoce.lab.truth import marginals

    answer.heat(path, truth=marginals.information(answer.plan, task.plan.domain.indices(held)))
