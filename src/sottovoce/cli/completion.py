"""What a shell completes: kinds of plans and mechanisms, names of experiments and of tasks.

A shell asks while somebody types, so that what cannot be looked up completes to nothing: a
collector that cannot be reached, or a part of Sottovoce that is not installed.
"""

import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path

import click

from sottovoce.errors import SottovoceError

_PATIENCE = 2.0  # seconds for which a shell may wait


_Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def _begun(candidates: Callable[[click.Context], Iterable[str]]) -> _Completion:
    """Return a completion: the candidates that begin with what was typed."""

    @wraps(candidates)
    def completion(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
        try:
            return [name for name in candidates(context) if name.startswith(typed)]
        except (SottovoceError, OSError, ModuleNotFoundError):
            return []

    return completion


@_begun
def plan_kinds(context: click.Context) -> Iterable[str]:
    """Return the kinds of plans."""
    from sottovoce.cli.task_template import kinds

    return kinds()


@_begun
def mechanism_kinds(context: click.Context) -> Iterable[str]:
    """Return the kinds of mechanisms."""
    from sottovoce.mechanisms.base import Mechanism

    return [mechanism.kind for mechanism in Mechanism.kinds.classes()]


@_begun
def lab_experiments(context: click.Context) -> Iterable[str]:
    """Return the names of the experiments of the laboratory."""
    from sottovoce.lab.experiments.base import experiments

    return experiments()


@_begun
def task_names(context: click.Context) -> Iterable[str]:
    """Return the tasks of the collector that the options or the environment name."""
    given = {
        option: context.params.get(option) or os.environ.get(f"SOTTOVOCE_{option.upper()}", "")
        for option in ("data", "database", "url")
    }
    return _names(**given)


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
