"""``sottovoce answer``: what a task has found, with intervals."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.output import as_json, print_json

if TYPE_CHECKING:
    from rich.table import Table

_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command("answer")
@click.argument("name")
@data
@click.option("--method", default="none", help="A step of post-processing, such as norm-sub.")
@click.option("--level", type=click.FloatRange(0.5, 0.9999), default=0.95, help="Confidence level.")
@click.option("--marginal", multiple=True, metavar="NAME,NAME", help="The table of these attributes, of joint tables.")
@click.option("--csv", "csv_path", type=_WRITE, help="Write the rows to a file.")
@click.option("--plot", "plot_path", type=_WRITE, help="Draw the answer to a file.")
@as_json
def command(name: str, data: Path, database: str, *, as_json: bool, **wanted: Any) -> None:
    """Print the answer to the task NAME; what rests on too few users is suppressed."""
    from rich.console import Console

    from sottovoce.collector import marginals, queries
    from sottovoce.collector.release import processed, refuse_withheld, release, rows_as_csv

    with opened(data, database) as collector:
        published = collector.find(name)
        queries.check_step(published.task.plan, wanted["method"])
        answer = collector.answer(name)
        answer = marginals.chosen(answer, wanted["marginal"], published.task.plan) if wanted["marginal"] else answer
        answer = processed(answer, wanted["method"], wanted["level"])
    released = refuse_withheld(release(answer, published.collection))
    if wanted["csv_path"]:
        wanted["csv_path"].write_text(rows_as_csv(released), encoding="utf-8")
    if wanted["plot_path"]:
        _plot(answer, released, wanted["plot_path"])
    if as_json:
        print_json(released)
        return
    for part in released.get("answers", {"": released}).values():
        Console(highlight=False, markup=False).print(_table(part), *_details(part), "", sep="\n")


def _plot(answer: Any, released: dict[str, Any], path: Path) -> None:
    from sottovoce.errors import NoDataError

    parts = released.get("answers", {"": released}).values()
    if any(part["suppressed"] or any(row["suppressed"] for row in part["rows"]) for part in parts):
        raise NoDataError("some values rest on too few users: they are in the table as suppressed, and are not drawn")
    answer.plot(path)


def _details(part: dict[str, Any]) -> list[str]:
    """Return what else the method has to say."""
    from sottovoce.collector.dashboard.details import facts

    return [] if part["suppressed"] else [f"{term}: {text}" for term, text in facts(part)]


def _table(part: dict[str, Any]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    facts = "suppressed" if part["suppressed"] else f"{part['users']:,} users, epsilon {part['epsilon']:g}"
    table = Table(title=Text(f"{part['name']}  ({facts})"), title_justify="left", box=None, pad_edge=False)
    for heading in ("value", "estimate", "interval", ""):
        table.add_column(heading, justify="left" if heading == "value" else "right", no_wrap=True)
    for row in part["rows"]:
        if row["suppressed"]:
            table.add_row(Text(str(row["value"])), "", "", "suppressed")
        else:
            bounds = f"[{row['low']:,.6g}, {row['high']:,.6g}]"
            mark = "" if row.get("significant", True) else "within noise"
            table.add_row(Text(str(row["value"])), f"{row['estimate']:,.6g}", Text(bounds), mark)
    return table
