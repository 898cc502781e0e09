"""``sottovoce shuffle``: run a shuffler between devices and a collector, and look after it."""

import json
from pathlib import Path
from typing import Any

import click

from sottovoce.cli.collector_options import data
from sottovoce.cli.output import as_json, print_json, warn
from sottovoce.cli.server_options import SECONDS, listening, stopping

_ROUND = click.argument("round_number", metavar="ROUND", type=click.IntRange(min=0))
_TASK = click.argument("task")


@click.group("shuffle")
def command() -> None:
    """Mix the messages of a shuffled task, apart from its collector."""


@command.command("serve")
@data
@listening("message")
@click.option(
    "--poll-seconds",
    type=SECONDS,
    help="Seconds between two looks at what the collectors ask.  [default: 10]",
)
@click.option(
    "--mix-bytes",
    type=click.IntRange(min=1 << 20),
    help="Bytes of messages that are held at once while a batch is mixed.  [default: 256 MiB]",
)
@click.option(
    "--mix-processes",
    type=click.IntRange(min=0),
    help="Processes that open the messages of a large batch; 0 takes one per core.  [default: 0]",
)
@stopping
@as_json
def serve_command(data: Path, database: str, *, as_json: bool, **options: Any) -> None:
    """Take sealed messages, mix them in batches, and hand the batches on.

    Every option can also be set in the environment: SOTTOVOCE_PORT, SOTTOVOCE_RATE and so on.
    Put a reverse proxy in front for TLS: see docs/shuffler.md.
    """
    from sottovoce.shuffler.run import serve
    from sottovoce.shuffler.settings import ShufflerSettings
    from sottovoce.web.settings import read_settings

    given = {**options, "data": data, "database": database or None}
    settings = read_settings(ShufflerSettings, given)

    def announce(url: str) -> None:
        if as_json:
            click.echo(json.dumps({"url": url, "data": str(data)}))
        else:
            click.echo(f"Shuffler: {url}   data: {data}   stop: Ctrl-C")

    serve(settings, announce, warn)


@command.command("key")
@data
@as_json
def key(data: Path, database: str, *, as_json: bool) -> None:
    """Print the long-term public key of this hop; it is made if there is none.

    The key stands in the documents of the tasks in which this hop takes part.
    """
    from sottovoce.core.base64url import text_of
    from sottovoce.shuffler.signing_key import make_signing_key

    text = text_of(make_signing_key(data).public_key)
    if as_json:
        print_json({"key": text})
    else:
        click.echo(text)


@command.command("add")
@click.argument("document")
@data
@click.option(
    "--collector",
    help="The address of the task's collector; not needed if DOCUMENT is an address.",
)
@click.option("--yes", is_flag=True, help="Add the task without asking.")
@as_json
def add(
    document: str, data: Path, database: str, *, collector: str | None, yes: bool, as_json: bool
) -> None:
    """Add a task: DOCUMENT is the file of its document, or its address at the collector.

    Read what the task asks of people before you add it: from then on this hop takes part in it.
    """
    from sottovoce.shuffler.review import fetch, review

    text, found = fetch(document, collector)
    with _opened(data, database) as shuffler:
        lines = review(text, found, shuffler.signing.public_key)
        if not yes and not as_json:
            click.echo("\n".join(lines))
            click.confirm("Add this task?", abort=True)
        task, new = shuffler.add(text, found)
    if as_json:
        print_json({"task": task.address_name, "name": task.notice.name, "new": new})
    else:
        click.echo(f"{'Added' if new else 'Was added before'}: {task.address_name}")


@command.command("status")
@data
@as_json
def status(data: Path, database: str, *, as_json: bool) -> None:
    """Print the tasks of this hop, their rounds, and what each batch promises."""
    import msgspec

    from sottovoce.shuffler.status import hop_status

    with _opened(data, database) as shuffler:
        now = hop_status(shuffler)
    if as_json:
        print_json(msgspec.to_builtins(now))
        return
    click.echo(f"key {now.key}")
    for task in now.tasks:
        ended = ", ended" if task.finished else ""
        click.echo(f"{task.name}  {task.task}  hop {task.hop + 1} of {len(task.hops)}{ended}")
        for line in task.rounds:
            facts = f"round {line.number}  {line.state}  {line.messages:,} messages"
            if line.privacy is not None:
                facts += (
                    f"  batch of {line.batch:,}, epsilon {line.privacy.central:.3g} against the"
                    f" collector, {line.privacy.against_users:.3g} against it and all other users"
                    f" (delta {line.privacy.delta:g}), {line.privacy.local:g} against everybody"
                )
            click.echo(f"  {facts}" + (f"  ({line.trouble})" if line.trouble else ""))


@command.command("release")
@_TASK
@_ROUND
@data
@as_json
def release(task: str, round_number: int, data: Path, database: str, *, as_json: bool) -> None:
    """Close ROUND of TASK now; refused below the users that its document promises."""
    with _opened(data, database) as shuffler:
        shuffler.release(shuffler.find(task), round_number)
    if as_json:
        print_json({"round": round_number, "closed": True})
    else:
        click.echo(f"Round {round_number} is closed; it will be mixed and delivered.")


@command.command("abandon")
@_TASK
@_ROUND
@data
@click.option("--yes", is_flag=True, help="Erase without asking.")
@as_json
def abandon(
    task: str, round_number: int, data: Path, database: str, *, yes: bool, as_json: bool
) -> None:
    """Erase everything of ROUND of TASK; nothing of it will be delivered."""
    if not yes and not as_json:
        click.confirm("Erase all messages of this round? They cannot be restored.", abort=True)
    with _opened(data, database) as shuffler:
        shuffler.abandon(shuffler.find(task), round_number)
    if as_json:
        print_json({"round": round_number, "abandoned": True})
    else:
        click.echo(f"Round {round_number} is abandoned and erased.")


def _opened(data: Path, database: str) -> Any:
    """Return the shuffler of a folder, open while a block lasts."""
    from sottovoce.shuffler.run import opened_shuffler
    from sottovoce.shuffler.settings import ShufflerSettings

    return opened_shuffler(ShufflerSettings(data=data, database=database))
