"""``sottovoce sql``: a question in SQL to a task about tables, answered with intervals."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.output import as_json, print_json
from sottovoce.errors import NoDataError, ParameterError

if TYPE_CHECKING:
    from sottovoce.collector.queries import Released
    from sottovoce.plans.tables.result import Explanation

_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command("sql")
@click.argument("question")
@click.option("--task", required=True, help="The name of a task about tables.")
@data
@click.option("--level", type=click.FloatRange(0.5, 0.9999), help="Confidence level, 0.95 if nobody says another.")
@click.option("--users", type=click.IntRange(min=1), help="Explain for so many people, not those so far.")
@click.option("--csv", "csv_path", type=_WRITE, help="Write the rows to a file.")
@click.option("--plot", "plot_path", type=_WRITE, help="Draw the first number by group to a file.")
@as_json
def command(question: str, task: str, data: Path, database: str, *, as_json: bool, **wanted: Any) -> None:
    """Answer a QUESTION in SQL; what rests on too few users is suppressed.

    Tables are joined on uid. A question costs nobody anything: ask as many as you like.

    \b
    sottovoce sql "SELECT AVG(amount) FROM users JOIN txn USING (uid) WHERE age < 40" --task shop --data DIR
    sottovoce sql "SELECT state, COUNT(*) FROM users GROUP BY state" --task shop --data DIR --plot states.png
    sottovoce sql "EXPLAIN SELECT COUNT(*) FROM users WHERE age < 40" --task shop --data DIR --users 100000
    """
    from sottovoce.collector.queries import Asked, answered
    from sottovoce.plans.tables.result import Explanation

    with opened(data, database) as collector, pointing(question):
        found = answered(collector, collector.find(task), Asked(question, wanted["level"], wanted["users"]))
    if not isinstance(found, Explanation):
        _write(found, wanted["csv_path"], wanted["plot_path"])
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(_text(found))


@contextmanager
def pointing(question: str) -> Iterator[None]:
    """Show the place in a question that an error is about, where the error knows it."""
    try:
        yield
    except ParameterError as error:
        from sottovoce.sql.errors import QueryError

        if isinstance(error, QueryError):
            click.echo(pointed(question, error.line, error.column), err=True)
        raise


def pointed(question: str, line: int, column: int) -> str:
    """Return a line of a question with a caret under one of its columns.

    >>> print(pointed("SELECT 1", 1, 8))
    SELECT 1
           ^
    """
    text = [*question.split("\n"), ""][line - 1]
    before = "".join(one if one == "\t" else " " for one in text[: column - 1])
    return f"{text}\n{before.ljust(column - 1)}^"


def _write(found: "Released", csv_path: Path | None, plot_path: Path | None) -> None:
    if csv_path:
        csv_path.write_text(found.result.to_csv(), encoding="utf-8")
    if plot_path:
        if found.suppressed:
            raise NoDataError("some rows rest on too few users: they are named as suppressed, and are not drawn")
        found.result.plot(plot_path)


def _text(found: "Released | Explanation") -> str:
    from sottovoce.plans.tables.result import Explanation

    if isinstance(found, Explanation):
        return str(found)
    hidden = [", ".join(labels) or "the only row" for labels in found.suppressed]
    return "\n".join([str(found.result), *(f"suppressed: {one}" for one in hidden)])
