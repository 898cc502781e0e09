"""``sottovoce advise``: what to expect of a collection before anybody is asked."""

import click

from sottovoce.cli.output import as_json, print_json


@click.command("advise")
@click.option("--users", type=int, required=True, help="How many people will answer.")
@click.option("--size", type=int, required=True, help="How many values a person may hold.")
@click.option("--epsilon", type=float, required=True, help="What one answer may reveal.")
@click.option("--questions", type=int, default=1, help="Over how many questions the people are partitioned.")
@click.option("--error", type=float, help="A wished standard error, as a share: how many users does it take?")
@click.option("--rule", default="least variance", help="How to choose: least variance, published, unary.")
@as_json
def command(users: int, size: int, epsilon: float, *, as_json: bool, **wishes: object) -> None:
    """Plan: mechanism, error, bytes, users needed."""
    from sottovoce.advice import advise

    advice = advise(users, size, epsilon, **wishes)  # type: ignore[arg-type]
    if as_json:
        print_json(advice.to_dict())
    else:
        click.echo(str(advice))
