"""The tests of sealed rounds as metrics, read when the metrics are requested."""

from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as Source

from sottovoce.collector.published import Published
from sottovoce.errors import SottovoceError
from sottovoce.integrity.result import Integrity


class IntegrityMetrics(Source):
    """The statistic and the threshold of every test of every sealed round."""

    def __init__(
        self,
        tasks: Callable[[], list[Published]],
        integrity: Callable[[Published], list[Integrity]],
    ) -> None:
        self._tasks = tasks
        self._integrity = integrity

    def collect(self) -> Iterable[Metric]:
        """Return the metrics as they are now; what cannot be read is left out."""
        labels = ["task", "round", "test"]
        statistics = GaugeMetricFamily(
            "sottovoce_integrity_z", "Statistic of a test of a sealed round.", labels=labels
        )
        thresholds = GaugeMetricFamily(
            "sottovoce_integrity_threshold",
            "Statistic above which honest reports are implausible.",
            labels=labels,
        )
        for published in self._tasks():
            for integrity in self._read(published):
                for test in integrity.tests:
                    names = [published.record.name, str(integrity.round), test.name]
                    statistics.add_metric(names, test.statistic)
                    thresholds.add_metric(names, test.threshold)
        return [statistics, thresholds]

    def _read(self, published: Published) -> list[Integrity]:
        try:
            return self._integrity(published)
        except SottovoceError:
            return []
