"""``sottovoce bench``: speed on this machine."""

from importlib import import_module

import click

from sottovoce.cli.output import as_json


@click.command("bench")
@click.option("--only", multiple=True, help="Run only the benchmarks of this name; may be given several times.")
@as_json
def command(only: tuple[str, ...], *, as_json: bool) -> None:
    """Measure speed on this machine."""
    import_module("sottovoce.lab.bench").run(only=only, json=as_json)
