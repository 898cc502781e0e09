"""``sottovoce data``: back up, restore and export what a collector holds."""

import shutil
from contextlib import suppress
from pathlib import Path

import click

from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.output import as_json, print_json

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group("data")
def command() -> None:
    """Back up, restore and export."""


@command.command("backup")
@click.argument("to", type=_FOLDER)
@data
@as_json
def backup(to: Path, data: Path, database: str, *, as_json: bool) -> None:
    """Copy everything to the new folder TO, while the collector runs."""
    from sottovoce.errors import ParameterError

    if to.exists():
        raise ParameterError("a backup goes to a folder that does not exist yet")
    with opened(data, database) as collector:
        to.mkdir(parents=True)
        # The store first: what it calls sealed then is in the files that are copied after it.
        collector.store.backup(to / "collector.db")
        if (data / "sealed").exists():
            half_written = shutil.ignore_patterns(".*")  # by a round that is being sealed at this moment
            shutil.copytree(data / "sealed", to / "sealed", ignore=half_written, copy_function=_copy_if_there)
    _told(as_json=as_json, folder=to)


@command.command("restore")
@click.argument("origin", metavar="FROM", type=click.Path(exists=True, file_okay=False, path_type=Path))
@data
@as_json
def restore(origin: Path, data: Path, database: str, *, as_json: bool) -> None:
    """Make a collector's folder from the backup FROM."""
    from sottovoce.errors import NoDataError, ParameterError

    if database:
        raise ParameterError(
            "a backup is restored into the embedded store: leave out `--database`;"
            " restore a server's database with its own tools, such as pg_restore"
        )
    if not (origin / "collector.db").exists():
        raise NoDataError("this folder is not a backup")
    if data.exists() and any(data.iterdir()):
        raise ParameterError("a backup is restored into an empty folder")
    copied = data.with_name(f"{data.name}.restoring")
    shutil.rmtree(copied, ignore_errors=True)
    try:
        shutil.copytree(origin, copied)
        with opened(copied) as collector:
            for published in collector.tasks():
                collector.verify(published)
        copied.replace(data)  # only now, and whole
    finally:
        shutil.rmtree(copied, ignore_errors=True)
    _told(as_json=as_json, folder=data)


@command.command("export")
@click.argument("name")
@click.argument("to", type=_FOLDER)
@data
@as_json
def export(name: str, to: Path, data: Path, database: str, *, as_json: bool) -> None:
    """Copy the task NAME with its sealed logs (Parquet) to the new folder TO."""
    from sottovoce.errors import ParameterError

    if to.exists():
        raise ParameterError("an export goes to a folder that does not exist yet")
    with opened(data, database) as collector:
        published = collector.find(name)
        collector.verify(published)
        to.mkdir(parents=True)
        (to / "task.json").write_text(published.record.document, encoding="utf-8")
        for one in published.rounds:
            (to / f"round-{one.number:05d}.json").write_text(one.document, encoding="utf-8")
            if collector.log(one).exists():
                shutil.copy2(collector.log(one), to)
    _told(as_json=as_json, folder=to)


def _copy_if_there(origin: str, copy: str) -> None:
    """Copy a file, unless its retention ended at this moment."""
    with suppress(FileNotFoundError):
        shutil.copy2(origin, copy)


def _told(*, as_json: bool, folder: Path) -> None:
    if as_json:
        print_json({"folder": str(folder)})
    else:
        click.echo(f"done: {folder}")
