"""Batches and canaries of shuffled tasks as metrics, read when the metrics are requested."""

from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as Source

from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Store
from sottovoce.errors import UnavailableError

_LABELS = ["task", "round"]


class ShuffleMetrics(Source):
    """One row per round of every shuffled task."""

    def __init__(self, tasks: Callable[[], list[Published]], store: Store) -> None:
        self._tasks = tasks
        self._store = store

    def collect(self) -> Iterable[Metric]:
        """Return the metrics as they are now; nothing while the store cannot be read."""
        gauges = {
            name: GaugeMetricFamily(f"sottovoce_{name}", about, labels=_LABELS)
            for name, about in (
                ("round_keys", "Round keys that are here."),
                ("set_signatures", "Hops that have signed all keys of the round."),
                ("batch_parts", "Parts of the batch that have come."),
                ("batch_messages", "Messages in the opened parts of the batch."),
                ("batch_unopened", "Messages that were not sealed for their round."),
                ("batch_duplicates", "Messages whose report was here already."),
                ("canaries_sent", "Canaries that the first hop has acknowledged."),
                ("canaries_found", "Canaries that were in the batch."),
            )
        }
        try:
            for published in self._tasks():
                if published.task.shuffle is not None:
                    self._add(gauges, published)
        except UnavailableError:
            return []
        return list(gauges.values())

    def _add(self, gauges: dict[str, GaugeMetricFamily], published: Published) -> None:
        for record in published.rounds:
            labels = [published.record.name, str(record.number)]
            batch = self._store.batch(record.task, record.number)
            canaries = self._store.canary_counts(record.task, record.number)
            counts = {
                "round_keys": len(self._store.round_keys(record.task, record.number)),
                "set_signatures": len(self._store.set_signatures(record.task, record.number)),
                "batch_parts": 0 if batch is None else batch.received,
                "batch_messages": 0 if batch is None else batch.messages,
                "batch_unopened": 0 if batch is None else batch.unopened,
                "batch_duplicates": 0 if batch is None else batch.duplicates,
                "canaries_sent": canaries.sent,
                "canaries_found": canaries.found,
            }
            for name, count in counts.items():
                gauges[name].add_metric(labels, count)
