"""Metrics for operators in the text format of Prometheus; nothing about people."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector as Source

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SUFFIX = ".prom"
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The metrics of one process; ``sources`` add the metrics of the service itself.

    Workers that serve one port share the ``folder`` of their metrics, if it is set.  Each of them
    writes its own numbers to a file there at intervals, and reports the sum over all workers.  The
    metrics of ``sources`` are the same for all workers.
    """

    def __init__(self, waiting: Callable[[], int], *sources: Source) -> None:
        self.folder: Path | None = None
        self.worker = 0
        self._registry = CollectorRegistry()
        self._sources = CollectorRegistry()
        registry = self._registry
        self._requests = _Requests()
        registry.register(self._requests)
        self.messages = Counter(
            "sottovoce_messages",
            "Messages by task and outcome.",
            ["task", "outcome"],
            registry=registry,
        )
        self.failures = Counter(
            "sottovoce_failures",
            "Errors in the background, by class.",
            ["error"],
            registry=registry,
        )
        Gauge(
            "sottovoce_waiting_messages", "Messages waiting for the store.", registry=registry
        ).set_function(waiting)
        for source in sources:
            self._sources.register(source)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request; called only from the event loop."""
        self._requests.add(route, status, seconds)

    def count(self, task: str, outcomes: Mapping[str, int]) -> None:
        """Count messages by their outcome."""
        for outcome, count in outcomes.items():
            self.messages.labels(task, outcome).inc(count)

    def text(self) -> bytes:
        """Return all metrics as text."""
        own = generate_latest(self._registry)
        if self.folder is not None:
            self.share()
            own = added([path.read_text() for path in sorted(self.folder.glob(f"*{_SUFFIX}"))])
        return own + generate_latest(self._sources)

    def share(self) -> None:
        """Write the numbers of this process for the other workers."""
        if self.folder is not None:
            self.folder.mkdir(exist_ok=True)
            path = self.folder / f"{self.worker}{_SUFFIX}"
            new = path.with_suffix(".new")
            new.write_bytes(generate_latest(self._registry))
            new.replace(path)


def added(texts: Iterable[str]) -> bytes:
    """Return the sums of metrics that several processes have written."""
    families: dict[str, Metric] = {}
    totals: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
    for text in texts:
        for family in text_string_to_metric_families(text):
            families.setdefault(family.name, family)
            samples = totals.setdefault(family.name, {})
            for sample in family.samples:
                key = (sample.name, tuple(sample.labels.items()))
                samples[key] = samples.get(key, 0.0) + sample.value
    registry = CollectorRegistry()
    registry.register(_Added(families, totals))
    return generate_latest(registry)


class _Added(Source):
    """Families of metrics with other values."""

    def __init__(self, families: Mapping[str, Metric], totals: Mapping[str, Any]) -> None:
        self._families = families
        self._totals = totals

    def collect(self) -> Iterable[Metric]:
        for name, family in self._families.items():
            summed = Metric(name, family.documentation, family.type)
            for (sample, labels), value in self._totals[name].items():
                summed.add_sample(sample, dict(labels), value)
            yield summed


class _Requests(Source):
    """Requests and their durations, kept as plain numbers because every request updates them."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], list[float]] = {}

    def add(self, route: str, status: int, seconds: float) -> None:
        row = self._seen.get((route, status))
        if row is None:
            row = self._seen[route, status] = [0.0] * (len(_SECONDS) + 2)
        row[bisect_left(_SECONDS, seconds)] += 1
        row[-1] += seconds

    def collect(self) -> Iterable[Metric]:
        counts = CounterMetricFamily(
            "sottovoce_requests", "Requests by route and status.", labels=["route", "status"]
        )
        times = HistogramMetricFamily(
            "sottovoce_request_seconds", "Time to answer.", labels=["route", "status"]
        )
        for (route, status), row in list(self._seen.items()):
            labels = [route, str(status)]
            sums = list(accumulate(row[:-1]))
            counts.add_metric(labels, sums[-1])
            times.add_metric(
                labels, list(zip([*map(str, _SECONDS), "+Inf"], sums, strict=True)), row[-1]
            )
        return [counts, times]
