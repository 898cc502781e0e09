"""``sottovoce doctor``: what is missing, wrong or risky, and what to do about it.

It looks at the installation, at a collector's folder with ``--data``, and at a running collector
with ``--url``.  It changes nothing.
"""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from sottovoce import __version__
from sottovoce.cli.collector_options import any_collector, opened, remote
from sottovoce.cli.output import as_json, print_json
from sottovoce.errors import EXTRAS, SottovoceError
from sottovoce.web import folder

GOOD, RISKY, WRONG = "ok", "warning", "wrong"
_MIN_FREE_BYTES = 1 << 30
_NEEDED_TO_SERVE = "server"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: its state, what was seen, and what to do."""

    state: str
    subject: str
    seen: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"\n{'':9}-> {self.remedy}" if self.remedy else ""
        return f"{self.state:<8} {self.subject}: {self.seen}{remedy}"


@click.command("doctor")
@any_collector
@as_json
@click.pass_context
def command(context: click.Context, /, *, as_json: bool, **place: Any) -> None:
    """Look for what is missing, wrong or risky here; nothing is changed.

    The exit code is 1 if something is wrong.
    """
    findings = list(_installation())
    if place["data"] is not None:
        findings += _folder(place["data"], place["database"])
    if place["url"]:
        findings += _server(place["url"], place["token"])
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        click.echo("\n".join(map(str, findings)))
    if any(finding.state == WRONG for finding in findings):
        context.exit(1)


def _installation() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(GOOD, "sottovoce", f"{__version__} on Python {version}")
    missing = _missing_extras()
    for extra, modules in sorted(missing.items()):
        state = RISKY if extra == _NEEDED_TO_SERVE else GOOD
        remedy = f"if you need it: pip install 'sottovoce[{extra}]'"
        yield Finding(state, f"extra {extra}", f"without {', '.join(modules)}", remedy)
    installed = sorted(set(EXTRAS.values()) - set(missing))
    yield Finding(GOOD, "extras", ", ".join(installed) or "none is installed")


def _missing_extras() -> dict[str, list[str]]:
    """Return the modules that are not installed, by the extra that brings them."""
    missing: dict[str, list[str]] = {}
    for module, extra in EXTRAS.items():
        if find_spec(module) is None:
            missing.setdefault(extra, []).append(module)
    return missing


def _folder(data: Path, database: str) -> Iterator[Finding]:
    if not data.is_dir():
        yield Finding(WRONG, str(data), "there is no such folder", "`serve` makes it")
        return
    free = shutil.disk_usage(data).free
    state, remedy = (GOOD, "") if free >= _MIN_FREE_BYTES else (WRONG, "make room, or move it")
    yield Finding(state, "disk", f"{free / (1 << 30):,.1f} GiB free", remedy)
    for concern in folder.concerns(data):
        seen, _, remedy = concern.rpartition(": ")
        yield Finding(RISKY, "folder", seen, remedy)
    try:
        with opened(data, database) as collector:
            collector.store.check()
            tasks = collector.tasks()
    except SottovoceError as error:
        yield Finding(WRONG, "store", str(error))
        return
    yield Finding(GOOD, "store", f"can be read and written, {len(tasks)} tasks")
    for published in tasks:
        if published.record.failure:
            yield Finding(RISKY, f"task {published.record.name}", published.record.failure)
        elif published.record.trouble:
            yield Finding(WRONG, f"task {published.record.name}", published.record.trouble)


def _server(url: str, token: str) -> Iterator[Finding]:
    try:
        collector = remote(url, token)
        tasks = collector.tasks()
    except SottovoceError as error:
        yield Finding(WRONG, url, str(error), "is it running, and is this its address?")
        return
    yield Finding(GOOD, url, f"answers, {len(tasks)} tasks")
    if not token:
        yield Finding(RISKY, "token", "none was given", "--token, or SOTTOVOCE_TOKEN")
        return
    for line in tasks[:1]:
        try:
            collector.status(line["name"])
        except SottovoceError as error:
            yield Finding(WRONG, "token", str(error), "sottovoce token create analyst")
        else:
            yield Finding(GOOD, "token", "is accepted")
