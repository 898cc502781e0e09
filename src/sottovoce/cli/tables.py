"""Tables on the command line: a file for every table, queries, and the truth beside answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.cli.output import print_json
from sottovoce.cli.sql import pointing
from sottovoce.errors import DomainError, ParameterError

if TYPE_CHECKING:
    from sottovoce.cli.columns import Column
    from sottovoce.domains.base import Domain
    from sottovoce.domains.tables import Tables
    from sottovoce.plans.tables.database import Database
    from sottovoce.plans.tables.result import Explanation, Result
    from sottovoce.tasks.task import Task

Command = TypeVar("Command", bound=Callable[..., Any])

KINDS = ("table", "joint")
DEFAULT_LEVEL = 0.95
_UID = "uid"
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
                f"DATA is the file of one of the tables {', '.join(names)}; "
                "--table NAME=FILE names every other once"
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


def read_tables(domain: "Tables", files: Mapping[str, Path]) -> dict[str, Any]:
    """Return everybody's tables as columns; people are numbered by their uid where there is one."""
    from sottovoce.cli.columns import read

    alone = len(domain.names) == 1 and not domain.most(0)
    uid = [] if alone else [_UID]
    cells = {name: read(files[name], _names(domain, name) + uid) for name in domain.names}
    columns = {name: _values(domain, name, cells[name]) for name in domain.names}
    if not alone:
        numbers = _people(domain, cells)
        for table, name in enumerate(domain.names):
            owners = _owners(name, cells[name][_UID], numbers)
            if domain.most(table):
                columns[name][_UID] = owners
            else:
                columns[name] = _in_order(name, columns[name], owners)
    return columns if len(domain.names) > 1 else columns[domain.names[0]]


def _names(domain: "Tables", table: str) -> list[str]:
    index = domain.names.index(table)
    return [*domain.records(index).names, *domain.public_columns(index)]


def _values(domain: "Tables", table: str, cells: "Mapping[str, Column]") -> dict[str, Any]:
    from sottovoce.cli.domains import values
    from sottovoce.domains.buckets import Buckets
    from sottovoce.domains.numbers import Numbers

    records = domain.records(domain.names.index(table))
    kinds: dict[str, Domain] = dict(zip(records.names, records.attributes, strict=True))
    for full_name, kind in zip(domain.public_names, domain.public_kinds, strict=True):
        owner, _, column = full_name.partition(".")
        if owner == table:
            kinds[column] = kind
    return {
        name: _reals(name, cells[name])
        if isinstance(kind, (Numbers, Buckets))
        else values(name, kind, cells[name])
        for name, kind in kinds.items()
    }


def _reals(name: str, column: "Column") -> list[float]:
    try:
        return [float(cell or "") for cell in column]
    except ValueError:
        raise DomainError(f"column {name!r} must hold numbers") from None


def _people(domain: "Tables", cells: "Mapping[str, Mapping[str, Column]]") -> dict[str | None, int]:
    """Return the number of everybody by uid, in the order of the first table with one record each,
    or of all.
    """
    single = [name for table, name in enumerate(domain.names) if not domain.most(table)]
    uids = [uid for name in single[:1] or domain.names for uid in cells[name][_UID]]
    numbers = {uid: number for number, uid in enumerate(dict.fromkeys(uids))}
    if None in numbers:
        raise DomainError("column 'uid' must not have empty cells")
    if single and len(numbers) < len(uids):
        raise DomainError(
            f"column 'uid' must not repeat a value in {single[0]}, which has one record per person"
        )
    return numbers


def _owners(table: str, column: "Column", numbers: Mapping[str | None, int]) -> Any:
    import numpy as np

    strangers = sum(uid not in numbers for uid in column)
    if strangers:
        raise DomainError(
            f"{strangers:,} rows of {table} are of people "
            "who are not in the table with one record each"
        )
    return np.array([numbers[uid] for uid in column], np.int64)


def _in_order(table: str, columns: Mapping[str, Any], owners: Any) -> dict[str, Any]:
    import numpy as np

    order = np.argsort(owners)
    if not np.array_equal(owners[order], np.arange(len(owners))):
        raise DomainError(f"everybody has exactly one record in {table}")
    return {name: [column[index] for index in order.tolist()] for name, column in columns.items()}


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
        cls, task: "Task", held: Any, database: "Database", queries: Sequence[str], level: float
    ) -> "QueryRehearsal":
        """Answer the queries, or count every column with few values if there are none."""
        from sottovoce.cli.truths import Truth
        from sottovoce.plans.tables.result import Explanation
        from sottovoce.sql.reading import read

        domain = task.plan.domain
        truth = Truth(domain, domain.indices(held))
        answers = []
        for text in queries or _counts(domain):
            with pointing():
                query = read(text, domain)
            if level != DEFAULT_LEVEL:
                query = replace(query, options=replace(query.options, confidence=level))
            answer = database.explain(query) if query.explain else database.answer(query)
            rows = [] if isinstance(answer, Explanation) else truth.rows(query, answer)
            answers.append(RehearsedQuery(text, answer, rows))
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
