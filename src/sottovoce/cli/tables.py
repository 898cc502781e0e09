"""Tables on the command line: a file for every table, questions in SQL, and the truth beside every answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.cli.output import print_json
from sottovoce.cli.sql import pointing
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.domains.tables import Services
    from sottovoce.plans.tables.database import Database
    from sottovoce.plans.tables.result import Explanation, Result
    from sottovoce.tasks.task import Task

Command = TypeVar("Command", bound=Callable[..., Any])

_LISTED = 25  # values of a column that is asked about where nobody asks anything
_OPTIONS = (
    click.option(
        "--table",
        "tables",
        multiple=True,
        metavar="NAME=FILE",
        help="The file of a further table of a task about several; a column uid says whose a row is.",
    ),
    click.option(
        "--sql", "questions", multiple=True, metavar="QUESTION", help="A question to ask of a task about tables."
    ),
)


@dataclass(frozen=True)
class TableOptions:
    """The options about tables."""

    tables: tuple[str, ...]
    questions: tuple[str, ...]

    @property
    def given(self) -> bool:
        """Return whether any of them is used."""
        return bool(self.tables or self.questions)

    def files(self, data: Path, names: Sequence[str]) -> dict[str, Path]:
        """Return the file of every table; ``data`` is that of the one that no option names."""
        stated = {name: Path(file) for name, _, file in (text.partition("=") for text in self.tables)}
        rest = [name for name in names if name not in stated]
        if len(stated) < len(self.tables) or set(stated) - set(names) or len(rest) != 1:
            raise ParameterError(
                f"DATA is the file of one of the tables {', '.join(names)}; --table NAME=FILE names every other once"
            )
        for path in stated.values():
            if not path.is_file():
                raise click.FileError(str(path), "no such file")
        return {**stated, rest[0]: data}


def options(command: Command) -> Command:
    """Return the command with the options about tables."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Questions to a simulated collection, each with its answer and the truth."""

    task: "Task"
    asked: "tuple[tuple[str, Result | Explanation, list[list[float | None]]], ...]"

    @classmethod
    def of(cls, task: "Task", held: Any, database: "Database", questions: Sequence[str], level: float) -> "Rehearsal":
        """Ask the questions, or for the counts of every column with few values if there are none."""
        from sottovoce.cli.truths import Truth
        from sottovoce.plans.tables.result import Explanation
        from sottovoce.sql.reading import read

        services = task.plan.domain
        holdings, made = services.indices(held), []
        for text in questions or _counts(services):
            with pointing(text):
                query = read(text, services)
            query = replace(query, options=replace(query.options, confidence=level)) if level != 0.95 else query
            found = database.explain(query) if query.explain else database.answer(query)
            truth = [] if isinstance(found, Explanation) else Truth(services, holdings).rows(query, found)
            made.append((text, found, truth))
        return cls(task, tuple(made))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        from sottovoce.collector.queries import plain
        from sottovoce.wire import codec

        answers = [plain({"sql": text, **found.to_dict(), "truth": truth}) for text, found, truth in self.asked]
        return {"name": self.task.name, "task": codec.digest(codec.document(self.task)), "answers": answers}

    def show(self, *, as_json: bool) -> None:
        """Print every answer with the truth below it."""
        if as_json:
            print_json(self.to_dict())
            return
        for text, found, truth in self.asked:
            click.echo(f"{text}\n{found}")
            for labels, numbers in zip(getattr(found, "groups", ()), truth, strict=True):
                told = ", ".join("unknown" if one is None else f"{one:,.6g}" for one in numbers)
                click.echo(f"truth: {' / '.join([*labels, ''])}{told}")
            click.echo()


def _counts(services: "Services") -> list[str]:
    return [
        f"SELECT {column}, COUNT(*) FROM {table} GROUP BY {column}"
        for place, table in enumerate(services.names)
        for column, kind in zip(services.records(place).names, services.records(place).attributes, strict=True)
        if kind.size <= _LISTED
    ]
