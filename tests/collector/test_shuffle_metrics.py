"""Batches and canaries for operators, as they are when somebody asks."""

from prometheus_client import CollectorRegistry

from collector.people import counting, text
from collector.shuffled import Chain, shuffled_for
from sottovoce.collector import batches
from sottovoce.collector.shuffle_metrics import ShuffleMetrics


def test_every_round_of_a_shuffled_task_has_its_numbers(collector):
    chain = Chain.of(1)
    task = shuffled_for(collector, chain)
    collector.create(text(task), toml=False)
    collector.create(text(counting()), toml=False)
    chain.push(collector, task)
    for number, body in chain.batch(collector, task, [1, 2, 3, 4]).items():
        batches.receive(collector.store, collector.find(task.name), (0, number), body)
    collector.advance()
    registry = CollectorRegistry()
    registry.register(ShuffleMetrics(collector.tasks, collector.store))

    def value(name):
        return registry.get_sample_value(f"sottovoce_{name}", {"task": "mixed", "round": "0"})

    assert value("round_keys") == 2
    assert value("batch_parts") == 2
    assert value("batch_messages") == 4
    assert [value(name) for name in ("batch_unopened", "batch_duplicates")] == [0, 0]
    assert [value(name) for name in ("canaries_sent", "canaries_found")] == [0, 0]
    other = {"task": "count", "round": "0"}
    assert registry.get_sample_value("sottovoce_round_keys", other) is None
    collector.store.close()
    assert value("round_keys") is None, "without a store there are no numbers, and no error"
