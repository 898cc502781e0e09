"""How commands print: JSON or tables to stdout, progress and warnings to stderr."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from sottovoce.answers.digits import figure, interval
from sottovoce.answers.folding import fold, is_search

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text

    from sottovoce.answers.outcome import Row
    from sottovoce.lab.truth.compare import ComparedPart, Comparison

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
seed = click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Make a run reproducible; by default randomness is the operating system's.",
)


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))


def warn(message: str) -> None:
    """Print a warning where it does not disturb the output."""
    click.echo(f"Warning: {message}", err=True)


def table(compared: "ComparedPart", most: int) -> "Table":
    """Return the truth beside estimate and interval, for the rows worth showing."""
    from rich.table import Table
    from rich.text import Text

    about, people = compared.part.about, compared.part.counts_people
    facts = f"{about['users']:,} reports, epsilon {about['epsilon']:g}, {about['mechanism']}"
    title = Text(f"{about['name']}  ({facts})")
    folded = fold(compared.rows(0 if is_search(about) else most), about)
    rows = folded.rows[:most]
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False)
    if folded.remark:
        shown.caption, shown.caption_justify = Text(folded.remark), "left"
    shown.add_column(
        "value" if people else "figure", max_width=32, overflow="ellipsis", no_wrap=True
    )
    share = ("share",) if people else ()
    fakes = about.get("fakes")
    attacked = () if fakes is None else (f"if {100 * fakes:g} % false", "")
    robust = ("robust to",) if rows and "robust_to" in rows[0] else ()
    level = f"{100 * about['level']:g} % interval"
    for heading in ("truth", "estimate", level, *share, *robust, "", *attacked):
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = list(people_cells(row) if people else figure_cells(row))
        if robust:
            cells.append(percent(row["robust_to"]))
        marks = [_mark(row)]
        if attacked:
            marks += [Text(attacked_cell(row)), _missed(covered=row.get("covered_attacked", True))]
        shown.add_row(Text(row["value"]), *map(Text, cells), *marks)
    return shown


def _mark(row: "Row") -> "Text":
    """Return what to know of a row: that its interval misses the truth, or that it is noise."""
    from rich.text import Text

    if row["covered"] and not row.get("significant", True):
        return Text("within noise", style="dim")
    return _missed(covered=row["covered"])


def _missed(*, covered: bool) -> "Text":
    from rich.text import Text

    return Text("") if covered else Text("missed", style="red")


def percent(share: float) -> str:
    """Return a share in percent, with two digits."""
    number = 100 * share
    return f"{number:.0f} %" if number >= 10 else f"{number:.2g} %"


def attacked_cell(row: "Row") -> str:
    """Return the bounds that allow for false reports."""
    low, high = row["low_attacked"], row["high_attacked"]
    if low is None:
        return "no bound"
    return f"[{low:,.0f}, {high:,.0f}]" if "share" in row else interval(low, high, row["error"])


def people_cells(row: "Row") -> tuple[str, ...]:
    """Return truth, estimate, interval and share of a number of people."""
    bounds = f"[{row['low']:,.0f}, {row['high']:,.0f}]"
    return f"{row['truth']:,.0f}", f"{row['estimate']:,.0f}", bounds, f"{100 * row['share']:.1f} %"


def figure_cells(row: "Row") -> tuple[str, ...]:
    """Return truth, estimate and interval of a figure on a scale of its own."""
    error = row["error"]
    bounds = interval(row["low"], row["high"], error)
    return figure(row["truth"], error), figure(row["estimate"], error), bounds


def coverage(comparison: "Comparison") -> str:
    """Return in words how many of all intervals contain the truth."""
    level = comparison.parts[0].part.about["level"]
    counts = f"{comparison.covered} of all {comparison.intervals} intervals"
    return f"{counts} at {100 * level:g} % contain the truth"


def scores(comparison: "Comparison") -> list[str]:
    """Return in words how much of what was sought every search has found."""
    return [
        f"found: F1 {part.scores['f1']:.2f}, normalised cumulative rank {part.scores['ncr']:.2f}, "
        f"against the {len(part.sought):,} that really are most frequent"
        for part in comparison.parts
        if part.sought
    ]


@contextmanager
def progress(people: int, *, visible: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that advances a progress bar by a number of people."""
    if not visible or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        asked = bar.add_task("asking", total=people)
        yield lambda count: bar.advance(asked, count)


@contextmanager
def stages(*, visible: bool) -> Iterator["DrawnStages | PrintedStages | None"]:
    """Yield an observer that shows every stage of a demonstration.

    A terminal gets a bar for each stage, with its time; other outputs get a line.
    """
    from rich.console import Console
    from rich.progress import Progress

    if not visible:
        yield None
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PrintedStages(console)
        return
    with Progress(console=console) as bars:
        yield DrawnStages(bars)


class PrintedStages:
    """Prints a line for every stage."""

    def __init__(self, console: "Console") -> None:
        self._console = console

    def begin(self, stage: str, count: int) -> None:
        """Print the stage, and how many steps it has."""
        self._console.print(f"{stage} ({count:,})", highlight=False)

    def advance(self, count: int) -> None:
        """Print nothing for a step."""


class DrawnStages:
    """Draws a progress bar for every stage."""

    def __init__(self, bars: "Progress") -> None:
        self._bars = bars

    def begin(self, stage: str, count: int) -> None:
        """Draw another bar."""
        self._bar = self._bars.add_task(stage, total=count)

    def advance(self, count: int) -> None:
        """Let the newest bar grow."""
        self._bars.advance(self._bar, count)
