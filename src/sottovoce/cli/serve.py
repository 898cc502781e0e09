"""``sottovoce serve``: run the collector and its dashboard in one process."""

import json
from pathlib import Path
from typing import Any

import click

from sottovoce.cli.collector_options import data
from sottovoce.cli.output import as_json, warn
from sottovoce.cli.server_options import SECONDS, listening, stopping


@click.command("serve")
@data
@listening("report")
@click.option(
    "--largest-body",
    type=click.IntRange(min=1024),
    help="Bytes of the largest request.  [default: 4 MiB]",
)
@click.option(
    "--most-held",
    type=click.IntRange(min=1024),
    help="Bytes of all requests that are held at once.  [default: 64 MiB]",
)
@click.option(
    "--most-waiting",
    type=click.IntRange(min=1024),
    help="Messages that may wait for the store.  [default: 20,000]",
)
@click.option(
    "--header-seconds",
    type=SECONDS,
    help="Seconds until the headers of a request must be complete.  [default: 10]",
)
@click.option(
    "--body-seconds",
    type=SECONDS,
    help="Seconds until the body of a request must be complete.  [default: 30]",
)
@click.option(
    "--query-seconds",
    type=SECONDS,
    help="Seconds that a query in SQL may wait, and again that it may run, and that a request waits"
    " for a large answer.  [default: 60]",
)
@click.option(
    "--logs",
    help="An object store for the sealed logs, such as s3://bucket/prefix; its endpoint and keys"
    " are those of AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
    "  [default: the folder]",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes that take reports on one port: as many as there are cores for it."
    "  [default: 1]",
)
@click.option(
    "--memory",
    help="Memory for reports in a process that seals, steps or answers, such as 512MB or 4GB; what"
    " does not fit waits on the disk.  [default: 1GiB]",
)
@stopping
@as_json
def command(
    data: Path, database: str, memory: str | None, *, as_json: bool, **options: Any
) -> None:
    """Publish tasks, accept reports over HTTP, and show answers.

    Every option can also be set in the environment: SOTTOVOCE_PORT, SOTTOVOCE_RATE and so on.
    Put a reverse proxy in front for TLS: see docs/deployment.md.
    """
    from sottovoce.collector.dashboard.pages import routes
    from sottovoce.collector.run import serve
    from sottovoce.core.byte_sizes import byte_size
    from sottovoce.engine.warming import start_warming
    from sottovoce.web.settings import from_environment

    options["memory"] = None if memory is None else byte_size("memory", memory)
    settings = from_environment({**options, "data": data, "database": database or None})

    def announce(url: str) -> None:
        start_warming()
        if as_json:
            # One line, for a program that waits for it.
            click.echo(json.dumps({"url": url, "data": str(data)}))
        else:
            click.echo(f"Collector and dashboard: {url}   data: {data}   stop: Ctrl-C")
            click.echo(f"Log in with a token:     sottovoce token create analyst --data {data}")

    serve(settings, routes, announce, warn)
