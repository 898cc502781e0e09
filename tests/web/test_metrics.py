"""Metrics of one process: requests by route, messages by outcome, and how many wait."""

from prometheus_client.parser import text_string_to_metric_families

from sottovoce.web.metrics import Metrics


def samples(metrics):
    """All samples by name and labels."""
    families = text_string_to_metric_families(metrics.text().decode())
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def test_requests_are_counted_by_route_status_and_time():
    metrics = Metrics(lambda: 0)
    for seconds in (0.001, 0.0015, 7.0):
        metrics.request("upload", 200, seconds)
    metrics.request("upload", 400, 0.1)
    read = samples(metrics)
    labels = (("route", "upload"), ("status", "200"))
    assert read["sottovoce_requests_total", *labels] == 3
    assert read["sottovoce_requests_total", ("route", "upload"), ("status", "400")] == 1
    buckets = [
        read["sottovoce_request_seconds_bucket", ("le", bound), *labels]
        for bound in ("0.001", "0.002", "5.0", "+Inf")
    ]
    assert buckets == [1, 2, 2, 3]
    assert read["sottovoce_request_seconds_count", *labels] == 3
    assert abs(read["sottovoce_request_seconds_sum", *labels] - 7.0025) < 1e-9


def test_messages_are_counted_by_task_and_outcome():
    metrics = Metrics(lambda: 0)
    metrics.count("pets", {"accepted": 5, "duplicate": 1})
    metrics.count("pets", {"accepted": 2})
    read = samples(metrics)
    assert read["sottovoce_messages_total", ("outcome", "accepted"), ("task", "pets")] == 7
    assert read["sottovoce_messages_total", ("outcome", "duplicate"), ("task", "pets")] == 1


def test_what_waits_is_asked_when_the_metrics_are():
    waiting = [3]
    metrics = Metrics(lambda: waiting[0])
    assert samples(metrics)["sottovoce_waiting_messages",] == 3
    waiting[0] = 0
    assert samples(metrics)["sottovoce_waiting_messages",] == 0


def test_workers_at_one_door_tell_the_sum_of_all(tmp_path):
    first, second = (Metrics(lambda: 2) for _ in range(2))
    for number, metrics in enumerate((first, second)):
        metrics.folder, metrics.worker = tmp_path / "metrics", number
        metrics.request("/v1/tasks", 200, 0.003)
        metrics.count("pets", {"accepted": 10 + number})
    second.request("/v1/tasks", 404, 0.2)
    second.share()
    text = first.text().decode()
    for line in (
        'sottovoce_messages_total{outcome="accepted",task="pets"} 21.0',
        'sottovoce_requests_total{route="/v1/tasks",status="200"} 2.0',
        'sottovoce_requests_total{route="/v1/tasks",status="404"} 1.0',
        'sottovoce_request_seconds_bucket{le="0.005",route="/v1/tasks",status="200"} 2.0',
        "sottovoce_waiting_messages 4.0",
    ):
        assert line in text, text
    assert text.count("# TYPE sottovoce_messages_total counter") == 1
