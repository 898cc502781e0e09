"""How commands speak: JSON for machines, tables for people, progress and warnings on the other stream."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.lab.truth.frequencies import Compared

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
seed = click.option(
    "--seed", type=click.IntRange(min=0), help="Reproducible randomness; the operating system's if absent."
)


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))


def warn(message: str) -> None:
    """Print a warning where it does not disturb the output."""
    click.echo(f"Warning: {message}", err=True)


def table(compared: "Compared", most: int) -> "Table":
    """Return truth beside estimate and interval, for the rows worth showing."""
    from rich.table import Table
    from rich.text import Text

    answer = compared.answer
    made = Table(title=Text(f"{answer.name}  ({facts(compared)})"), title_justify="left", box=None, pad_edge=False)
    made.add_column("value", max_width=32, overflow="ellipsis", no_wrap=True)
    for heading in ("truth", "estimate", f"{100 * answer.level:g} % interval", "share", ""):
        made.add_column(heading, justify="right", no_wrap=True)
    for row in compared.rows(most):
        bounds = f"[{row['low']:,.0f}, {row['high']:,.0f}]"
        numbers = f"{row['truth']:,}", f"{row['estimate']:,.0f}", bounds, f"{100 * row['share']:.1f} %"
        made.add_row(Text(row["value"]), *map(Text, numbers), "" if row["covered"] else Text("missed", style="red"))
    return made


def facts(compared: "Compared") -> str:
    """Return what an answer rests on, in a few words."""
    estimate = compared.answer.estimate
    return f"{estimate.users:,} reports, epsilon {estimate.epsilon:g}, {compared.answer.mechanism}"


def coverage(compared: "tuple[Compared, ...]") -> str:
    """Return how many of all intervals contain the truth, in words."""
    covered, intervals = sum(one.covered for one in compared), sum(len(one.truth) for one in compared)
    level = compared[0].answer.level
    return f"{covered} of all {intervals} intervals at {100 * level:g} % contain the truth"


def scores(compared: "tuple[Compared, ...]") -> list[str]:
    """Return how much of what was sought every search has found, in words."""
    return [
        f"found: F1 {one.found['f1']:.2f}, normalised cumulative rank {one.found['ncr']:.2f}, "
        f"against the {len(one.sought):,} that really are most frequent"
        for one in compared
        if one.found
    ]


@contextmanager
def progress(people: int, *, visible: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield what to call with the number of people just asked; draws a bar where somebody is watching."""
    if not visible or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        asked = bar.add_task("asking", total=people)
        yield lambda count: bar.advance(asked, count)
