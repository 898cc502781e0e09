"""``sottovoce task``: publish tasks from files, list them, show them, close their rounds."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli import promises
from sottovoce.cli.collector_options import data, opened
from sottovoce.cli.output import as_json, print_json, warn

if TYPE_CHECKING:
    from sottovoce.collector.published import Published
    from sottovoce.tasks.task import Task


@click.group("task")
def command() -> None:
    """Publish, list, show and close tasks."""


@command.command("create")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data
@as_json
def create(file: Path, data: Path, database: str, *, as_json: bool) -> None:
    """Publish the task in a TOML or JSON FILE; a published task never changes."""
    from sottovoce.wire import codec, integrity

    text = task_text(file)
    with opened(data, database, new=True) as collector:
        published, new = collector.create(text, toml=file.suffix == ".toml")
    for concern in published.concerns:
        warn(concern)
    notice = codec.notice(codec.parse(published.record.document))
    if as_json:
        influence = integrity.influence(notice.opening.ask, notice.collection)
        concerns = list(published.concerns)
        facts = {**_facts(published), "new": new, "concerns": concerns, "influence": influence}
        print_json({**facts, **promises.facts(published.task)})
        return
    click.echo(
        f"{'published' if new else 'already here'}: {published.record.name}  digest "
        f"{published.digest}"
    )
    click.echo(" ".join(integrity.sentences(notice)))
    for line in promises.lines(published.task):
        click.echo(line)


@command.command("list")
@data
@as_json
def list_(data: Path, database: str, *, as_json: bool) -> None:
    """List all tasks with their state."""
    from rich.console import Console
    from rich.table import Table

    with opened(data, database) as collector:
        tasks = [_facts(published) for published in collector.tasks()]
    if as_json:
        print_json({"tasks": tasks})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "state", "round", "users", "epsilon", "digest"):
        table.add_column(
            heading, justify="right" if heading in ("round", "users", "epsilon") else "left"
        )
    for task in tasks:
        table.add_row(
            *(str(task[key]) for key in ("name", "state", "round", "users", "epsilon", "digest"))
        )
    Console(highlight=False).print(
        table if tasks else "no tasks yet: publish one with sottovoce task create FILE"
    )
    for task in tasks:
        if task["trouble"]:
            warn(f"{task['name']} waits, and is tried again: {task['trouble']}")


@command.command("show")
@click.argument("name")
@data
@as_json
def show(name: str, data: Path, database: str, *, as_json: bool) -> None:
    """Show what the task NAME promises its users, or its document with --json."""
    from sottovoce.wire import codec, integrity
    from sottovoce.wire.statement import explain, statement

    with opened(data, database) as collector:
        published = collector.find(name)
    notice = codec.notice(codec.parse(published.record.document))
    if as_json:
        document = codec.parse(published.record.document)
        facts = {**_facts(published), **promises.facts(published.task)}
        print_json({**facts, "statement": statement(notice), "document": document})
    else:
        click.echo(explain(statement(notice)))
        click.echo(" ".join(integrity.sentences(notice)))
        for line in promises.lines(published.task):
            click.echo(line)


@command.command("close")
@click.argument("name")
@data
@click.option("--now", is_flag=True, help="Close at once, without grace for late reports.")
@click.option(
    "--force", is_flag=True, help="Close even with too few users, although the task then fails."
)
@as_json
def close(name: str, data: Path, database: str, *, now: bool, force: bool, as_json: bool) -> None:
    """Close the open round of the task NAME; a closed round never opens again.

    A round with too few users for a release is closed only with --force: the task then fails.
    """
    from sottovoce.errors import StateError

    with opened(data, database) as collector:
        if not force:
            collector.refresh()
            collector.find(name).check_enough_users()
        if not collector.close(name, at_once=now):
            raise StateError("this task has no round to close")
        collector.advance()
        published = collector.find(name)
    if as_json:
        print_json(_facts(published))
    else:
        reason = f": {published.record.failure}" if published.record.failure else ""
        click.echo(f"{name}: {published.shown_state}{reason}")


@command.command("canaries")
@click.argument("name")
@data
@click.option(
    "--count", type=click.IntRange(1, 100_000), default=200, help="Canaries of the open round."
)
@click.option("--relay", default="", help="The URL of a relay in front of the first hop.")
@as_json
def canaries(
    name: str, data: Path, database: str, *, count: int, relay: str, as_json: bool
) -> None:
    """Send canary messages of the task NAME through its hops, to notice hops that drop messages.

    Canaries that a call has made are sent by the next one if the first hop could not be reached.
    """
    from sottovoce.collector.canaries import send_unsent, top_up
    from sottovoce.collector.first_hop import FirstHop

    with opened(data, database) as collector:
        published = collector.find(name)
        number = published.last.number
        made = top_up(collector.store, data, published, count)
        sent = send_unsent(collector.store, published, FirstHop(published, number, relay).send)
        counts = collector.store.canary_counts(published.digest, number)
    if as_json:
        print_json({"round": number, "made": made, "sent": sent, "canaries": counts.made})
    else:
        click.echo(f"round {number}: {made} canaries made, {sent} sent, {counts.made} in all")


def task_text(file: Path) -> str:
    """Return the text of a task file."""
    from sottovoce.errors import CodecError

    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CodecError("a task file must be UTF-8 text") from None


def read_task(file: Path) -> "Task":
    """Return the task in a file: its document, or what an operator writes to publish it."""
    from sottovoce.collector import taskfile

    return taskfile.parse(task_text(file), toml=file.suffix == ".toml")


def _facts(published: "Published") -> dict[str, Any]:
    task = published.task
    last = published.last
    return {
        "name": task.name,
        "digest": published.digest,
        "state": published.shown_state,
        "failure": published.record.failure,
        "trouble": published.record.trouble,
        "round": last.number,
        "users": published.users_of(last),
        "epsilon": task.epsilon,
    }
