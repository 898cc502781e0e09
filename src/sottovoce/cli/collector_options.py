"""The options of commands that work on the data of a collector, and that collector."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.cli.output import warn

if TYPE_CHECKING:
    from sottovoce.client.remote_collector import RemoteCollector
    from sottovoce.collector.collector import Collector

_Command = TypeVar("_Command", bound=Callable[..., Any])


def data(command: _Command) -> _Command:
    """Add ``--data`` and ``--database``: the command works on a folder of this machine."""
    return _local(command, required=True)


def any_collector(command: _Command) -> _Command:
    """Add ``--data`` and ``--database``, or ``--url`` and ``--token`` for a collector elsewhere."""
    url = click.option(
        "--url",
        envvar="SOTTOVOCE_URL",
        default="",
        help="The address of a collector, instead of its folder.",
    )
    token = click.option(
        "--token",
        envvar="SOTTOVOCE_TOKEN",
        default="",
        help="With --url: a token of an analyst, or of an operator where something changes.",
    )
    return _local(url(token(command)), required=False)


def remote(url: str, token: str) -> "RemoteCollector":
    """Return the collector at an address."""
    from sottovoce.client.remote_collector import RemoteCollector

    return RemoteCollector(url, token)


def _local(command: _Command, *, required: bool) -> _Command:
    folder = click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="SOTTOVOCE_DATA",
        required=required,
        help="The collector's folder.",
    )
    database = click.option(
        "--database",
        envvar="SOTTOVOCE_DATABASE",
        default="",
        help="The URL of a database, such as postgresql://..., instead of the embedded store.",
    )
    return folder(database(command))


@contextmanager
def opened(data: Path | None, database: str = "", *, new: bool = False) -> "Iterator[Collector]":
    """Yield the collector of a folder; a server may be running on the same folder."""
    from sottovoce.collector.collector import Collector
    from sottovoce.collector.run import open_store
    from sottovoce.collector.store.base import store_exists, store_url
    from sottovoce.errors import NoDataError
    from sottovoce.web import folder
    from sottovoce.web.settings import Settings, clock

    if data is None:
        raise click.UsageError("say which collector: --data FOLDER, or --url URL with --token")
    if not new and not store_exists(store_url(data, database)):
        raise NoDataError(
            "there is no collector in this folder: `serve` or `task create` makes one"
        )
    for concern in folder.concerns(data):
        warn(concern)
    with folder.kept_private():
        store = open_store(Settings(data=data, database=database))
        try:
            yield Collector(store, data, clock, logs=os.environ.get("SOTTOVOCE_LOGS", ""))
        finally:
            store.close()
