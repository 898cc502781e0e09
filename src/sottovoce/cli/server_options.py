"""The options of commands that run a server: where it listens, whom it serves, how it stops."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

SECONDS = click.FloatRange(min=0, min_open=True)

_Command = TypeVar("_Command", bound=Callable[..., Any])


def listening(unit: str) -> Callable[[_Command], _Command]:
    """Add where to listen, and how many requests one address may send.

    ``unit`` is what people send: reports or messages.
    """
    options = (
        click.option("--host", help="The address to listen on.  [default: 127.0.0.1]"),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            help="The port to listen on; 0 picks a free one.  [default: 8000]",
        ),
        click.option(
            "--rate",
            type=click.IntRange(min=0),
            help=f"{unit.capitalize()}s per second from one address; any other request counts as"
            f" one {unit}; 0 sets no limit.  [default: 500]",
        ),
        click.option(
            "--health-rate",
            type=click.IntRange(min=0),
            help="Requests per second from one address to /healthz, /readyz and /metrics; 0 sets"
            " no limit.  [default: 20]",
        ),
        click.option(
            "--origins",
            help=f"Origins of web pages that may send {unit}s, such as https://example.org,"
            " separated by commas; * allows all.  [default: *]",
        ),
    )

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def stopping(command: _Command) -> _Command:
    """Add how long a server may take to stop, which proxies it trusts, and its path there."""
    grace = click.option(
        "--grace-seconds",
        type=SECONDS,
        help="Seconds from a signal to stop until the process ends, whatever runs.  [default: 20]",
    )
    proxies = click.option(
        "--proxies", help="Addresses of reverse proxies whose forwarded headers are trusted."
    )
    root_path = click.option(
        "--root-path",
        help="The path at which a reverse proxy serves this, such as /sottovoce.  [default: none]",
    )
    return grace(proxies(root_path(command)))
