"""``sottovoce bench``: measure speed on this machine."""

from pathlib import Path

import click

from sottovoce.cli.output import as_json


@click.command("bench")
@click.option("--only", multiple=True, help="Run only the benchmark of this name; may be repeated.")
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the rows to this file as a page, too.",
)
@as_json
def command(only: tuple[str, ...], write: Path | None, *, as_json: bool) -> None:
    """Measure speed on this machine."""
    from sottovoce.lab.bench import run

    run(only=only, json=as_json, write=write)
