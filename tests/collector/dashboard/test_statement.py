"""The page of a task shows the statement that devices show their owners, under headings."""

import sottovoce as sv
from sottovoce.collector.dashboard.statement import integrity_line, lines
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from sottovoce.wire.statement import explain, statement

PETS = sv.Histogram(["cat", "dog"])


def published(**settings):
    return codec.publish(sv.Task("pets", PETS, 1.0, **settings))


def test_the_sentences_are_those_of_the_device_under_headings():
    notice = published(collection=Collection(crowd=9), description="Which pet?")
    headings = [heading for heading, _ in lines(notice)]
    assert headings == ["Sent in clear", "Cost", "Asked", "Randomised", "Promised", "Described"]
    assert " ".join(text for _, text in lines(notice)) == explain(statement(notice))


def test_a_rehearsal_has_no_heading_without_a_sentence():
    notice = published(collection=Collection(sandbox=True))
    assert [heading for heading, _ in lines(notice)] == ["Cost", "Asked", "Promised", "Described"]
    assert dict(lines(notice))["Cost"].startswith("This is a rehearsal")


def test_what_one_false_report_does_stands_below():
    notice = published(collection=Collection(enrolment=True))
    heading, text = integrity_line(notice)
    assert heading == "False reports"
    assert "One false report can add at most 1.58 people" in text


def test_what_one_false_report_does_to_sums_and_joins_stands_there_too():
    task = sv.Task("people", sv.Table({"age": range(4)}), 1.0)
    _, text = integrity_line(codec.publish(task), task.moved_numbers)
    assert "to the sum of people.age, whose values lie from 0 to 3" in text
