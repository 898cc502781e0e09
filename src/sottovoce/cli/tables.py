"""Tables on the command line: a file for every table, queries, and the truth beside answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.cli.output import print_json
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.domains.tables import Tables
    from sottovoce.lab.truth.compare import ShownIntervals
    from sottovoce.plans.tables.database import Database
    from sottovoce.plans.tables.result import Explanation, Result
    from sottovoce.tasks.task import Task

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_LEVEL = 0.95
_MAX_COUNTED = 25  # values of a column that is counted where there are no queries
_OPTIONS = (
    click.option(
        "--table",
        "tables",
        multiple=True,
        metavar="NAME=FILE",
        help="The file of a further table; its column uid says whose a row is.",
    ),
    click.option(
        "--sql", "questions", multiple=True, metavar="QUERY", help="A query to a task about tables."
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
        stated = {
            name: Path(file) for name, _, file in (text.partition("=") for text in self.tables)
        }
        rest = [name for name in names if name not in stated]
        if len(stated) < len(self.tables) or set(stated) - set(names) or len(rest) != 1:
            raise ParameterError(
                f"DATA is the file of one of the tables {', '.join(names)}; --table NAME=FILE "
                "names every other once"
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
class RehearsedQuery:
    """A query to a simulated collection, its answer, and the true numbers of every row."""

    sql: str
    answer: "Result | Explanation"
    truth: list[list[float | None]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {"sql": self.sql, **self.answer.to_dict(), "truth": self.truth}

    def __str__(self) -> str:
        lines = [f"{self.sql}\n{self.answer}"]
        for labels, numbers in zip(getattr(self.answer, "groups", ()), self.truth, strict=True):
            texts = ["unknown" if number is None else f"{number:,.6g}" for number in numbers]
            lines.append(f"truth: {' / '.join([*labels, ''])}{', '.join(texts)}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class QueryRehearsal:
    """Queries to a simulated collection, each with its answer and the truth."""

    task: "Task"
    answers: tuple[RehearsedQuery, ...]

    @classmethod
    def of(
        cls,
        task: "Task",
        held: Any,
        database: "Database",
        queries: Sequence[str],
        shown: "ShownIntervals",
    ) -> "QueryRehearsal":
        """Answer the queries, or count every column with few values if there are none."""
        from sottovoce.cli.truths import Truth
        from sottovoce.sql.reading import read

        domain = task.plan.domain
        truth = Truth(domain, domain.indices(held))
        answers = []
        for text in queries or _counts(domain):
            query = read(text, domain)
            if shown.level != DEFAULT_LEVEL:
                query = replace(query, options=replace(query.options, confidence=shown.level))
            if query.explain:
                answers.append(RehearsedQuery(text, database.explain(query), []))
                continue
            answer = database.answer(query)
            answer = answer.at(answer.level, fakes=shown.fakes)
            answers.append(RehearsedQuery(text, answer, truth.rows(query, answer)))
        return cls(task, tuple(answers))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        from sottovoce.answers import export
        from sottovoce.wire import codec

        answers = [export.finite(answer.to_dict()) for answer in self.answers]
        return {
            "name": self.task.name,
            "task": codec.digest(codec.document(self.task)),
            "answers": answers,
        }

    def show(self, *, as_json: bool) -> None:
        """Print every answer with the truth below it."""
        if as_json:
            print_json(self.to_dict())
            return
        for answer in self.answers:
            click.echo(f"{answer}\n")


def _counts(domain: "Tables") -> list[str]:
    """Return a query for the counts of every column with few values."""
    queries = []
    for index, table in enumerate(domain.names):
        records = domain.records(index)
        for column, kind in zip(records.names, records.attributes, strict=True):
            if kind.size <= _MAX_COUNTED:
                queries.append(f"SELECT {column}, COUNT(*) FROM {table} GROUP BY {column}")
    return queries
