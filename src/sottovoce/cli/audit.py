"""``sottovoce audit``: check that a mechanism does not reveal more than its epsilon."""

from typing import Any

import click

from sottovoce.cli.output import as_json, print_json, seed


@click.command("audit")
@click.argument("kind")
@click.option("--size", type=int, default=4, help="How many values a person may hold.")
@click.option("--epsilon", type=float, default=1.0, help="What one answer may reveal at most.")
@click.option("--samples", type=int, default=200_000, help="Reports to sample for every value.")
@click.option(
    "--confidence", type=float, default=0.999, help="Confidence of the bound that sampling proves."
)
@seed
@as_json
@click.pass_context
def command(
    ctx: click.Context, /, kind: str, *, size: int, epsilon: float, as_json: bool, **options: Any
) -> None:
    """Check that a mechanism does not reveal more than its epsilon.

    KIND is a mechanism: grr, affine, oue, ... It is checked exactly, and by sampled reports. The
    exit code is 1 if a check fails.
    """
    from sottovoce.lab.audit import audit
    from sottovoce.mechanisms.base import Mechanism

    mechanism_class: Any = Mechanism.kinds[kind]
    result = audit(mechanism_class(epsilon=epsilon, size=size), **options)
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo(str(result))
    ctx.exit(0 if result.passes else 1)
