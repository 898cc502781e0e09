"""Metrics for operators in the text format of Prometheus; nothing about people."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector as Source

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The metrics of one process; ``sources`` add what only the service itself can count."""

    def __init__(self, waiting: Callable[[], int], *sources: Source) -> None:
        self._registry = CollectorRegistry()
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
            registry.register(source)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request; called only from the event loop."""
        self._requests.add(route, status, seconds)

    def count(self, task: str, outcomes: Mapping[str, int]) -> None:
        """Count messages by their outcome."""
        for outcome, count in outcomes.items():
            self.messages.labels(task, outcome).inc(count)

    def text(self) -> bytes:
        """Return all metrics as text."""
        return generate_latest(self._registry)


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
