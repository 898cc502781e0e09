"""``sottovoce serve``: run the collector and its dashboard in one process."""

import json
from pathlib import Path
from typing import Any

import click

from sottovoce.cli.collector_options import data
from sottovoce.cli.output import as_json


@click.command("serve")
@data
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 picks a free one.  [default: 8000]",
)
@click.option(
    "--rate",
    type=click.IntRange(min=0),
    help="Requests per second from one address; 0 sets no limit.  [default: 200]",
)
@click.option(
    "--largest-body",
    type=click.IntRange(min=1024),
    help="Bytes of the largest request.  [default: 4 MiB]",
)
@click.option(
    "--most-waiting",
    type=click.IntRange(min=1024),
    help="Messages that may wait for the store.  [default: 20,000]",
)
@click.option("--proxies", help="Addresses of reverse proxies whose forwarded headers are trusted.")
@as_json
def command(data: Path, database: str, *, as_json: bool, **options: Any) -> None:
    """Publish tasks, accept reports over HTTP, and show answers.

    Every option can also be set in the environment: SOTTOVOCE_PORT, SOTTOVOCE_RATE and so on.
    Put a reverse proxy in front for TLS: see docs/deployment.md.
    """
    from sottovoce.collector.dashboard.pages import routes
    from sottovoce.collector.run import serve
    from sottovoce.web.settings import from_environment

    settings = from_environment({**options, "data": data, "database": database or None})

    def announce(url: str) -> None:
        if as_json:
            # One line, for a program that waits for it.
            click.echo(json.dumps({"url": url, "data": str(data)}))
        else:
            click.echo(f"Collector and dashboard: {url}   data: {data}   stop: Ctrl-C")
            click.echo(f"Log in with a token:     sottovoce token create analyst --data {data}")

    serve(settings, routes, announce)
