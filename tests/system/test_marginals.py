"""Joint tables over HTTP: real devices and a crowd, a collector that is killed, the answers of the
same messages.
"""

import json
from urllib.parse import quote

import numpy as np
import pytest

import sottovoce as sv
from collector.people import envelope
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from system.servers import Server
from system.test_discovery import Site

CROWD, DEVICES = 600, 6
DICE = np.random.default_rng(12)
DOMAIN = {
    "sex": ["f", "m"],
    "age": range(3),
    "work, paid": ["yes", "no"],
    "commute": ["foot", "bus", "car"],
}
RECORDS = [
    {
        "sex": "fm"[DICE.integers(2)],
        "age": int(age := DICE.integers(3)),
        "work, paid": "yes" if DICE.random() < 0.2 + 0.3 * age else "no",
        "commute": str(DICE.choice(["foot", "bus", "car"], p=[0.05, 0.35, 0.6])),
    }
    for _ in range(CROWD)
]
ORDERS = {"pairs": 2, "triples": 3}
TASKS = {
    name: sv.Task(
        name,
        sv.Marginals(DOMAIN, users=20_000, order=order),
        4.0,
        collection=Collection(minimum=20, grace=0, crowd=25),
    )
    for name, order in ORDERS.items()
}
FEW = sv.Task(
    "few",
    sv.Marginals(DOMAIN, users=20_000, order=2),
    4.0,
    collection=Collection(minimum=CROWD + 1, grace=0),
)


class Killed(Site):
    """A collector that only dies when it is killed."""

    def _start(self):
        self.starts += 1
        return Server(self.folder, port=self.port)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Collect all tasks; the collector is killed between the two halves of the crowd. Yields site
    and messages.
    """
    site = Killed(tmp_path_factory.mktemp("site") / "data")
    devices = [sv.Device(site.url, sv.Ledger(":memory:", cap=100)) for _ in range(DEVICES)]
    try:
        yield site, collect(site, devices)
    finally:
        site.server.discard()
        for device in devices:
            device.ledger.close()


def collect(site, devices):
    rng, sent = SeededRng(7), {}
    for name, task in {**TASKS, "few": FEW}.items():
        assert site.request("POST", "/v1/tasks", codec.document(task), "operator")[0] == 201
        sent[name] = crowd.messages(task, RECORDS, rng=rng)
        assert site.upload(name, sent[name][::2]) == []
        if name != "few":
            sent[name] += [
                device.answer(name, RECORDS[number]) for number, device in enumerate(devices)
            ]
    site.server.kill()  # half of the crowd has been heard, and no device has sent what it wrote
    for name, messages in sent.items():
        assert site.upload(name, messages[:CROWD]) == []
    for device in devices:
        assert not device.flush(force=True).waiting
    site.close({name: site.asked(name) for name in sent})
    return sent


def expected(name, sent, lost=0):
    """Return the answer of these messages without a collector."""
    task = TASKS[name]
    batches = batches_of(task, task.opening, sent[name][: len(sent[name]) - lost])
    return task.plan.step(MemoryCollected(task).after(task.opening, batches))


def released(site, name, *names):
    """Return a table of the collector, or all that it lists."""
    query = "&".join(f"marginal={quote(one, safe='')}" for one in names)
    return site.request("GET", f"/v1/tasks/{name}/answer?{query}", token="analyst")


def same(said, answer):
    """Return whether a released table says what an answer says, but for what is suppressed."""
    rows = json.loads(answer.to_json())["rows"]
    hidden = {row["value"] for row in said["rows"] if row["suppressed"]}
    kept = [
        {key: row[key] for key in row if key != "suppressed"}
        for row in said["rows"]
        if not row["suppressed"]
    ]
    facts = (said["users"], said["epsilon"], said["mechanism"], said["steps"])
    estimate = answer.estimate
    return (
        kept == [row for row in rows if row["value"] not in hidden]
        and hidden >= {row["value"] for row in rows if row["estimate"] < 25}
        and len(hidden) != 1
        and facts == (estimate.users, estimate.epsilon, answer.mechanism, list(estimate.steps))
    )


def test_the_collector_was_killed_once_and_went_on(run):
    assert run[0].starts == 2
    assert run[0].server.errors() == []


@pytest.mark.parametrize("name", ORDERS)
def test_the_tables_are_those_of_the_same_messages_without_a_collector(run, name):
    site, sent = run
    answer = expected(name, sent)
    status, said = released(site, name)
    assert status == 200, said
    assert list(said["answers"]) == list(answer)
    assert all(same(part, answer[title]) for title, part in said["answers"].items())
    assert said["answers"]["sex"]["users"] == CROWD + DEVICES


def test_a_report_less_would_be_seen(run):
    """The broken twin of the comparison above."""
    site, sent = run
    said = released(site, "pairs", "sex")[1]
    assert same(said, expected("pairs", sent)["sex"])
    assert not same(said, expected("pairs", sent, lost=1)["sex"])


@pytest.mark.parametrize("name", ORDERS)
def test_any_table_is_given_on_request(run, name):
    site, sent = run
    answer = expected(name, sent)
    assert same(released(site, name, "work, paid", "age")[1], answer.marginal("age", "work, paid"))
    status, said = released(site, name, "sex", "age", "work, paid")
    assert status == 200
    assert same(said, answer.marginal("sex", "age", "work, paid"))
    status, said = released(site, name, "sex", "shoes")
    assert (status, said["code"]) == (400, "invalid")


@pytest.mark.parametrize("name", ORDERS)
def test_small_cells_are_suppressed(run, name):
    """One in twenty goes on foot, about ten people of every age: fewer than the crowd."""
    parts = released(run[0], name)[1]["answers"].values()
    hidden = [row["value"] for part in parts for row in part["rows"] if row["suppressed"]]
    assert sum("foot" in value for value in hidden) >= 3


def test_too_few_users_have_no_table_at_all(run):
    site, _ = run
    for names in ((), ("sex",), ("sex", "age")):
        status, said = released(site, "few", *names)
        assert (status, said["code"]) == (409, "too-few-users")


def test_wrong_reports_are_refused_with_the_usual_codes(run):
    site, _ = run
    open_task = sv.Task("open", TASKS["pairs"].plan, 4.0, collection=Collection(minimum=2, grace=0))
    assert site.request("POST", "/v1/tasks", codec.document(open_task), "operator")[0] == 201
    digest, width = codec.digest_bytes(codec.document(open_task)), open_task.opening.width
    cells = [question.mechanism.size for question in open_task.opening.ask.members]
    wrong = [
        envelope(digest, b"\0" * width, member=len(cells)),
        envelope(digest, cells[0].to_bytes(width, "little"), member=0),
        envelope(digest, b"\0" * width, number=1),
        b"nothing like it",
    ]
    assert site.upload("open", wrong) == ["impossible", "impossible", "too-early", "malformed"]
    good = [envelope(digest, (cells[0] - 1).to_bytes(width, "little"), member=0)]
    assert site.upload("open", good + wrong[:1]) == ["impossible"]
