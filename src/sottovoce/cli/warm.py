"""``sottovoce warm``: compile the kernels, so that first answers do not wait for it."""

import os

import click

from sottovoce.cli.output import as_json, print_json


@click.command("warm")
@click.option("--background", is_flag=True, help="Give way to all other processes.")
@as_json
def command(*, background: bool, as_json: bool) -> None:
    """Compile the kernels ahead, once for an installation.

    Compiled code is kept beside the package, or in NUMBA_CACHE_DIR.  A collector does the same in
    the background when it starts.
    """
    from sottovoce.engine.warming import warm

    if background and hasattr(os, "nice"):
        os.nice(10)
    seconds = warm()
    if as_json:
        print_json({"seconds": seconds})
    else:
        click.echo(f"compiled in {seconds:.1f} s")
