"""Messages, docstrings and pages advise to call methods: every one of them exists."""

import ast
import re
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.answers.exported import ExportedAnswer
from sottovoce.answers.outcome import Outcome
from sottovoce.collector.collector import Collector
from sottovoce.tasks.budget import Ledger
from sottovoce.tasks.plan import Plan

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
    *sorted((ROOT / "docs" / "journeys").glob("*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
    ROOT / "README.md",
]
SOURCES = sorted((ROOT / "src" / "sottovoce").rglob("*.py"))
RECEIVERS = "answer|answers|client|collector|db|device|ledger|outcome|plan|sv|task"
CALL = re.compile(rf"(?<![\w.])({RECEIVERS})\.([A-Za-z_]\w*)\(")
JAVASCRIPT = re.compile(r"```(?:js|html|ts)[^\n]*\n.*?```", re.DOTALL)


def descendants(kind):
    """Return a class and every class that is made of it."""
    found = {kind}
    for child in kind.__subclasses__():
        found |= descendants(child)
    return found


def classes_behind():
    """Return the classes that a word of the documentation stands for."""
    plans = list(Plan.kinds.classes())  # loads the modules that define outcomes
    assert len(plans) > 5
    outcomes = {*descendants(Outcome), ExportedAnswer}
    return {
        "answer": outcomes,
        "answers": outcomes,
        "client": {sv.Client},
        "collector": {sv.Collector, sv.AsyncCollector, Collector},
        "db": outcomes,
        "outcome": outcomes,
        "plan": descendants(Plan),
        "device": {sv.Device, sv.AsyncDevice},
        "ledger": descendants(Ledger),
        "task": {sv.Task},
    }


CLASSES = classes_behind()


def missing(text):
    """Return the calls in a text that nothing answers."""
    gone = []
    for word, method in CALL.findall(text):
        owners = [sv] if word == "sv" else CLASSES[word]
        if not any(hasattr(owner, method) for owner in owners):
            gone.append(f"{word}.{method}(")
    return gone


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_methods_that_a_page_names_exist(page):
    assert missing(JAVASCRIPT.sub("", page.read_text(encoding="utf-8"))) == []


def test_methods_that_messages_and_docstrings_name_exist():
    """Only texts are looked at: mypy knows the rest."""
    gone = {}
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        if CALL.search(text) is None:
            continue
        texts = [
            node.value
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        found = missing("\n".join(texts))
        if found:
            gone[source.relative_to(ROOT).as_posix()] = found
    assert gone == {}


def test_a_method_that_is_gone_is_noticed():
    assert missing("call answer.frequencies() or sv.colect(), not answer.rows()") == [
        "answer.frequencies(",
        "sv.colect(",
    ]


@pytest.mark.parametrize("receiver", RECEIVERS.split("|"))
def test_every_receiver_is_looked_at(receiver):
    assert missing(f"`{receiver}.divine(epsilon)`") == [f"{receiver}.divine("]
