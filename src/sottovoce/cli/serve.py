"""``sottovoce serve``: the collector and its dashboard, in one process, until it is told to stop."""

import json
from pathlib import Path
from typing import Any

import click

from sottovoce.cli.collector_options import data
from sottovoce.cli.output import as_json


@click.command("serve")
@data
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 0 takes a free one.  [default: 8000]")
@click.option(
    "--rate", type=click.IntRange(min=0), help="Requests per second and address; 0: no limit.  [default: 200]"
)
@click.option("--largest-body", type=click.IntRange(min=1024), help="Bytes of a request.  [default: 4 MiB]")
@click.option("--most-waiting", type=click.IntRange(min=1024), help="Messages that may wait.  [default: 20,000]")
@click.option("--proxies", help="Addresses of reverse proxies whose forwarded headers are believed.")
@as_json
def command(data: Path, database: str, *, as_json: bool, **options: Any) -> None:
    """Publish tasks, take reports over HTTP, show answers.

    Every option can be set in the environment as SOTTOVOCE_PORT, SOTTOVOCE_RATE and so on.
    TLS belongs to a reverse proxy in front: see docs/deployment.md.
    """
    from sottovoce.collector.dashboard.pages import routes
    from sottovoce.collector.run import serve
    from sottovoce.web.settings import from_environment

    settings = from_environment({**options, "data": data, "database": database or None})

    def told(url: str) -> None:
        if as_json:
            click.echo(json.dumps({"url": url, "data": str(data)}))  # one line, for whoever waits for it
        else:
            click.echo(f"Collector and dashboard: {url}   data: {data}   stop: Ctrl-C")
            click.echo(f"Log in with a token:     sottovoce token create analyst --data {data}")

    serve(settings, routes, told)
