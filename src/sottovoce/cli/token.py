"""``sottovoce token``: issue, list and revoke the tokens of people and devices."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import click

from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.option_groups import group_of, options_of
from sottovoce.cli.output import as_json, print_json

_SCOPES = ("operator", "analyst", "enrolment")
_DAY = 86_400


@dataclass(frozen=True)
class TokenOptions:
    """The options of new tokens."""

    OPTIONS: ClassVar = (
        click.option("--label", default="", help="A word to recognise the token by."),
        click.option(
            "--count",
            type=click.IntRange(1, 1_000_000),
            default=1,
            help="How many tokens to issue.",
        ),
        click.option(
            "--days",
            type=click.IntRange(min=1),
            help="Days until the tokens expire; by default they never do.",
        ),
    )

    label: str
    count: int
    days: int | None

    @property
    def seconds(self) -> int | None:
        """Return how long the tokens are valid, None for ever."""
        return None if self.days is None else self.days * _DAY


@click.group("token")
def command() -> None:
    """Issue, list and revoke access tokens."""


@command.command("create")
@click.argument("scope", type=click.Choice(_SCOPES))
@data
@options_of(TokenOptions)
@as_json
def create(scope: str, data: Path, database: str, *, as_json: bool, **options: Any) -> None:
    """Issue tokens of a SCOPE.

    Operators publish and close tasks, analysts read answers, enrolment tokens are for devices.

    Tokens are shown only once: the collector keeps their hashes.
    """
    from sottovoce.collector import access

    given = group_of(TokenOptions, options)
    batch = access.TokenBatch(given.count, given.seconds)
    with opened(data, database, new=True) as collector:
        store, now = collector.store, collector.now
        tokens = access.issue(store, scope, now, label=given.label, batch=batch)
    if as_json:
        print_json({"scope": scope, "tokens": tokens})
    else:
        click.echo("\n".join(tokens))


@command.command("issuer")
@data
@as_json
def issuer(data: Path, database: str, *, as_json: bool) -> None:
    """Make the key behind blind tokens, once, and print what task files name as `issuer`."""
    from sottovoce.collector import key_files
    from sottovoce.web import folder

    with folder.kept_private():
        key_files.make_issuer(data)
        public_key = key_files.public_issuer_key(data)
    if as_json:
        print_json({"issuer": public_key})
    else:
        click.echo(public_key)


@command.command("list")
@data
@as_json
def list_(data: Path, database: str, *, as_json: bool) -> None:
    """List the tokens of operators and analysts; an id is the beginning of a hash."""
    from sottovoce.collector import access

    with opened(data, database) as collector:
        records = collector.store.tokens()
    tokens = [
        {
            "id": access.identity(record),
            "scope": record.scope,
            "label": record.label,
            "expires": record.expires,
        }
        for record in records
    ]
    if as_json:
        print_json({"tokens": tokens})
        return
    lines = [f"{token['id']}  {token['scope']:<9} {token['label']}" for token in tokens]
    click.echo("\n".join(lines) or "no tokens yet")


@command.command("revoke")
@click.argument("identity", metavar="ID")
@data
@as_json
def revoke(identity: str, data: Path, database: str, *, as_json: bool) -> None:
    """Revoke the token with this ID, as `token list` shows it."""
    from sottovoce.collector import access
    from sottovoce.errors import NoDataError

    with opened(data, database) as collector:
        if not access.revoke(collector.store, identity):
            raise NoDataError("there is no token with this id")
    if as_json:
        print_json({"revoked": identity})
    else:
        click.echo(f"revoked {identity}")
