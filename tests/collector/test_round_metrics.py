"""Users and states of rounds for operators, as they are when somebody asks."""

from dataclasses import replace

from prometheus_client import CollectorRegistry, generate_latest

from collector.people import counting, published
from sottovoce.collector.round_metrics import RoundMetrics


def test_every_round_has_its_users_and_one_state():
    tasks = [published(counting())]
    registry = CollectorRegistry()
    registry.register(RoundMetrics(lambda: tasks))
    labels = {"task": "count", "round": "0"}
    assert registry.get_sample_value("sottovoce_round_users", labels) == 0
    tasks[0] = tasks[0].after(tasks[0].record, [replace(tasks[0].last, users=12)])
    assert registry.get_sample_value("sottovoce_round_users", labels) == 12
    assert registry.get_sample_value("sottovoce_round_state", {**labels, "state": "open"}) == 1
    assert generate_latest(registry).count(b"sottovoce_round_state{") == 1
