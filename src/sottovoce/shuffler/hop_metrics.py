"""The states and sizes of batches as metrics, read when the metrics are requested."""

from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as Source

from sottovoce.shuffler.wire import HopStatus


class HopMetrics(Source):
    """One row per round of every task; counts of an open round are rounded to 10."""

    def __init__(self, status: Callable[[], HopStatus], flush: Callable[[], None]) -> None:
        self._status = status
        self._flush = flush

    def collect(self) -> Iterable[Metric]:
        """Return the metrics as they are now."""
        self._flush()
        labels = ["task", "round"]
        messages = GaugeMetricFamily(
            "sottovoce_hop_messages", "Messages in a round's inbox.", labels=labels
        )
        batch = GaugeMetricFamily(
            "sottovoce_hop_batch", "Messages in a mixed batch, with fakes.", labels=labels
        )
        dropped = GaugeMetricFamily(
            "sottovoce_hop_dropped", "Messages that did not open.", labels=labels
        )
        states = GaugeMetricFamily(
            "sottovoce_hop_state", "1 for the state of a batch.", labels=[*labels, "state"]
        )
        for task in self._status().tasks:
            for line in task.rounds:
                names = [task.name, str(line.number)]
                messages.add_metric(names, line.messages)
                batch.add_metric(names, line.batch)
                dropped.add_metric(names, line.dropped)
                states.add_metric([*names, line.state], 1)
        return [messages, batch, dropped, states]
