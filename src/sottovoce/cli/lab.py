"""``sottovoce lab``: the figures and tables of the papers, computed anew."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.completion import lab_experiments
from sottovoce.cli.output import as_json, print_json

if TYPE_CHECKING:
    from sottovoce.lab.experiments.base import Progress, Size
    from sottovoce.lab.experiments.results import ExperimentResult, Results

_size = click.option(
    "--size",
    type=click.Choice(["quick", "full"]),
    default="quick",
    help="Seconds for each experiment, or the size of the paper.",
)
_cache = click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path.home() / ".cache" / "sottovoce" / "lab",
    envvar="SOTTOVOCE_LAB_CACHE",
    show_default="~/.cache/sottovoce/lab",
    help="Folder of results that are computed already.",
)
_fresh = click.option("--fresh", is_flag=True, help="Compute even what is in the cache.")


@click.group("lab")
def command() -> None:
    """Compute the figures and tables of the papers anew."""


@command.command("list")
@_cache
@as_json
def list_experiments(cache: Path, *, as_json: bool) -> None:
    """List the experiments, and what they reproduce."""
    from sottovoce.lab.experiments.base import SIZES, experiments
    from sottovoce.lab.experiments.results import Results

    results = Results(cache)
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "paper": each.paper,
            "reproduces": list(each.reproduces),
            "title": each.title,
            "kept": [size for size in SIZES if results.holds(each, size)],
        }
        for each in experiments().values()
    ]
    if as_json:
        print_json({"experiments": rows})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "paper", "what it computes", "in the cache"):
        table.add_column(heading)
    for row in rows:
        table.add_row(row["name"], row["paper"], row["title"], ", ".join(row["kept"]))
    Console().print(table)


@command.command("run")
@click.argument("name", shell_complete=lab_experiments)
@_size
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw the figure to this file."
)
@_cache
@_fresh
@as_json
def run(
    name: str, size: "Size", plot: Path | None, cache: Path, *, fresh: bool, as_json: bool
) -> None:
    """Run one experiment, and print our numbers beside the published ones."""
    from sottovoce.lab.experiments.base import experiment
    from sottovoce.lab.experiments.results import Results, save_plot

    chosen = experiment(name)
    with _progress(chosen.title, visible=not as_json) as progress:
        result = Results(None if fresh else cache).get(chosen, size, progress)
    if plot is not None:
        save_plot(result, plot)
    if as_json:
        print_json(result.as_plain_data())
    else:
        _print_result(result)


@command.command("all")
@_size
@click.option(
    "--full-minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="With the quick size: afterwards spend up to so many minutes of processor time on the"
    " full size, the quickest experiments first.",
)
@click.option(
    "--docs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Write the gallery and, at full size, the pages of evidence into this folder of docs.",
)
@_cache
@_fresh
@as_json
def run_all(size: "Size", docs: Path | None, cache: Path, *, as_json: bool, **options: Any) -> None:
    """Run every experiment; at full size also the pages of evidence."""
    from sottovoce.lab.experiments.results import Results

    kept = Results(None if options["fresh"] else cache)
    results = [_run_one(each, size, kept, visible=not as_json) for each in experiment_names()]
    if options["full_minutes"] is not None:
        seconds = 60 * options["full_minutes"]
        results = _enlarged(results, seconds, kept, visible=not as_json)
    if as_json:
        print_json({"experiments": [result.as_plain_data() for result in results]})
    if docs is None:
        return
    from sottovoce.lab.experiments.evidence_pages import PAGES
    from sottovoce.lab.experiments.gallery import write_gallery

    write_gallery(results, docs)
    if size == "full":
        for page in PAGES:
            click.echo(f"page {page.name}", err=True)
            page.write(docs / "evidence")


def _enlarged(
    results: "list[ExperimentResult]", seconds: float, kept: "Results", *, visible: bool
) -> "list[ExperimentResult]":
    """Return the results, at full size as far as the processor time lasts."""
    ends = time.process_time() + seconds
    by_name = {result.experiment.name: result for result in results}
    for result in sorted(results, key=lambda result: result.seconds):
        name = result.experiment.name
        if time.process_time() < ends or kept.holds(result.experiment, "full"):
            by_name[name] = _run_one(name, "full", kept, visible=visible)
    return list(by_name.values())


def experiment_names() -> list[str]:
    """Return the names of all experiments."""
    from sottovoce.lab.experiments.base import experiments

    return list(experiments())


def _run_one(name: str, size: "Size", results: "Results", *, visible: bool) -> "ExperimentResult":
    from sottovoce.lab.experiments.base import experiment

    chosen = experiment(name)
    with _progress(chosen.title, visible=visible) as progress:
        result = results.get(chosen, size, progress)
    if visible:
        click.echo(f"{name}  {result.seconds:.1f} s  {result.verdict}")
    return result


@contextmanager
def _progress(title: str, *, visible: bool) -> "Iterator[Progress]":
    """Yield a function that moves a progress bar on a terminal, and does nothing elsewhere."""
    if not visible or not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(title, total=1.0)
        yield lambda share: bars.update(bar, completed=share)


def _print_result(result: "ExperimentResult") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=result.experiment.title, title_justify="left", box=None, pad_edge=False)
    table.add_column("series")
    for heading in (result.experiment.axes.x, "ours", "published"):
        table.add_column(heading, justify="right")
    for row in result.rows:
        place = row.x if isinstance(row.x, str) else f"{row.x:g}"
        printed = "" if row.published is None else f"{row.published:g}"
        table.add_row(row.series, place, f"{row.ours:.4g}", printed)
    console = Console()
    console.print(table)
    for claim in result.claims:
        console.print(f"{'holds' if claim.holds else 'fails'}: {claim.text}", highlight=False)
    console.print(f"verdict: {result.verdict}", highlight=False)
