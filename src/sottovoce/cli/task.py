"""``sottovoce task``: write task files, check, publish and list tasks, close their rounds."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli import promises
from sottovoce.cli.collector_options import any_collector, data, opened, remote
from sottovoce.cli.completion import plan_kinds, task_names
from sottovoce.cli.output import as_json, print_json, warn

if TYPE_CHECKING:
    from sottovoce.client.remote_collector import RemoteCollector
    from sottovoce.collector.published import Published
    from sottovoce.tasks.task import Task


@click.group("task")
def command() -> None:
    """Write, check, publish, list, show and close tasks."""


@command.command("create")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@any_collector
@as_json
def create(file: Path, *, as_json: bool, **place: Any) -> None:
    """Publish the task in a TOML or JSON FILE; a published task never changes."""
    if place["url"]:
        created = remote(place["url"], place["token"]).publish(file)
        for concern in created.get("concerns", ()):
            warn(concern)
        print_json(created) if as_json else click.echo(_published_line(created))
        return
    from sottovoce.wire import codec, integrity

    text = task_text(file)
    with opened(place["data"], place["database"], new=True) as collector:
        published, new = collector.create(text, toml=file.suffix == ".toml")
    for concern in published.concerns:
        warn(concern)
    notice = codec.notice(codec.parse(published.record.document))
    if as_json:
        influence = integrity.influence(notice.opening.ask, notice.collection)
        concerns = list(published.concerns)
        facts = {**_facts(published), "new": new, "concerns": concerns, "influence": influence}
        facts["moved"] = [number.to_dict() for number in published.task.moved_numbers]
        print_json({**facts, **promises.facts(published.task)})
        return
    click.echo(_published_line({**_facts(published), "new": new}))
    click.echo(" ".join(integrity.sentences(notice, published.task.moved_numbers)))
    for line in promises.lines(published.task):
        click.echo(line)


def _published_line(created: dict[str, Any]) -> str:
    state = "published" if created["new"] else "already here"
    return f"{state}: {created['name']}  digest {created['digest']}"


@command.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--users",
    type=click.IntRange(min=1),
    help="How many people will answer (default: the quota of the task, or 10,000).",
)
@click.option(
    "--sql", "queries", multiple=True, metavar="QUERY", help="A query that you want to ask later."
)
@as_json
def check(file: Path, *, users: int | None, queries: tuple[str, ...], as_json: bool) -> None:
    """Show what the task in FILE would ask and give; nothing is published.

    Prints the statement that people will read, the expected error, the price, what one false report
    can do, and concerns.
    """
    from sottovoce.collector import taskfile
    from sottovoce.collector.task_check import TaskCheck

    task = taskfile.read(task_text(file), toml=file.suffix == ".toml")
    checked = TaskCheck.of(task, users, queries)
    if as_json:
        print_json(checked.to_dict())
    else:
        click.echo(str(checked))


@command.command("init")
@click.argument("kind", shell_complete=plan_kinds)
@as_json
def init(kind: str, *, as_json: bool) -> None:
    """Print a commented task file for a KIND of plan, such as histogram or table.

    \b
    sottovoce task init histogram > browser.toml
    """
    from sottovoce.cli.task_template import template

    if as_json:
        print_json({"kind": kind, "text": template(kind)})
    else:
        click.echo(template(kind), nl=False)


@command.command("list")
@any_collector
@as_json
def list_(*, as_json: bool, **place: Any) -> None:
    """List all tasks with their state."""
    from rich.console import Console
    from rich.table import Table

    if place["url"]:
        elsewhere = remote(place["url"], place["token"])
        tasks = [_remote_facts(elsewhere, line) for line in elsewhere.tasks()]
    else:
        with opened(place["data"], place["database"]) as collector:
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
@click.argument("name", shell_complete=task_names)
@any_collector
@as_json
def show(name: str, *, as_json: bool, **place: Any) -> None:
    """Show what the task NAME promises its users, or its document with --json."""
    from sottovoce.wire import codec, integrity
    from sottovoce.wire.statement import explain, statement

    task, facts = _shown(name, place)
    document = codec.document(task)
    notice = codec.notice(document)
    if as_json:
        facts = {**facts, **promises.facts(task)}
        print_json({**facts, "statement": statement(notice), "document": document})
    else:
        click.echo(explain(statement(notice)))
        click.echo(" ".join(integrity.sentences(notice, task.moved_numbers)))
        for line in promises.lines(task):
            click.echo(line)


def _shown(name: str, place: dict[str, Any]) -> "tuple[Task, dict[str, Any]]":
    """Return a task and its progress."""
    if place["url"]:
        elsewhere = remote(place["url"], place["token"])
        task = elsewhere.task(name)  # first: the list has only names that are there
        line = next(line for line in elsewhere.tasks() if line["name"] == name)
        return task, _remote_facts(elsewhere, line)
    with opened(place["data"], place["database"]) as collector:
        published = collector.find(name)
    return published.task, _facts(published)


@command.command("close")
@click.argument("name", shell_complete=task_names)
@any_collector
@click.option("--now", is_flag=True, help="Close at once, without grace for late reports.")
@click.option(
    "--force",
    is_flag=True,
    help="Close even with too few users, without asking: the task then fails.",
)
@as_json
def close(name: str, *, now: bool, force: bool, as_json: bool, **place: Any) -> None:
    """Close the open round of the task NAME; a closed round never opens again.

    A task fails for ever if its round has too few users for a release: a terminal is asked, and
    without a terminal or with --json such a round is closed only with --force.
    """
    from sottovoce.core.too_few_users import TooFewUsersError

    try:
        facts = _closed(name, place, now=now, force=False)
    except TooFewUsersError as refusal:
        if force:
            warn(f"too few users have answered: the task {name} fails for ever")
        elif sys.stdin.isatty() and not as_json:
            warn(str(refusal))
            click.confirm(
                "Close it by force, so that the task fails for ever?", abort=True, err=True
            )
        else:
            raise
        facts = _closed(name, place, now=now, force=True)
    if as_json:
        print_json(facts)
    else:
        reason = f": {facts['failure']}" if facts["failure"] else ""
        click.echo(f"{name}: {facts['state']}{reason}")


def _closed(name: str, place: dict[str, Any], *, now: bool, force: bool) -> dict[str, Any]:
    """Close the open round of a task, and return the progress of the task."""
    from sottovoce.errors import StateError

    if place["url"]:
        return remote(place["url"], place["token"]).close(name, at_once=now, force=force)
    with opened(place["data"], place["database"]) as collector:
        if not force:
            collector.refresh()
            collector.find(name).check_enough_users()
        if not collector.close(name, at_once=now):
            raise StateError("this task has no round to close")
        collector.advance()
        return _facts(collector.find(name))


@command.command("canaries")
@click.argument("name", shell_complete=task_names)
@data
@click.option(
    "--count", type=click.IntRange(1, 100_000), default=200, help="Canaries of the open round."
)
@click.option(
    "--relay", default="", show_default=False, help="The URL of a relay in front of the first hop."
)
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


def _remote_facts(elsewhere: "RemoteCollector", line: dict[str, Any]) -> dict[str, Any]:
    """Return what a collector at an address lists about a task, with its progress."""
    status = elsewhere.status(line["name"])
    last = status["rounds"][-1]
    progress = {key: status[key] for key in ("state", "failure", "trouble")}
    return {**line, **progress, "round": last["number"], "users": last["users"]}


def task_text(file: Path) -> str:
    """Return the text of a task file."""
    from sottovoce.errors import CodecError

    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CodecError("a task file must be UTF-8 text") from None


def read_task(file: Path) -> "Task":
    """Return the task in a file: its document, or what an operator writes to publish it."""
    from sottovoce.tasks.task import Task

    return Task.load(file)


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
