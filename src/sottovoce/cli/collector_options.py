"""The options of commands that work on the data of a collector, and that collector."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from sottovoce.cli.output import warn

if TYPE_CHECKING:
    from sottovoce.client.remote_collector import RemoteCollector
    from sottovoce.collector.collector import Collector

_Command = TypeVar("_Command", bound=Callable[..., Any])


def data(command: _Command) -> _Command:
    """Add ``--data`` and ``--database``: the command works on a folder of this machine."""
    url = click.option("--url", hidden=True, expose_value=False, callback=_refuse_url)
    return _local(url(command), required=True)


def _refuse_url(context: click.Context, parameter: click.Parameter, url: str | None) -> None:
    if url:
        raise click.UsageError(
            "this command works on files of a collector: run it where the collector is, with "
            "--data FOLDER",
            context,
        )


def any_collector(command: _Command) -> _Command:
    """Add ``--data`` and ``--database``, or ``--url`` and ``--token`` for a collector elsewhere."""
    url = click.option(
        "--url",
        envvar="SOTTOVOCE_URL",
        default="",
        show_default=False,
        callback=_unless_folder,
        help="The address of a collector, instead of its folder.",
    )
    token = click.option(
        "--token",
        envvar="SOTTOVOCE_TOKEN",
        default="",
        show_default=False,
        help="With --url: a token of an analyst, or of an operator where something changes.",
    )
    return _local(url(token(command)), required=False)


def _unless_folder(context: click.Context, parameter: click.Parameter, url: str) -> str:
    """Return the address; a folder that is named on the command line beats the environment."""
    named = context.get_parameter_source
    by_environment = named("url") is ParameterSource.ENVIRONMENT
    return "" if by_environment and named("data") is ParameterSource.COMMANDLINE else url


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
        show_default=False,
        help="The URL of a database, such as postgresql://..., instead of the embedded store.",
    )
    return folder(database(command))


@contextmanager
def opened(data: Path | None, database: str = "", *, new: bool = False) -> "Iterator[Collector]":
    """Yield the collector of a folder; a server may be running on the same folder."""
    from sottovoce.collector.collector import Collector
    from sottovoce.collector.resources import Resources
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
            logs = os.environ.get("SOTTOVOCE_LOGS", "")
            yield Collector(store, data, clock, Resources(logs=logs))
        finally:
            store.close()
