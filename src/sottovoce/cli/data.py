"""``sottovoce data``: back up, restore and export the data of a collector."""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.completion import task_names
from sottovoce.cli.output import as_json, print_json

if TYPE_CHECKING:
    from sottovoce.collector.published import Published

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group("data")
def command() -> None:
    """Back up, restore and export the data of a collector."""


@command.command("backup")
@click.argument("to", type=_FOLDER)
@data
@as_json
def backup(to: Path, data: Path, database: str, *, as_json: bool) -> None:
    """Copy everything to the new folder TO; the collector may be running."""
    from sottovoce.collector.key_files import NAMES
    from sottovoce.errors import ParameterError

    if to.exists():
        raise ParameterError("TO must be a folder that does not exist yet")
    from sottovoce.web.folder import restrict

    with opened(data, database) as collector:
        to.mkdir(parents=True)
        # The store is copied first: every round that it calls sealed has its file by then.
        collector.store.backup(to / "collector.db")
        if (data / "sealed").exists():
            half_written = shutil.ignore_patterns(".*")  # files of rounds that are being sealed now
            shutil.copytree(
                data / "sealed", to / "sealed", ignore=half_written, copy_function=_copy_if_there
            )
        for name in NAMES:  # without them, tasks that name these keys could not go on
            if (data / name).exists():
                shutil.copy2(data / name, to / name)
        restrict(to)
    _report(as_json=as_json, folder=to)


@command.command("restore")
@click.argument(
    "origin", metavar="FROM", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@data
@as_json
def restore(origin: Path, data: Path, database: str, *, as_json: bool) -> None:
    """Make a collector's folder from the backup FROM, after checking all of it."""
    from sottovoce.errors import NoDataError, ParameterError
    from sottovoce.web.folder import copy_plain

    if database:
        raise ParameterError(
            "--database cannot be restored here: use the tools of the database (pg_restore), and "
            "copy"
            " the folder `sealed` by hand"
        )
    if not (origin / "collector.db").exists():
        raise NoDataError("FROM is not a backup: it has no collector.db")
    if data.exists() and any(data.iterdir()):
        raise ParameterError("--data must be a new or an empty folder")
    copied = data.with_name(f"{data.name}.restoring")
    shutil.rmtree(copied, ignore_errors=True)
    try:
        copied.parent.mkdir(parents=True, exist_ok=True)
        copy_plain(origin, copied)
        with opened(copied) as collector:
            for published in collector.tasks():
                _check_digests(published)
                collector.verify(published)
        copied.replace(data)  # in one step, after everything was verified
    finally:
        shutil.rmtree(copied, ignore_errors=True)
    _report(as_json=as_json, folder=data)


@command.command("export")
@click.argument("name", shell_complete=task_names)
@click.argument("to", type=_FOLDER)
@data
@as_json
def export(name: str, to: Path, data: Path, database: str, *, as_json: bool) -> None:
    """Copy the task NAME with its sealed logs (Parquet) and their seals to the new folder TO."""
    from sottovoce.engine import parquet
    from sottovoce.errors import ParameterError
    from sottovoce.web.folder import restrict

    if to.exists():
        raise ParameterError("TO must be a folder that does not exist yet")
    with opened(data, database) as collector:
        published = collector.find(name)
        collector.verify(published)
        to.mkdir(parents=True)
        (to / "task.json").write_text(published.record.document, encoding="utf-8")
        for record in published.rounds:
            (to / f"round-{record.number:05d}.json").write_text(record.document, encoding="utf-8")
            log = collector.log(record)
            if parquet.exists(log):
                if not isinstance(log, Path):
                    raise ParameterError(
                        "the sealed logs are in an object store: copy them with its tools"
                    )
                copy = shutil.copytree if log.is_dir() else shutil.copy2
                copy(log, to / log.name)
                seal = {"count": record.count, "checksum": record.checksum}
                path = to / f"round-{record.number:05d}.seal.json"
                path.write_text(json.dumps(seal), encoding="utf-8")
        restrict(to)
    _report(as_json=as_json, folder=to)


def _check_digests(published: "Published") -> None:
    """Refuse a task whose documents are not those that were published.

    The digest of a task covers its document, and the document its first round.
    """
    from sottovoce.errors import MismatchError
    from sottovoce.wire import codec

    document = codec.parse(published.record.document)
    opening = codec.canonical(document["opening"])
    name = published.record.name
    if codec.digest(document) != published.digest or document["name"] != name:
        raise MismatchError(f"the task {name!r} is not the one that was published")
    if published.rounds[0].document != opening:
        raise MismatchError(f"the first round of the task {name!r} is not the one in its document")
    for number, record in enumerate(published.rounds):
        if published.asked[number].number != number or record.task != published.digest:
            raise MismatchError(f"the rounds of the task {name!r} are not its own")


def _copy_if_there(origin: str, copy: str) -> None:
    """Copy a file, unless it was erased meanwhile because its retention ended."""
    with suppress(FileNotFoundError):
        shutil.copy2(origin, copy)


def _report(*, as_json: bool, folder: Path) -> None:
    if as_json:
        print_json({"folder": str(folder)})
    else:
        click.echo(f"done: {folder}")
