"""The statement names every mechanism that a task may use."""

from pathlib import Path

import sottovoce as sv
from sottovoce import mechanisms
from sottovoce.collector.dashboard import statement
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec


def test_every_mechanism_has_its_words():
    modules = [path for folder in mechanisms.__path__ for path in Path(folder).glob("[a-z]*.py")]
    kinds = {path.stem for path in modules if f'kind="{path.stem}"' in path.read_text()}
    assert set(statement.MECHANISMS) == kinds


def test_what_is_asked_follows_from_the_domain():
    asked = {
        "one of 2 values (or prefer not to say)": sv.Histogram(["a"], declinable=True),
        "a whole number from 18 to 1,000": sv.Histogram(range(18, 1001)),
        "a number from 0 to 2.5": sv.Mean(0, 2.5),
        "the interval, one of 20, of a number from -1 to 1": sv.Distribution(-1, 1, 20),
        "one of 2 questions, drawn by a public coin": sv.Survey({"a": ["x", "y"], "b": range(3)}),
        "a text of up to 20 bytes, of which one part, picked by a public coin, is used": sv.HeavyHitters(
            sv.Strings(20)
        ),
        "a text of up to 1 byte, of which one part, picked by a public coin, is used": sv.HeavyHitters(sv.Strings(1)),
        "a value of 48 bits, of which one part, picked by a public coin, is used": sv.HeavyHitters(sv.Bits(48)),
        "a set of 1,657 items, of which one item or none, drawn at random, is used": sv.TopItems(range(1657), 16),
        "a set of 9 items, of which the number of items is used": sv.Itemsets(range(9), 5),
        "a set of 9 items, of which one item, picked by a public coin, is used": sv.AdaptiveTopItems(range(9), 900, 2),
    }
    for words, plan in asked.items():
        notice = codec.publish(sv.Task("task", plan, 1.0))
        assert dict(statement.lines(notice))["Asked"] == f"Every device is asked once for {words}."


def test_a_rehearsal_reveals_nothing():
    task = sv.Task("task", sv.Histogram(["a", "b"]), 1.0, collection=Collection(sandbox=True))
    assert dict(statement.lines(codec.publish(task)))["Reveals"].startswith("Nothing")
