"""``sottovoce integrity``: whether the reports of a task can be honest."""

from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.collector_options import any_collector, opened, remote
from sottovoce.cli.completion import task_names
from sottovoce.cli.output import as_json, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.integrity.result import Integrity


@click.command("integrity")
@click.argument("name", shell_complete=task_names)
@any_collector
@as_json
def command(name: str, *, as_json: bool, **place: Any) -> None:
    """Print the tests of the sealed rounds of the task NAME.

    The exit code is 0 whether or not a test alarms; read `alarm` in the JSON.
    """
    from rich.console import Console

    from sottovoce.integrity.result import Integrity

    content = _content(name, place)
    if as_json:
        print_json(content)
        return
    rounds = [Integrity.from_dict(tested) for tested in content["rounds"]]
    console = Console(highlight=False, markup=False)
    for integrity in rounds:
        console.print(_table(integrity), *_lines(integrity), "", sep="\n")
    if not rounds:
        console.print("No round of this task is sealed and tested yet.")


def _content(name: str, place: dict[str, Any]) -> dict[str, Any]:
    if place["url"]:
        return remote(place["url"], place["token"]).integrity(name)
    from sottovoce.collector.release import released_integrity

    with opened(place["data"], place["database"]) as collector:
        return released_integrity(collector, collector.find(name))


def _table(integrity: "Integrity") -> "Table":
    from rich.table import Table
    from rich.text import Text

    from sottovoce.integrity.words import words_of

    title = Text(f"round {integrity.round}  ({integrity.reports:,} reports)")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in ("test", "statistic", "alarm above", "p-value at most", ""):
        table.add_column(heading, justify="left" if heading in ("test", "") else "right")
    for test in integrity.tests:
        cells: list[Any] = [f"{test.statistic:.2f}", f"{test.threshold:.2f}", f"{test.p_value:.2g}"]
        table.add_row(words_of(test.name).title, *cells, "ALARM" if test.alarm else "")
    return table


def _lines(integrity: "Integrity") -> list[str]:
    from sottovoce.integrity.words import verdict, words_of

    lines = [verdict(integrity)]
    lines += [words_of(name).alarm for name in integrity.alarms]
    lines += [f"Suspected: {', '.join(each.values)}" for each in integrity.suspects]
    return lines
