"""``sottovoce sql``: a query to a task about tables, answered with intervals."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.collector_options import any_collector, opened, remote
from sottovoce.cli.completion import task_names
from sottovoce.cli.output import as_json, print_json
from sottovoce.errors import NoDataError

if TYPE_CHECKING:
    from sottovoce.collector.queries import Released
    from sottovoce.plans.tables.result import Explanation

_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command("sql")
@click.argument("query")
@click.option(
    "--task", required=True, shell_complete=task_names, help="The name of a task about tables."
)
@any_collector
@click.option(
    "--level",
    type=click.FloatRange(0.5, 0.9999),
    help="Confidence level of the intervals (default: 0.95).",
)
@click.option(
    "--users",
    type=click.IntRange(min=1),
    help="Explain for this number of people, not for those so far.",
)
@click.option(
    "--fakes",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Also print bounds that hold if up to this share of all reports is false.",
)
@click.option("--csv", "csv_path", type=_WRITE, help="Write the rows to a file.")
@click.option("--plot", "plot_path", type=_WRITE, help="Draw the first number by group to a file.")
@as_json
def command(query: str, task: str, *, as_json: bool, **options: Any) -> None:
    """Answer a QUERY in SQL; what rests on too few users is suppressed.

    Tables are joined on uid. A query costs nobody any privacy: ask as many as you like.

    \b
    sottovoce sql "SELECT AVG(amount) FROM users JOIN txn USING (uid) WHERE age < 40" \\
      --task shop --data DIR
    sottovoce sql "SELECT state, COUNT(*) FROM users GROUP BY state" \\
      --task shop --data DIR --plot states.png
    sottovoce sql "EXPLAIN SELECT COUNT(*) FROM users WHERE age < 40" \\
      --task shop --data DIR --users 100000
    """
    if options["url"]:
        _show_remote(query, task, options, as_json=as_json)
        return
    from sottovoce.collector.queries import QueryRequest, answered
    from sottovoce.plans.tables.result import Explanation

    request = QueryRequest(query, options["level"], options["users"], options["fakes"])
    with opened(options["data"], options["database"]) as collector:
        answer = answered(collector, collector.find(task), request)
    if not isinstance(answer, Explanation):
        _write(answer, options["csv_path"], options["plot_path"])
    if as_json:
        print_json(answer.to_dict())
    else:
        click.echo(_text(answer))


def _show_remote(query: str, task: str, options: dict[str, Any], *, as_json: bool) -> None:
    """Ask the collector at an address."""
    asked = {key: options[key] for key in ("level", "users", "fakes")}
    answer = remote(options["url"], options["token"]).sql(query, task=task, **asked)
    if options["csv_path"]:
        options["csv_path"].write_text(answer.to_csv(), encoding="utf-8")
    if options["plot_path"]:
        answer.plot(options["plot_path"])
    if as_json:
        print_json(answer.to_dict())
    elif "rows" in answer.content:
        click.echo(str(answer))
    else:
        from sottovoce.plans.tables.result import Explanation

        click.echo(str(Explanation(answer.content)))


def _write(answer: "Released", csv_path: Path | None, plot_path: Path | None) -> None:
    if csv_path:
        csv_path.write_text(answer.result.to_csv(), encoding="utf-8")
    if plot_path:
        if answer.suppressed:
            raise NoDataError(
                "some rows rest on too few users: they are named as suppressed, and are not drawn"
            )
        answer.result.plot(plot_path)


def _text(answer: "Released | Explanation") -> str:
    from sottovoce.plans.tables.result import Explanation

    if isinstance(answer, Explanation):
        return str(answer)
    suppressed = [", ".join(labels) or "the only row" for labels in answer.suppressed]
    return "\n".join([str(answer.result), *(f"suppressed: {labels}" for labels in suppressed)])
