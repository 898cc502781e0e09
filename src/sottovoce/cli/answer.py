"""``sottovoce answer``: the answer to a task, with intervals."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.answers.digits import figure, interval
from sottovoce.answers.folding import fold
from sottovoce.cli.collector_options import any_collector, opened, remote
from sottovoce.cli.completion import task_names
from sottovoce.cli.output import as_json, percent, print_json, warn

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.answers.exported import ExportedAnswer
    from sottovoce.collector.release import Release

_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)
_SHOWN = 25  # rows of a table


@click.command("answer")
@click.argument("name", shell_complete=task_names)
@any_collector
@click.option("--method", default="none", help="A post-processing method, such as norm-sub.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 0.9999),
    default=0.95,
    help="Confidence level of the intervals.",
)
@click.option(
    "--fakes",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Also print bounds that hold if up to this share of all reports is false.",
)
@click.option(
    "--defence",
    type=click.Choice(["none", "auto"]),
    default="none",
    help="Leave out reports that cannot be honest, or give them less weight, if a test alarmed.",
)
@click.option(
    "--marginal",
    multiple=True,
    metavar="NAME,NAME",
    help="For joint tables: the table of these attributes.",
)
@click.option("--csv", "csv_path", type=_WRITE, help="Write the rows to this file.")
@click.option("--plot", "plot_path", type=_WRITE, help="Draw the answer to this file.")
@as_json
def command(name: str, *, as_json: bool, **options: Any) -> None:
    """Print the answer to the task NAME; what rests on too few users is suppressed."""
    from rich.console import Console

    answer = _remote_answer(name, options) if options["url"] else _local_answer(name, options)
    if options["csv_path"]:
        options["csv_path"].write_text(answer.to_csv(), encoding="utf-8")
    if options["plot_path"]:
        answer.plot(options["plot_path"])
    if as_json:
        print_json(dict(answer.content))
        return
    for alarm in answer.content.get("alarms", ()):
        warn(
            f"reports of round {alarm['round']} are implausible ({', '.join(alarm['tests'])}):"
            " see `sottovoce integrity`"
        )
    parts = answer.content.get("answers", {name: answer.content})
    for part in parts.values():
        console = Console(highlight=False, markup=False)
        console.print(*_tables(part), *_details(part), "", sep="\n")


def _local_answer(name: str, options: dict[str, Any]) -> "Release":
    from sottovoce.collector.release import AnswerOptions, released

    answer_options = AnswerOptions(
        options["method"],
        options["level"],
        options["marginal"],
        options["fakes"],
        options["defence"],
    )
    with opened(options["data"], options["database"]) as collector:
        return released(collector, collector.find(name), answer_options)


def _remote_answer(name: str, options: dict[str, Any]) -> "ExportedAnswer":
    asked = {key: options[key] for key in ("method", "level", "marginal", "fakes", "defence")}
    return remote(options["url"], options["token"]).answer(name, **asked)


def _details(part: dict[str, Any]) -> list[str]:
    """Return further facts about a part, one per line."""
    from sottovoce.collector.dashboard.details import facts

    return [] if part["suppressed"] else [f"{term}: {text}" for term, text in facts(part)]


def _tables(part: dict[str, Any]) -> "Iterator[Table | str]":
    """Return the tables of a part: its figures, if it has some, or the rows worth reading."""
    rows = part["rows"]
    if "measures" in part:
        yield _table(part, [{**row, "suppressed": False} for row in part["measures"]])
        yield f"{len(rows):,} intervals: --csv FILE writes them, --plot FILE draws them"
        return
    folded = fold(rows, part)
    shown = folded.rows
    if len(shown) > _SHOWN:
        shown = sorted(shown, key=_largest_first)[:_SHOWN]
    yield _table(part, shown)
    if len(shown) < len(folded.rows):
        left_out = len(folded.rows) - len(shown)
        yield f"... and {left_out:,} more values: --csv FILE writes all of them"
    if folded.remark:
        yield f"{folded.remark}: --csv FILE writes all of them"


def _largest_first(row: dict[str, Any]) -> tuple[bool, float]:
    return row["suppressed"], -row.get("estimate", 0.0)


def _table(part: dict[str, Any], rows: list[dict[str, Any]]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    facts = (
        "suppressed"
        if part["suppressed"]
        else f"{part['users']:,} users, epsilon {part['epsilon']:g}"
    )
    table = Table(
        title=Text(f"{part['name']}  ({facts})"), title_justify="left", box=None, pad_edge=False
    )
    headings = _headings(part, rows)
    for heading in ("value", *headings, ""):
        table.add_column(heading, justify="left" if heading == "value" else "right", no_wrap=True)
    for row in rows:
        if row["suppressed"]:
            table.add_row(Text(str(row["value"])), *("" for _ in headings), "suppressed")
        else:
            mark = "" if row.get("significant", True) else "within noise"
            cells = map(Text, _cells(row, headings))
            table.add_row(Text(str(row["value"])), *cells, mark)
    return table


def _headings(part: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """Return the headings of the numbers of a row."""
    headings = ["estimate", "interval"]
    if any("share" in row for row in rows):
        headings.append("share")
    if part.get("fakes") is not None:
        headings.append(f"if {100 * part['fakes']:g} % false")
    if any("robust_to" in row for row in rows):
        headings.append("robust to")
    return headings


def _cells(row: dict[str, Any], headings: list[str]) -> list[str]:
    """Return the numbers of a row, each with as many digits as people can use."""
    from sottovoce.answers.attacked import COLUMNS

    # A number of people is whole, however small its error is.
    error = max(row["error"], 10.0) if "share" in row else row["error"]
    written = {
        "estimate": figure(row["estimate"], error),
        "interval": interval(row["low"], row["high"], error),
    }
    if "share" in row:
        written["share"] = percent(row["share"])
    if "robust_to" in row:
        written["robust to"] = percent(row["robust_to"])
    attacked = interval(row.get(COLUMNS[0]), row.get(COLUMNS[1]), error)
    return [written.get(heading, attacked) for heading in headings]
