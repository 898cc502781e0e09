"""What a shell completes: kinds of plans, and the names of the tasks of a collector.

A shell asks while somebody types, so that a collector that cannot be reached completes to nothing.
"""

import os
from pathlib import Path

import click

from sottovoce.errors import SottovoceError

_PATIENCE = 2.0  # seconds for which a shell may wait


def plan_kinds(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the kinds of plans that begin with what was typed."""
    from sottovoce.cli.task_template import kinds

    return [kind for kind in kinds() if kind.startswith(typed)]


def task_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the tasks of the collector that the options or the environment name."""
    given = {
        option: context.params.get(option) or os.environ.get(f"SOTTOVOCE_{option.upper()}", "")
        for option in ("data", "database", "url")
    }
    try:
        names = _names(**given)
    except (SottovoceError, OSError):
        return []
    return [name for name in names if name.startswith(typed)]


def _names(data: Path | str, database: str, url: str) -> list[str]:
    """Return the names of the tasks; an address comes before a folder, as in the commands."""
    if url:
        from sottovoce.client.remote_collector import RemoteCollector

        elsewhere = RemoteCollector(url, timeout=_PATIENCE)  # the list is public: without a token
        return [line["name"] for line in elsewhere.tasks()]
    if not data:
        return []
    from sottovoce.cli.collector_options import opened

    with opened(Path(data), database) as collector:
        return [published.record.name for published in collector.tasks()]
