"""What a shell completes: kinds of plans, and the names of the tasks in a folder.

A shell asks while somebody types, so that a folder that cannot be read completes to nothing.
"""

import os
from pathlib import Path

import click

from sottovoce.errors import SottovoceError


def plan_kinds(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the kinds of plans that begin with what was typed."""
    from sottovoce.cli.task_template import kinds

    return [kind for kind in kinds() if kind.startswith(typed)]


def task_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the tasks of the folder that ``--data`` or the environment names."""
    from sottovoce.cli.collector_options import opened

    folder = context.params.get("data") or os.environ.get("SOTTOVOCE_DATA")
    if not folder:
        return []
    try:
        with opened(Path(folder), context.params.get("database") or "") as collector:
            names = [published.record.name for published in collector.tasks()]
    except (SottovoceError, OSError):
        return []
    return [name for name in names if name.startswith(typed)]
