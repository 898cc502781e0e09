"""Statistics and thresholds of tests for operators."""

import re
from pathlib import Path

from prometheus_client import CollectorRegistry

from collector.people import counting, published
from sottovoce.collector.integrity_metrics import IntegrityMetrics
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.errors import MismatchError
from sottovoce.integrity.result import Integrity

ALERTS = Path(__file__).parents[2] / "deploy" / "alerts.yaml"


def registered(integrity):
    registry = CollectorRegistry()
    registry.register(IntegrityMetrics(lambda: [published(counting())], integrity))
    return registry


def test_every_test_has_a_statistic_and_a_threshold():
    found = Integrity(0, 50, (PlausibilityTest("seed spectrum", 9.5, 6.0, 1e-9, 50),))
    registry = registered(lambda task: [found])
    labels = {"task": "count", "round": "0", "test": "seed spectrum"}
    assert registry.get_sample_value("sottovoce_integrity_z", labels) == 9.5
    assert registry.get_sample_value("sottovoce_integrity_threshold", labels) == 6.0


def test_a_damaged_file_does_not_take_all_metrics_away():
    def damaged(task):
        raise MismatchError("damaged")

    assert list(registered(damaged).collect()) is not None


def test_the_shipped_alert_compares_the_two():
    rules = ALERTS.read_text(encoding="utf-8")
    (rule,) = re.findall(r"expr: (sottovoce_integrity\S+) > (\S+)", rules)
    names = {metric.name for metric in registered(lambda task: []).collect()}
    assert set(rule) == names
