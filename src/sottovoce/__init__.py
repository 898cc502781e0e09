"""Sottovoce: collect and analyse personal data under local differential privacy.

Ask everyone, overhear no one.  The names below are the front door; they load when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.advice import advise
    from sottovoce.answers import Answer, Answers
    from sottovoce.auditing import audit
    from sottovoce.budget import Window
    from sottovoce.client.client import Client
    from sottovoce.client.device import Device
    from sottovoce.client.ledger import DiskLedger as Ledger
    from sottovoce.collection import Collection
    from sottovoce.engine.local import answer
    from sottovoce.frequencies.histogram import Histogram
    from sottovoce.frequencies.survey import Survey
    from sottovoce.frequencies.tracking import Tracking
    from sottovoce.lab.simulate import simulate
    from sottovoce.numbers.distribution import Distribution
    from sottovoce.numbers.mean import Mean
    from sottovoce.task import Task

__version__ = "0.1.0"

_HOMES = {
    "Answer": "sottovoce.answers",
    "Answers": "sottovoce.answers",
    "Client": "sottovoce.client.client",
    "Collection": "sottovoce.collection",
    "Device": "sottovoce.client.device",
    "Distribution": "sottovoce.numbers.distribution",
    "Histogram": "sottovoce.frequencies.histogram",
    "Ledger": "sottovoce.client.ledger:DiskLedger",
    "Mean": "sottovoce.numbers.mean",
    "Survey": "sottovoce.frequencies.survey",
    "Task": "sottovoce.task",
    "Tracking": "sottovoce.frequencies.tracking",
    "Window": "sottovoce.budget",
    "advise": "sottovoce.advice",
    "answer": "sottovoce.engine.local",
    "audit": "sottovoce.auditing",
    "simulate": "sottovoce.lab.simulate",
}

__all__ = [
    "Answer",
    "Answers",
    "Client",
    "Collection",
    "Device",
    "Distribution",
    "Histogram",
    "Ledger",
    "Mean",
    "Survey",
    "Task",
    "Tracking",
    "Window",
    "advise",
    "answer",
    "audit",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sottovoce' has no attribute {name!r}")
    home, _, original = _HOMES[name].partition(":")
    found = getattr(import_module(home), original or name)
    globals()[name] = found
    return found
