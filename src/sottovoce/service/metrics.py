"""Counters for operators, in the text format of Prometheus: counts and durations, never who or what."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as Source

from sottovoce.service.published import Published
from sottovoce.service.wire import Outcome

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The counters of one process; one process writes, so nothing is split over workers."""

    def __init__(self, tasks: Callable[[], list[Published]], waiting: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        registry = self._registry
        self.requests = Counter(
            "sottovoce_requests", "Requests by route and status.", ["route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "sottovoce_request_seconds", "Time to answer a request.", ["route"], registry=registry, buckets=_SECONDS
        )
        self.messages = Counter(
            "sottovoce_messages", "Messages by task and outcome.", ["task", "outcome"], registry=registry
        )
        self.failures = Counter(
            "sottovoce_failures", "Errors in the background, by class.", ["error"], registry=registry
        )
        Gauge("sottovoce_waiting_messages", "Messages waiting for the store.", registry=registry).set_function(waiting)
        registry.register(_Rounds(tasks))

        self._requests: dict[tuple[str, int], tuple[Counter, Histogram]] = {}  # labels are slow to look up

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._requests.get((route, status))
        if found is None:
            found = self.requests.labels(route, str(status)), self.seconds.labels(route)
            self._requests[route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def count(self, task: str, outcome: Outcome) -> None:
        """Count the messages of an upload."""
        for key, count in (("accepted", outcome.accepted), ("duplicate", outcome.duplicates)):
            if count:
                self.messages.labels(task, key).inc(count)
        for one in outcome.refused:
            self.messages.labels(task, one.code).inc()

    def text(self) -> bytes:
        """Return all of them as text."""
        return generate_latest(self._registry)


class _Rounds(Source):
    """The users and states of rounds, read when somebody asks."""

    def __init__(self, tasks: Callable[[], list[Published]]) -> None:
        self._tasks = tasks

    def collect(self) -> Iterable[Metric]:
        users = GaugeMetricFamily("sottovoce_round_users", "Users who answered a round.", labels=["task", "round"])
        states = GaugeMetricFamily(
            "sottovoce_round_state", "1 for the state of a round.", labels=["task", "round", "state"]
        )
        for published in self._tasks():
            for one in published.rounds:
                users.add_metric([published.record.name, str(one.number)], one.users)
                states.add_metric([published.record.name, str(one.number), one.state.value], 1)
        return [users, states]
