"""``sottovoce token``: issue, list and revoke the tokens of people and devices."""

from pathlib import Path

import click

from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.output import as_json, print_json

_SCOPES = ("operator", "analyst", "enrolment")
_DAY = 86_400


@click.group("token")
def command() -> None:
    """Issue, list and revoke tokens."""


@command.command("create")
@click.argument("scope", type=click.Choice(_SCOPES))
@data
@click.option("--label", default="", help="A word to recognise it by.")
@click.option("--count", type=click.IntRange(1, 1_000_000), default=1, help="How many.")
@click.option("--days", type=click.IntRange(min=1), help="Days until they expire; never if absent.")
@as_json
def create(scope: str, data: Path, database: str, label: str, count: int, days: int | None, *, as_json: bool) -> None:
    """Issue tokens of a SCOPE: operators publish and close, analysts read answers, enrolment is for devices.

    They are shown once, here: only their hashes are kept.
    """
    from sottovoce.collector import access

    seconds = None if days is None else days * _DAY
    with opened(data, database, new=True) as collector:
        tokens = access.issue(collector.store, scope, collector.now, label=label, count=count, seconds=seconds)
    if as_json:
        print_json({"scope": scope, "tokens": tokens})
    else:
        click.echo("\n".join(tokens))


@command.command("list")
@data
@as_json
def list_(data: Path, database: str, *, as_json: bool) -> None:
    """List the tokens of people by the beginning of their hashes."""
    from sottovoce.collector import access

    with opened(data, database) as collector:
        found = [
            {"id": access.identity(one), "scope": one.scope, "label": one.label, "expires": one.expires}
            for one in collector.store.tokens()
        ]
    if as_json:
        print_json({"tokens": found})
    else:
        click.echo("\n".join(f"{one['id']}  {one['scope']:<9} {one['label']}" for one in found) or "no tokens yet")


@command.command("revoke")
@click.argument("identity", metavar="ID")
@data
@as_json
def revoke(identity: str, data: Path, database: str, *, as_json: bool) -> None:
    """Revoke the token with an ID that the list shows."""
    from sottovoce.collector import access
    from sottovoce.errors import NoDataError

    with opened(data, database) as collector:
        if not access.revoke(collector.store, identity):
            raise NoDataError("there is no token with this id")
    if as_json:
        print_json({"revoked": identity})
    else:
        click.echo(f"revoked {identity}")
