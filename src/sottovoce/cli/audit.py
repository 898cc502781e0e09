"""``sottovoce audit``: does a mechanism spend more than it states?"""

from typing import Any

import click

from sottovoce.cli.output import as_json, print_json, seed


@click.command("audit")
@click.argument("kind")
@click.option("--size", type=int, default=4, help="How many values a person may hold.")
@click.option("--epsilon", type=float, default=1.0, help="What one answer may reveal.")
@click.option("--samples", type=int, default=200_000, help="Reports sampled of every value.")
@click.option("--confidence", type=float, default=0.999, help="Of the bound that sampling proves.")
@seed
@as_json
@click.pass_context
def command(ctx: click.Context, /, kind: str, *, size: int, epsilon: float, as_json: bool, **wishes: Any) -> None:
    """Check that a mechanism keeps to its epsilon.

    KIND is grr, affine, oue, ...; it is checked exactly, and by the reports it makes. Exits with 1 if it fails.
    """
    from sottovoce.lab.audit import audit
    from sottovoce.mechanisms.base import Mechanism

    made: Any = Mechanism.kinds[kind]
    found = audit(made(epsilon=epsilon, size=size), **wishes)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
    ctx.exit(0 if found.passes else 1)
