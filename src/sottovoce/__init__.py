"""Sottovoce: collect and analyse personal data under local differential privacy.

Ask everyone, overhear no one.  The names below are the front door; they load when they are first
used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sottovoce.errors import (
    AccessError,
    BudgetError,
    CodecError,
    ConcernWarning,
    DomainError,
    MismatchError,
    MissingExtraError,
    NoDataError,
    ParameterError,
    SottovoceError,
    StateError,
    UnavailableError,
)

if TYPE_CHECKING:
    from sottovoce.answers.answer import Answer
    from sottovoce.answers.answers import Answers
    from sottovoce.answers.exported import ExportedAnswer
    from sottovoce.client.accepts import Accepts
    from sottovoce.client.async_device import AsyncDevice
    from sottovoce.client.client import Client
    from sottovoce.client.device import Device
    from sottovoce.client.ledger import DiskLedger as Ledger
    from sottovoce.client.remote_collector import AsyncCollector
    from sottovoce.client.remote_collector import RemoteCollector as Collector
    from sottovoce.domains.bits import Bits
    from sottovoce.domains.buckets import Buckets
    from sottovoce.domains.dates import Dates
    from sottovoce.domains.sets import Sets
    from sottovoce.domains.strings import Strings
    from sottovoce.engine.memory import answer
    from sottovoce.lab.audit import audit
    from sottovoce.lab.compare import compare
    from sottovoce.lab.simulate import simulate
    from sottovoce.plans.advise import advise
    from sottovoce.plans.frequencies.histogram import Histogram
    from sottovoce.plans.frequencies.survey import Survey
    from sottovoce.plans.frequencies.tracking import Tracking
    from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
    from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
    from sottovoce.plans.itemsets.itemsets import Itemsets
    from sottovoce.plans.itemsets.top_items import TopItems
    from sottovoce.plans.marginals.marginals import Marginals
    from sottovoce.plans.numbers.distribution import Distribution
    from sottovoce.plans.numbers.mean import Mean
    from sottovoce.plans.tables.joint import Joint
    from sottovoce.plans.tables.table import Table
    from sottovoce.tasks.budget import SpendingWindow
    from sottovoce.tasks.collection import Collection
    from sottovoce.tasks.task import Task

__version__ = "0.1.0"

_HOMES = {
    "Accepts": "sottovoce.client.accepts",
    "AdaptiveTopItems": "sottovoce.plans.itemsets.adaptive_top_items",
    "Answer": "sottovoce.answers.answer",
    "Answers": "sottovoce.answers.answers",
    "AsyncCollector": "sottovoce.client.remote_collector",
    "AsyncDevice": "sottovoce.client.async_device",
    "Bits": "sottovoce.domains.bits",
    "Buckets": "sottovoce.domains.buckets",
    "Dates": "sottovoce.domains.dates",
    "Client": "sottovoce.client.client",
    "Collection": "sottovoce.tasks.collection",
    "Collector": "sottovoce.client.remote_collector:RemoteCollector",
    "Device": "sottovoce.client.device",
    "Distribution": "sottovoce.plans.numbers.distribution",
    "ExportedAnswer": "sottovoce.answers.exported",
    "HeavyHitters": "sottovoce.plans.heavy_hitters.heavy_hitters",
    "Histogram": "sottovoce.plans.frequencies.histogram",
    "Itemsets": "sottovoce.plans.itemsets.itemsets",
    "Joint": "sottovoce.plans.tables.joint",
    "Ledger": "sottovoce.client.ledger:DiskLedger",
    "Marginals": "sottovoce.plans.marginals.marginals",
    "Mean": "sottovoce.plans.numbers.mean",
    "Sets": "sottovoce.domains.sets",
    "SpendingWindow": "sottovoce.tasks.budget",
    "Strings": "sottovoce.domains.strings",
    "Survey": "sottovoce.plans.frequencies.survey",
    "Table": "sottovoce.plans.tables.table",
    "Task": "sottovoce.tasks.task",
    "TopItems": "sottovoce.plans.itemsets.top_items",
    "Tracking": "sottovoce.plans.frequencies.tracking",
    "advise": "sottovoce.plans.advise",
    "answer": "sottovoce.engine.memory",
    "audit": "sottovoce.lab.audit",
    "compare": "sottovoce.lab.compare",
    "simulate": "sottovoce.lab.simulate",
}

__all__ = [
    "Accepts",
    "AccessError",
    "AdaptiveTopItems",
    "Answer",
    "Answers",
    "AsyncCollector",
    "AsyncDevice",
    "Bits",
    "Buckets",
    "BudgetError",
    "Client",
    "CodecError",
    "Collection",
    "Collector",
    "ConcernWarning",
    "Dates",
    "Device",
    "Distribution",
    "DomainError",
    "ExportedAnswer",
    "HeavyHitters",
    "Histogram",
    "Itemsets",
    "Joint",
    "Ledger",
    "Marginals",
    "Mean",
    "MismatchError",
    "MissingExtraError",
    "NoDataError",
    "ParameterError",
    "Sets",
    "SottovoceError",
    "SpendingWindow",
    "StateError",
    "Strings",
    "Survey",
    "Table",
    "Task",
    "TopItems",
    "Tracking",
    "UnavailableError",
    "advise",
    "answer",
    "audit",
    "compare",
    "simulate",
]


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sottovoce' has no attribute {name!r}")
    home, _, original = _HOMES[name].partition(":")
    try:
        found = getattr(import_module(home), original or name)
    except ModuleNotFoundError as error:
        missing = MissingExtraError.of(error)
        raise (missing or error) from None
    globals()[name] = found
    return found
