"""``sottovoce answer``: the answer to a task, with intervals."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.output import as_json, percent, print_json, warn

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command("answer")
@click.argument("name")
@data
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
def command(name: str, data: Path, database: str, *, as_json: bool, **options: Any) -> None:
    """Print the answer to the task NAME; what rests on too few users is suppressed."""
    from rich.console import Console

    from sottovoce.collector.release import Wanted, released

    wanted = Wanted(
        options["method"],
        options["level"],
        options["marginal"],
        options["fakes"],
        options["defence"],
    )
    with opened(data, database) as collector:
        answer = released(collector, collector.find(name), wanted)
    if options["csv_path"]:
        options["csv_path"].write_text(answer.to_csv(), encoding="utf-8")
    if options["plot_path"]:
        answer.plot(options["plot_path"])
    if as_json:
        print_json(answer.content)
        return
    for alarm in answer.content.get("alarms", ()):
        warn(
            f"reports of round {alarm['round']} are implausible ({', '.join(alarm['tests'])}):"
            " see `sottovoce integrity`"
        )
    for part in answer.parts:
        Console(highlight=False, markup=False).print(_table(part), *_details(part), "", sep="\n")


def _details(part: dict[str, Any]) -> list[str]:
    """Return further facts about a part, one per line."""
    from sottovoce.collector.dashboard.details import facts

    return [] if part["suppressed"] else [f"{term}: {text}" for term, text in facts(part)]


def _table(part: dict[str, Any]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    from sottovoce.answers.attacked import COLUMNS

    facts = (
        "suppressed"
        if part["suppressed"]
        else f"{part['users']:,} users, epsilon {part['epsilon']:g}"
    )
    table = Table(
        title=Text(f"{part['name']}  ({facts})"), title_justify="left", box=None, pad_edge=False
    )
    fakes = part.get("fakes")
    extra = () if fakes is None else (f"if {100 * fakes:g} % false",)
    robust = ("robust to",) if any("robust_to" in row for row in part["rows"]) else ()
    for heading in ("value", "estimate", "interval", *extra, *robust, ""):
        table.add_column(heading, justify="left" if heading == "value" else "right", no_wrap=True)
    for row in part["rows"]:
        if row["suppressed"]:
            empty = ["" for _ in ("estimate", "interval", *extra, *robust)]
            table.add_row(Text(str(row["value"])), *empty, "suppressed")
        else:
            bounds = [_interval(row["low"], row["high"])]
            if extra:
                bounds.append(_interval(*(row[column] for column in COLUMNS)))
            if robust:
                bounds.append(Text(percent(row["robust_to"])))
            mark = "" if row.get("significant", True) else "within noise"
            table.add_row(Text(str(row["value"])), f"{row['estimate']:,.6g}", *bounds, mark)
    return table


def _interval(low: float | None, high: float | None) -> "Text":
    from rich.text import Text

    return Text("no bound" if low is None else f"[{low:,.6g}, {high:,.6g}]")
