"""``sottovoce bench``: measure speed on this machine."""

import click

from sottovoce.cli.output import as_json


@click.command("bench")
@click.option("--only", multiple=True, help="Run only the benchmark of this name; may be repeated.")
@as_json
def command(only: tuple[str, ...], *, as_json: bool) -> None:
    """Measure speed on this machine."""
    from sottovoce.lab.bench import run

    run(only=only, json=as_json)
