"""Python and JavaScript tell the owner of a device the same, word for word, in every language."""

import json
from dataclasses import asdict

import pytest

import sottovoce as sv
from client.shuffling import Chain, blind_collection
from js.collector import ROOT
from recorder.recording import PLAN_GROUPS
from sottovoce.client.client import notice_of
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.spending import spending
from sottovoce.errors import SottovoceError
from sottovoce.tasks.budget import Spend, SpendingWindow
from sottovoce.wire import codec
from sottovoce.wire.statement import LANGUAGES, explain, statement, texts

GOLDEN = ("discovery", "envelope", "longitudinal", "marginals", "seeds", "tables", "task_id")
REFUSED = ("ParameterError: ", "CodecError: ")  # how the text of a refusal begins
TIME = 1_000_000.0
CAP = 1234.5
WINDOWS = (
    SpendingWindow(0.5, 1.0, 1),
    SpendingWindow(5_400, 2.5, 4),
    SpendingWindow(86_400, 3.0, 3),
    SpendingWindow(604_800, 1500.0, 10_000),
)
CHARGES = (
    {"task": "first", "epsilon": 0.1, "time": TIME - 90_000},
    {"task": "second", "epsilon": 0.2, "time": TIME - 100},
    {"task": "third", "epsilon": 1.0, "time": TIME},
)
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
OPEN = {"enrolment": False, "crowd": 0, "retention": 90}


CHAIN = Chain(("https://mix-a.example.org", "https://mix-b.example.org"))


def golden_tasks():
    """Return the documents of all tasks in the golden files, each once."""
    documents = {}
    for name in GOLDEN:
        sections = json.loads((ROOT / "tests" / "golden" / f"{name}.json").read_text("ascii"))
        for rows in sections.values():
            for row in rows if isinstance(rows, list) else []:
                content = row.get("content", row.get("task"))
                if isinstance(content, dict) and content.get("kind") == "task":
                    documents[codec.canonical(content)] = content
    return list(documents.values())


def recorder_tasks():
    """Return the documents of all tasks in the recorder, those of the laboratory among them."""
    documents = []
    for group, make_cases in PLAN_GROUPS.items():
        for name, case in make_cases().items():
            documents.append(codec.document(case.task(f"{group} {name}")))
    return documents


def shuffled_tasks():
    """Return the documents of shuffled tasks, by one hop and by two, with promises and without."""
    one_hop = CHAIN.shuffle().hops[:1]
    tasks = [
        CHAIN.task(),
        CHAIN.task("enrolled", blind_collection()),
        CHAIN.task(hops=one_hop),
        CHAIN.task(hops=one_hop, fakes=0, against_users=6.0, central=1.0),
        CHAIN.task(fakes=0, against_users=6.0, central=1.0),
        CHAIN.task(fakes=0, against_users=9.0, central=7.0),
    ]
    return [codec.document(task) for task in tasks]


def dated_tasks():
    """Return the documents of tasks about dates of every unit."""
    bounds = {
        "year": ("1990", "2024"),
        "month": ("2024-01", "2024-12"),
        "day": ("2024-05-01", "2024-05-31"),
        "hour": ("2024-05-01T00", "2024-05-01T23"),
        "minute": ("2024-05-01T00:00", "2024-05-01T09:30"),
    }
    plans = {unit: sv.Histogram(sv.Dates(*ends)) for unit, ends in bounds.items()}
    return [codec.document(sv.Task(unit, plan, 1.0)) for unit, plan in plans.items()]


def variants(content):
    """Yield a task with a description and promises, and its rehearsal."""
    description = 'What {task} costs: “nothing”. $& $1 <b>é</b> {0} "quoted" «all» \\n'
    yield {**content, "description": description, "collection": COLLECTION}
    yield {**content, "collection": {**COLLECTION, **OPEN}}
    yield {**content, "collection": {**COLLECTION, "sandbox": True}}


def device_facts():
    """Return what a device with the charges has spent."""
    times = [TIME - 100_000]
    ledger = DiskLedger(":memory:", cap=CAP, windows=WINDOWS, clock=lambda: times[-1])
    for charge in CHARGES:
        times.append(charge["time"])
        ledger.answer(Spend(charge["task"], charge["epsilon"]), lambda: b"message")
    return spending(ledger)


@pytest.fixture(scope="module")
def compared(worker):
    """Return for every task and language the statement in Python and in JavaScript.

    A task that is refused has one pair of refusals.
    """
    tasks = [*golden_tasks(), *recorder_tasks(), *dated_tasks()]
    contents = [*tasks, *(variant for task in tasks for variant in variants(task))]
    contents += shuffled_tasks()
    written = {"cap": CAP, "windows": [asdict(window) for window in WINDOWS], "time": TIME}
    charges = [
        {**charge, "name": charge["task"], "epsilon": repr(charge["epsilon"])} for charge in CHARGES
    ]
    documents = [codec.canonical(content) for content in contents]
    given = {"texts": documents, "languages": LANGUAGES, "charges": charges, **written}
    in_javascript = worker.run("statements", given)
    device = device_facts()
    in_python = [explained(content, device) for content in contents]
    return [
        pair
        for both in zip(in_python, in_javascript, strict=True)
        for pair in zip(*map(as_list, both), strict=True)
    ]


def as_list(texts_or_refusal):
    return [texts_or_refusal] if isinstance(texts_or_refusal, str) else texts_or_refusal


def explained(content, device):
    """Return the statement about a task in all languages, or how its document is refused."""
    try:
        said = {**statement(notice_of(content)), "device": device}
        return [explain(said, language) for language in LANGUAGES]
    except SottovoceError as error:
        return f"{type(error).__name__}: {error}"


def test_both_refuse_the_kinds_of_the_laboratory(compared):
    refused = [pair for pair in compared if any(text.startswith(REFUSED) for text in pair)]
    classes = [tuple(text.partition(":")[0] for text in pair) for pair in refused]
    assert set(classes) == {("ParameterError",) * 2, ("CodecError",) * 2}  # a kind; a waiver


def test_the_text_is_the_same_word_for_word(compared):
    known = [pair for pair in compared if not pair[1].startswith(REFUSED)]
    different = [pair for pair in known if pair[0] != pair[1]]
    assert not different, different[0]
    assert len(known) > 500 * len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_but_those_for_unknown_kinds_is_compared(compared, language):
    same = "\n".join(text for text, in_javascript in compared if text == in_javascript)
    sentences = texts(language)["sentences"]
    unseen = {name for name, text in sentences.items() if stem(text) not in same}
    # What collectors learned together is compared beside the ledgers of shuffled tasks.
    assert unseen - {"other_values"} == {"collectors", "other_encoding", "other_way"}


def stem(text):
    """Return the longest part of a sentence between the names that are filled in."""
    parts = [part.partition("}")[2] if "}" in part else part for part in text.split("{")]
    return max(parts, key=len)
