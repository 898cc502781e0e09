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
    from sottovoce.domain import Buckets
    from sottovoce.domains.bits import Bits
    from sottovoce.domains.sets import Sets
    from sottovoce.domains.strings import Strings
    from sottovoce.engine.local import answer
    from sottovoce.frequencies.histogram import Histogram
    from sottovoce.frequencies.survey import Survey
    from sottovoce.frequencies.tracking import Tracking
    from sottovoce.heavyhitters.pem import HeavyHitters
    from sottovoce.itemsets.dbs import AdaptiveTopItems
    from sottovoce.itemsets.svim import TopItems
    from sottovoce.itemsets.svsm import Itemsets
    from sottovoce.lab.simulate import simulate
    from sottovoce.marginals.marginals import Marginals
    from sottovoce.numbers.distribution import Distribution
    from sottovoce.numbers.mean import Mean
    from sottovoce.queries.joint import Joint
    from sottovoce.queries.table import Table
    from sottovoce.task import Task

__version__ = "0.1.0"

_HOMES = {
    "AdaptiveTopItems": "sottovoce.itemsets.dbs",
    "Answer": "sottovoce.answers",
    "Answers": "sottovoce.answers",
    "Bits": "sottovoce.domains.bits",
    "Buckets": "sottovoce.domain",
    "Client": "sottovoce.client.client",
    "Collection": "sottovoce.collection",
    "Device": "sottovoce.client.device",
    "Distribution": "sottovoce.numbers.distribution",
    "HeavyHitters": "sottovoce.heavyhitters.pem",
    "Histogram": "sottovoce.frequencies.histogram",
    "Itemsets": "sottovoce.itemsets.svsm",
    "Joint": "sottovoce.queries.joint",
    "Ledger": "sottovoce.client.ledger:DiskLedger",
    "Marginals": "sottovoce.marginals.marginals",
    "Mean": "sottovoce.numbers.mean",
    "Sets": "sottovoce.domains.sets",
    "Strings": "sottovoce.domains.strings",
    "Survey": "sottovoce.frequencies.survey",
    "Table": "sottovoce.queries.table",
    "Task": "sottovoce.task",
    "TopItems": "sottovoce.itemsets.svim",
    "Tracking": "sottovoce.frequencies.tracking",
    "Window": "sottovoce.budget",
    "advise": "sottovoce.advice",
    "answer": "sottovoce.engine.local",
    "audit": "sottovoce.auditing",
    "simulate": "sottovoce.lab.simulate",
}

__all__ = [
    "AdaptiveTopItems",
    "Answer",
    "Answers",
    "Bits",
    "Buckets",
    "Client",
    "Collection",
    "Device",
    "Distribution",
    "HeavyHitters",
    "Histogram",
    "Itemsets",
    "Joint",
    "Ledger",
    "Marginals",
    "Mean",
    "Sets",
    "Strings",
    "Survey",
    "Table",
    "Task",
    "TopItems",
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
