"""Integrity in the life of a task: examined once sealed, kept after erasure, safe from crashes."""

import json

import pytest

from collector import poisoning
from collector.people import text
from collector.sending import send
from sottovoce.collector import collector as collector_module
from sottovoce.collector import integrity_file
from sottovoce.collector.collector import DAY, Collector
from sottovoce.collector.release import AnswerOptions, released, released_integrity
from sottovoce.collector.resources import Resources
from sottovoce.engine.defended import CORRECTION_BYTES
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.integrity.result import Integrity


def collected(collector, *, poisoned=True, **settings):
    task = poisoning.survey(**settings)
    collector.create(text(task), toml=False)
    sent = poisoning.honest(task) + (poisoning.false(task) if poisoned else [])
    assert set(send(collector, task.name, sent)) == {"accepted"}
    return task


def finish(collector, task):
    collector.close(task.name, at_once=True)
    collector.advance()
    return collector.find(task.name)


def files(collector):
    return sorted(path.name for path in (collector.folder / "sealed").rglob("*") if path.is_file())


def test_every_sealed_round_is_examined(collector):
    published = finish(collector, collected(collector))
    (integrity,) = collector.integrity(published)
    assert {"seed spectrum", "co-support"} <= set(integrity.alarms)
    suspected = {value for each in integrity.suspects for value in each.values}
    assert {str(target) for target in poisoning.TARGETS} <= suspected
    assert files(collector) == ["round-00000.integrity.json", "round-00000.parquet"]


def test_the_answer_says_so_and_is_corrected_on_request(collector):
    published = finish(collector, collected(collector))
    raw = released(collector, published, AnswerOptions())
    assert raw.content["alarms"] == [
        {"round": 0, "tests": list(collector.integrity(published)[0].alarms)}
    ]
    careful = released(collector, published, AnswerOptions(defence="auto"))
    assert careful.content["steps"][0].startswith("seed filter: ")
    gain, raw_gain = (
        sum(
            row["share"] for row in answer.content["rows"] if int(row["value"]) in poisoning.TARGETS
        )
        for answer in (careful, raw)
    )
    print(f"share of the targets: raw {raw_gain:.3f}, corrected {gain:.3f}")
    assert gain < 0.3 * raw_gain


def test_more_reports_than_memory_are_corrected_by_a_sample(collector, clock):
    published = finish(collector, collected(collector))
    memory = 2000 * CORRECTION_BYTES
    small = Collector(collector.store, collector.folder, clock, Resources(memory))
    careful = released(small, published, AnswerOptions(defence="auto")).content
    assert careful["steps"][0] == "sample: 1,750 of 3,500 reports"
    assert careful["rows"] != released(small, published, AnswerOptions()).content["rows"]


def test_an_honest_task_has_no_alarm_and_one_answer(collector):
    published = finish(collector, collected(collector, poisoned=False))
    content = released_integrity(collector, published)
    assert not content["alarm"]
    raw, careful = (
        released(collector, published, AnswerOptions(defence=defence)).content
        for defence in ("none", "auto")
    )
    assert raw == careful
    assert "alarms" not in raw
    assert collector.answer(published.record.name, defence="auto") is collector.answer(
        published.record.name
    )


def test_an_unknown_defence_is_refused(collector):
    published = finish(collector, collected(collector, poisoned=False))
    with pytest.raises(ParameterError, match="`defence` must be one of"):
        released(collector, published, AnswerOptions(defence="strong"))


def test_integrity_survives_erasure_and_holds_no_report(collector, clock):
    task = collected(collector, retention=1)
    published = finish(collector, task)
    before = collector.integrity(published)
    log = (collector.folder / "sealed" / published.digest / "round-00000.parquet").read_bytes()
    assert log
    clock.pass_(2 * DAY)
    collector.advance()
    assert "round-00000.parquet" not in files(collector)
    again = Collector(collector.store, collector.folder, clock)
    published = again.find(task.name)
    assert again.integrity(published) == before
    path = collector.folder / "sealed" / published.digest / "round-00000.integrity.json"
    assert set(json.loads(path.read_text())) == {
        "round",
        "reports",
        "alarm",
        "tests",
        "suspects",
        "share",
    }
    with pytest.raises(NoDataError, match="erased"):
        again.answer(task.name, defence="auto")


class Killed(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("when", ["before writing", "after writing"])
def test_a_crash_around_the_file_changes_nothing(collector, clock, monkeypatch, when):
    task = collected(collector)
    collector.close(task.name, at_once=True)
    write = integrity_file.write

    def dying(path, integrity):
        if when == "after writing":
            write(path, integrity)
        raise Killed

    monkeypatch.setattr(collector_module.integrity_file, "write", dying)
    with pytest.raises(Killed):
        collector.advance()
    assert collector.store.tasks()[0].finished is None
    monkeypatch.setattr(collector_module.integrity_file, "write", write)
    again = Collector(collector.store, collector.folder, clock)
    again.advance()
    published = again.find(task.name)
    assert published.record.finished is not None
    (integrity,) = again.integrity(published)
    assert integrity.alarm
    fresh = Collector(collector.store, collector.folder, clock)
    assert isinstance(fresh.integrity(published)[0], Integrity)
    assert fresh.integrity(published) == again.integrity(published)


def test_what_a_test_cannot_do_does_not_hold_up_a_task(collector, monkeypatch):
    def refusing(*_):
        raise NoDataError("nothing to examine")

    monkeypatch.setattr(collector_module, "examine", refusing)
    published = finish(collector, collected(collector, poisoned=False))
    assert published.record.finished is not None
    assert collector.integrity(published) == []


def test_analysts_read_the_tests_over_http(site):
    task = site.publish(poisoning.survey())
    analyst = site.bearing("analyst")
    path = f"/v1/tasks/{task.name}"
    empty = site.client.get(f"{path}/integrity", headers=analyst).json()
    assert empty == {"name": "drinks", "alarm": False, "rounds": []}
    send(site.collector, task.name, poisoning.honest(task) + poisoning.false(task))
    site.seal(task.name)
    content = site.client.get(f"{path}/integrity", headers=analyst).json()
    assert content["alarm"]
    assert 0.05 < content["rounds"][0]["share"] < 0.25
    metrics = site.client.get("/metrics").text
    assert 'sottovoce_integrity_z{round="0",task="drinks",test="seed spectrum"}' in metrics
    answer = site.client.get(f"{path}/answer?defence=strong", headers=analyst)
    assert answer.status_code == 400
    assert "`defence` must be one of none, auto" in answer.text
