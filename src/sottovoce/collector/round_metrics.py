"""The users and states of rounds as metrics, read when the metrics are requested."""

from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as Source

from sottovoce.collector.published import Published


class RoundMetrics(Source):
    """One row per round of every task."""

    def __init__(self, tasks: Callable[[], list[Published]]) -> None:
        self._tasks = tasks

    def collect(self) -> Iterable[Metric]:
        """Return the metrics as they are now."""
        labels = ["task", "round"]
        users = GaugeMetricFamily(
            "sottovoce_round_users", "Users who answered a round.", labels=labels
        )
        states = GaugeMetricFamily(
            "sottovoce_round_state", "1 for the state of a round.", labels=[*labels, "state"]
        )
        for published in self._tasks():
            for record in published.rounds:
                names = [published.record.name, str(record.number)]
                users.add_metric(names, published.users_of(record))
                states.add_metric([*names, record.state.value], 1)
        return [users, states]
