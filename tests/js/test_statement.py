"""Python and JavaScript tell the owner of a device the same, word for word."""

import json

import pytest

from js.collector import ROOT
from recorder.recording import PLAN_GROUPS
from sottovoce.client.client import notice_of
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.spending import spending
from sottovoce.tasks.budget import Spend, SpendingWindow
from sottovoce.wire import codec
from sottovoce.wire.statement import TEXTS, explain, statement

GOLDEN = ("discovery", "envelope", "longitudinal", "marginals", "tables", "task_id")
TIME = 1_000_000.0
CAP = 1234.5
WINDOWS = (SpendingWindow(0.5, 1.0, 1), SpendingWindow(5_400, 2.5, 4), SpendingWindow(86_400, 3.0, 3), SpendingWindow(604_800, 1500.0, 10_000))
CHARGES = [("one", 0.1, TIME - 90_000), ("two", 0.2, TIME - 100), ("three", 1.0, TIME)]
COLLECTION = {
    "kind": "collection",
    "crowd": 1000,
    "enrolment": True,
    "grace": 60,
    "minimum": 2000,
    "quota": 0,
    "retention": 1,
    "sandbox": False,
    "seconds": 0,
}
LABORATORY = ("cbp", "hash", "spm")  # plans that no device answers
UNKNOWN = tuple(f"ParameterError: unknown {noun} kind" for noun in ("mechanism", "encoding", "family"))


def golden_tasks():
    """Return the documents of all tasks in the golden files, each once."""
    documents = {}
    for name in GOLDEN:
        sections = json.loads((ROOT / "tests" / "golden" / f"{name}.json").read_text("ascii"))
        rows = [row for section in sections.values() if isinstance(section, list) for row in section]
        for content in [row.get("content", row.get("task")) for row in rows]:
            if isinstance(content, dict) and content.get("kind") == "task":
                documents[codec.canonical(content)] = content
    return list(documents.values())


def recorder_tasks():
    """Return the documents of the product's tasks in the recorder."""
    groups = {group: make() for group, make in PLAN_GROUPS.items() if group not in LABORATORY}
    tasks = [case.task(f"{group} {name}") for group, cases in groups.items() for name, case in cases.items()]
    return [codec.document(task) for task in tasks]


def changed(content):
    """Yield a task with a description and promises, and its rehearsal."""
    odd = 'What {task} costs: “nothing”.\n$& $1 <b>é</b> {0} "quoted" \\n'
    yield {**content, "description": odd, "collection": COLLECTION}
    yield {**content, "collection": {**COLLECTION, "sandbox": True, "enrolment": False, "crowd": 0, "retention": 90}}


def charged_ledger():
    """Return a ledger with the charges."""
    times = [TIME - 100_000]
    ledger = DiskLedger(":memory:", cap=CAP, windows=WINDOWS, clock=lambda: times[-1])
    for task, epsilon, time in CHARGES:
        times.append(time)
        ledger.answer(Spend(task, epsilon), lambda: b"message")
    return ledger


@pytest.fixture(scope="module")
def compared(worker):
    """Return every task with its statement in Python and in JavaScript."""
    tasks = [*golden_tasks(), *recorder_tasks()]
    contents = [*tasks, *(variant for content in tasks for variant in changed(content))]
    given = {
        "texts": [codec.canonical(content) for content in contents],
        "cap": CAP,
        "windows": [
            {"seconds": window.seconds, "epsilon": window.epsilon, "reports": window.reports} for window in WINDOWS
        ],
        "charges": [
            {"task": task, "name": task, "epsilon": repr(epsilon), "time": time} for task, epsilon, time in CHARGES
        ],
        "time": TIME,
    }
    device = spending(charged_ledger())
    ours = [explain({**statement(notice_of(content)), "device": device}) for content in contents]
    return list(zip(contents, ours, worker.run("statements", given), strict=True))


def is_unknown(row):
    """Return whether JavaScript does not know a kind of the task: it belongs to the laboratory."""
    _, _, theirs = row
    return theirs.startswith(UNKNOWN)


def test_the_text_is_the_same_word_for_word(compared):
    known = [row for row in compared if not is_unknown(row)]
    different = [(content["name"], ours, theirs) for content, ours, theirs in known if ours != theirs]
    assert not different, different[0]
    assert len(known) > 400


def test_every_sentence_but_those_for_unknown_kinds_is_compared(compared):
    texts = [ours for _, ours, theirs in compared if ours == theirs]
    unseen = [name for name, text in TEXTS["sentences"].items() if not any(stem(text) in one for one in texts)]
    assert unseen == ["other_values", "other_encoding", "other_way"]


def stem(text):
    """Return the longest part of a sentence between the names that are filled in."""
    parts = [part.partition("}")[2] if "}" in part else part for part in text.split("{")]
    return max(parts, key=len)
