"""``sottovoce token``: issue, list and revoke the tokens of people and devices."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from sottovoce.cli.collector_options import any_collector, data, opened, remote
from sottovoce.cli.option_groups import group_of, options_of
from sottovoce.cli.output import as_json, print_json

if TYPE_CHECKING:
    from sottovoce.collector.store.base import TokenRecord

_SCOPES = ("operator", "analyst", "enrolment")
_DAY = 86_400
_SHOWN = ("id", "scope", "label", "expires")


@dataclass(frozen=True)
class TokenOptions:
    """The options of new tokens."""

    OPTIONS: ClassVar = (
        click.option(
            "--label", default="", show_default=False, help="A word to recognise the token by."
        ),
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
@any_collector
@options_of(TokenOptions)
@as_json
def create(scope: str, *, as_json: bool, **options: Any) -> None:
    """Issue tokens of a SCOPE.

    Operators publish and close tasks, analysts read answers, enrolment tokens are for devices.

    Tokens are shown only once: the collector keeps their hashes.
    """
    given = group_of(TokenOptions, options)
    if options["url"]:
        elsewhere = remote(options["url"], options["token"])
        tokens = elsewhere.issue_tokens(
            scope, count=given.count, label=given.label, days=given.days
        )
    else:
        tokens = _issued(scope, given, options["data"], options["database"])
    if as_json:
        print_json({"scope": scope, "tokens": tokens})
    else:
        click.echo("\n".join(tokens))


def _issued(scope: str, given: TokenOptions, data: Path | None, database: str) -> list[str]:
    from sottovoce.collector import access

    batch = access.TokenBatch(given.count, given.seconds)
    with opened(data, database, new=True) as collector:
        store, now = collector.store, collector.now
        return access.issue(store, scope, now, label=given.label, batch=batch)


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
@any_collector
@as_json
def list_(*, as_json: bool, **place: Any) -> None:
    """List the tokens of operators and analysts; an id is the beginning of a hash."""
    if place["url"]:
        listed = remote(place["url"], place["token"]).tokens()
    else:
        with opened(place["data"], place["database"]) as collector:
            listed = [_facts(record) for record in collector.store.tokens()]
    tokens = [{key: token[key] for key in _SHOWN} for token in listed]
    if as_json:
        print_json({"tokens": tokens})
        return
    lines = [f"{token['id']}  {token['scope']:<9} {token['label']}" for token in tokens]
    click.echo("\n".join(lines) or "no tokens yet")


@command.command("revoke")
@click.argument("identity", metavar="ID")
@any_collector
@as_json
def revoke(identity: str, *, as_json: bool, **place: Any) -> None:
    """Revoke the token with this ID, as `token list` shows it."""
    from sottovoce.collector import access
    from sottovoce.errors import NoDataError

    if place["url"]:
        remote(place["url"], place["token"]).revoke_token(identity)
    else:
        with opened(place["data"], place["database"]) as collector:
            if not access.revoke(collector.store, identity):
                raise NoDataError("there is no token with this id")
    if as_json:
        print_json({"revoked": identity})
    else:
        click.echo(f"revoked {identity}")


def _facts(record: "TokenRecord") -> dict[str, Any]:
    from sottovoce.collector import access

    return {
        "id": access.identity(record),
        "scope": record.scope,
        "label": record.label,
        "expires": record.expires,
    }
