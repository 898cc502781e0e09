"""Rows as tables on standard output, progress on standard error."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from sottovoce.lab.bench.row import BenchmarkRow

GROWTH_UNITS = ("exponent", "bytes a report")
WIDE = 132  # columns of a table that goes to a file


def print_tables(rows: Sequence[BenchmarkRow]) -> None:
    """Print one table per topic."""
    console = Console() if Console().is_terminal else Console(width=WIDE)
    for topic in dict.fromkeys(row.topic for row in rows):
        console.print(_table(topic, [row for row in rows if row.topic == topic]))
    missed = sum(row.met is False for row in rows)
    console.print(f"{sum(row.met is not None for row in rows)} goals, {missed} missed")


def page(rows: Sequence[BenchmarkRow]) -> str:
    """Return the rows as a page of Markdown, with how growing inputs and memory cost first."""
    topics = list(dict.fromkeys(row.topic for row in rows))
    goals = [row for row in rows if row.met is not None]
    missed = [row for row in goals if not row.met]
    lines = [
        "# Speed",
        "",
        "Written by `sottovoce bench --write`.  Ratios are to what stands beside them, raced in",
        "the same run on the same machine; seconds hold for that machine alone.  An exponent of 1",
        "is linear growth.",
        "",
        f"Topics: {', '.join(topics)}.  {len(goals)} goals, {len(missed)} missed.",
        "",
    ]
    growth = [row for row in rows if row.unit in GROWTH_UNITS]
    if growth:
        lines += ["## Growth and memory", "", *_markdown(growth), ""]
    for topic in topics:
        own = [row for row in rows if row.topic == topic and row.unit not in GROWTH_UNITS]
        if own:
            lines += [f"## {topic.capitalize()}", "", *_markdown(own), ""]
    return "\n".join(lines)


def _markdown(rows: Sequence[BenchmarkRow]) -> list[str]:
    lines = ["| what | ours | against | ratio | goal | met |", "|---|---:|---|---:|---|---|"]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:,.3g}"
        met = {None: "", True: "yes", False: "no"}[row.met]
        figure = f"{row.figure:,.4g} {row.unit}"
        cells = (row.name, figure, row.against, ratio, str(row.goal or ""), met)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def say(text: str) -> None:
    """Print a line of progress."""
    Console(stderr=True).print(text, style="dim", highlight=False)


def _table(topic: str, rows: Sequence[BenchmarkRow]) -> Table:
    table = Table(title=topic, title_justify="left")
    for heading in ("what", "ours", "against", "ratio", "goal", "met"):
        table.add_column(heading, justify="right" if heading in ("ours", "ratio") else "left")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:,.3g}"
        met = {None: "", True: "[green]yes[/green]", False: "[red]no[/red]"}[row.met]
        figure = (
            f"{row.figure:,.3g} {row.unit}" if row.figure < 1e6 else f"{row.figure:.3g} {row.unit}"
        )
        table.add_row(row.name, figure, row.against, ratio, str(row.goal or ""), met)
    return table
