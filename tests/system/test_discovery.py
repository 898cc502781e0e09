"""Searches in several rounds over HTTP: the collector is killed inside rounds and between them, and
nobody notices.

Its questions and answers are those of the same messages without a collector, bit for bit; nobody is
asked twice.
"""

import json
from base64 import b64encode
from functools import cached_property
from itertools import pairwise
from time import sleep

import numpy as np
import pytest

import sottovoce as sv
from collector.people import Clock, text
from collector.sending import send
from sottovoce.client.client import Client
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.base import TokenRecord
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core import coin
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import BudgetError, MismatchError, StateError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.round import Round
from sottovoce.wire import codec
from system.servers import Server, Wire, bearer, open_store

CROWD, DEVICES = 500, 24
DICE = np.random.default_rng(8)
FOODS = [f"food {number}" for number in range(12)]
BASKETS = [
    [food for place, food in enumerate(FOODS) if DICE.random() < 0.9 / (1 + place)]
    for _ in range(CROWD)
]
WORDS = [
    ("yes", "no", "ça", "eh")[place] for place in DICE.choice(4, CROWD, p=[0.5, 0.3, 0.15, 0.05])
]
SMALL = Collection(minimum=2, grace=0)
TASKS = {
    "pem": sv.Task("pem", sv.HeavyHitters(sv.Strings(3), 4), 4.0, collection=SMALL),
    "svim": sv.Task("svim", sv.TopItems(FOODS, 3), 4.0, collection=SMALL),
    "dbs": sv.Task(
        "dbs", sv.AdaptiveTopItems(FOODS, CROWD, 2, rounds=3, holdout=15), 2.0, collection=SMALL
    ),
    "enrolled": sv.Task(
        "enrolled",
        sv.TopItems(FOODS, 3),
        4.0,
        collection=Collection(minimum=2, grace=0, enrolment=True),
    ),
}
VALUES = {"pem": WORDS, "svim": BASKETS, "dbs": BASKETS, "enrolled": BASKETS}
DEATHS = [
    None,  # killed from outside, in the middle of a round
    "step: decided, nothing stored",
    "seal: committed",
    "step: next round stored",
    "finish: nothing stored",
]


def tokens():
    """Return tokens whose coins deal every round of the enrolled task some devices: half, a tenth
    and the rest.
    """
    digest = codec.digest(codec.document(TASKS["enrolled"]))
    names = [f"device-{number}" for number in range(300)]
    dealt = {name: coin.round_coin(coin.enrolled_bytes(name, digest), digest) for name in names}
    bounds = (0, UNIT // 2, UNIT * 60 // 100, UNIT)
    parts = [
        [token for token, place in dealt.items() if low <= place < high]
        for low, high in pairwise(bounds)
    ]
    return [token for part, count in zip(parts, (11, 4, 9), strict=True) for token in part[:count]]


TOKENS = tokens()


class Site:
    """A collector that dies as planned and comes back at the same address."""

    def __init__(self, folder):
        self.folder, self.starts, self.port = folder, 0, 0
        with_tokens(folder)
        self.server = self._start()
        self.port = int(self.server.address.rpartition(":")[2])

    def _start(self):
        point = DEATHS[self.starts] if self.starts < len(DEATHS) else None
        self.starts += 1
        assert self.starts < 4 * len(DEATHS), "it dies of something else"
        orders = {}
        if point:
            counter = self.folder.parent / f"{self.folder.name}.passed-{self.starts}"
            orders = {"point": [point, 1, str(counter)]}
        return Server(self.folder, orders=orders, port=self.port)

    @property
    def url(self):
        return f"http://{self.server.address}"

    def request(self, method, path, content=None, token=""):
        """Return the status and the JSON of a request; a collector that died is started again
        first.
        """
        headers = {"authorization": bearer(token)} if token else {}
        body = None if content is None else json.dumps(content).encode()
        while True:
            wire = Wire(self.server.address)
            try:
                status, said, _ = wire.request(
                    method, path, body, content_type="application/json", **headers
                )
                return status, json.loads(said)
            except ConnectionError:
                self.revive()
            finally:
                wire.close()

    def revive(self):
        self.server.discard()
        self.server = self._start()

    def asked(self, name):
        """Return the round that is open, or nothing."""
        document = self.request("GET", f"/v1/tasks/{name}/round")[1]["round"]
        return None if document is None else codec.round_(document)

    def upload(self, name, messages, tokens=()):
        """Send messages; returns the codes of those that were refused."""
        content = {"reports": [b64encode(one).decode() for one in messages], "tokens": list(tokens)}
        status, outcome = self.request("POST", f"/v1/tasks/{name}/reports", content)
        assert status == 200, outcome
        assert outcome["accepted"] + outcome["duplicates"] + len(outcome["refused"]) == len(
            messages
        )
        return [one["code"] for one in outcome["refused"]]

    def close(self, open_rounds):
        """Close rounds and wait until their tasks are past them, whatever happens in between."""
        waiting = open_rounds
        while waiting := {
            name: asked for name, asked in waiting.items() if not self._past(name, asked)
        }:
            for name, asked in waiting.items():
                if self.asked(name) == asked:
                    self.request(
                        "POST", f"/v1/tasks/{name}/close?at_once=true&force=true", token="operator"
                    )
            sleep(0.05)

    def _past(self, name, asked):
        current = self.request("GET", f"/v1/tasks/{name}/round")[1]
        later = current["round"] is not None and codec.round_(current["round"]) != asked
        return later or current["state"] == "finished"


def with_tokens(folder):
    """Issue tokens that are the same in every run, so that the coins of enrolled devices are."""
    store = open_store(folder)
    scopes = {"operator": access.OPERATOR, "analyst": access.ANALYST}
    scopes |= dict.fromkeys(TOKENS, "enrolment")
    store.add_tokens(
        [TokenRecord(access.hashed(token), scope, "", 0, None) for token, scope in scopes.items()]
    )
    store.close()


class People:
    """A crowd and some devices, who answer when they are asked; every message that was sent is
    remembered.
    """

    def __init__(self, site):
        self.site, self.rng = site, SeededRng(5)
        self.coins = self.rng.longs(CROWD).astype(object)
        self.sent = {name: {} for name in TASKS}
        self.answered = {name: {} for name in TASKS}
        self.devices = [
            sv.Device(site.url, sv.Ledger(":memory:", cap=100), token=TOKENS[number])
            for number in range(DEVICES)
        ]

    def messages(self, name, asked):
        """Return what the crowd says to a round; the same if it is asked for again."""
        known = self.sent[name].setdefault(asked.number, [])
        if not known and name != "enrolled":
            held = [
                value
                for value, place in zip(VALUES[name], self.coins, strict=True)
                if asked.asks(place)
            ]
            known += crowd.messages(TASKS[name], held, asked, self.rng)
        return known

    def answer(self, name, asked):
        """Let every device answer whose turn it is; the others refuse to."""
        for number, device in enumerate(self.devices):
            if number in self.answered[name]:
                continue
            try:
                message = device.answer(name, VALUES[name][number])
            except MismatchError:
                continue
            self.answered[name][number] = asked.number
            self.sent[name].setdefault(asked.number, []).append(message)

    def flush(self):
        for device in self.devices:
            if device.flush(force=True).waiting:
                self.site.revive()
                assert not device.flush(force=True).waiting


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run all searches to their end, with every death on the way."""
    site = Site(tmp_path_factory.mktemp("site") / "data")
    people = People(site)
    try:
        collect(site, people)
        yield Run(site, people)
    finally:
        site.server.discard()
        for device in people.devices:
            device.ledger.close()


def collect(site, people):
    for task in TASKS.values():
        assert site.request("POST", "/v1/tasks", codec.document(task), "operator")[0] == 201
    while open_rounds := {name: asked for name in TASKS if (asked := site.asked(name)) is not None}:
        for name, asked in open_rounds.items():
            half = people.messages(name, asked)[::2]
            if half:
                assert site.upload(name, half) == []
            people.answer(name, asked)
        if site.starts == 1:
            # half of the crowd has been heard, and no device has sent what it wrote
            site.server.kill()
        for name, asked in open_rounds.items():
            if name != "enrolled":
                assert site.upload(name, people.messages(name, asked)) == []
        people.flush()
        site.close(open_rounds)


class Run:
    """What came of it all, and what comes of the same messages without a collector."""

    def __init__(self, site, people):
        self.site, self.people = site, people

    @cached_property
    def uninterrupted(self):
        return {name: undisturbed(task, self.people.sent[name]) for name, task in TASKS.items()}


def undisturbed(task, sent):
    """Return the rounds and the answer of these messages in memory."""
    collected, asked = MemoryCollected(task), task.opening
    while isinstance(asked, Round):
        collected = collected.after(asked, batches_of(task, asked, sent[asked.number]))
        asked = task.plan.step(collected)
    return collected.rounds, asked


def rounds_of(run, name):
    store = open_store(run.site.folder)
    try:
        return store.rounds(codec.digest(codec.document(TASKS[name])))
    finally:
        store.close()


def test_the_collector_died_at_every_planned_moment(run):
    assert run.site.starts == len(DEATHS) + 1
    assert run.site.server.errors() == []


@pytest.mark.parametrize("name", TASKS)
def test_questions_and_answer_are_those_of_an_undisturbed_run(run, name):
    asked, answer = run.uninterrupted[name]
    documents = [one.document for one in rounds_of(run, name)]
    assert documents == [codec.canonical(codec.document(one)) for one in asked]
    status, said = run.site.request("GET", f"/v1/tasks/{name}/answer", token="analyst")
    assert status == 200, said
    expected = json.loads(answer.to_json())
    assert [
        {key: row[key] for key in row if key != "suppressed"} for row in said["rows"]
    ] == expected["rows"]
    for detail in answer.about.keys() - {"name"}:
        assert said[detail] == expected[detail], detail


def test_a_report_less_would_be_seen(run):
    """The broken twin: the comparison above tells a collector that lost the last message of a
    round.
    """
    _, answer = run.uninterrupted["svim"]
    lost = {number: messages[:-1] for number, messages in run.people.sent["svim"].items()}
    assert undisturbed(TASKS["svim"], lost)[1].to_json() != answer.to_json()


@pytest.mark.parametrize(("name", "fewest"), [("pem", 1), ("svim", 3), ("dbs", 3), ("enrolled", 3)])
def test_the_rounds_share_all_users_out_without_overlap(run, name, fewest):
    rounds = [codec.round_(codec.parse(one.document)) for one in rounds_of(run, name)]
    assert len(rounds) >= fewest
    assert (rounds[0].low, rounds[-1].high) == (0, UNIT)
    assert all(one.high == other.low for one, other in pairwise(rounds))


@pytest.mark.parametrize("name", TASKS)
def test_every_device_was_asked_once_and_refuses_another_time(run, name):
    assert set(run.people.answered[name]) == set(range(DEVICES)), "the rounds ask everybody"
    rounds = [codec.round_(codec.parse(one.document)) for one in rounds_of(run, name)]
    for number, heard in run.people.answered[name].items():
        token = TOKENS[number] if name == "enrolled" else None
        client = Client(TASKS[name], run.people.devices[number].ledger, token)
        assert [one.number for one in rounds if one.asks(client.coin)] == [heard]
        with pytest.raises(BudgetError, match="already answered"):
            client.answer(VALUES[name][number], asked=rounds[heard])
        for other in (one for one in rounds if one.number != heard):
            with pytest.raises(MismatchError, match="other users"):
                client.answer(VALUES[name][number], asked=other)
    with pytest.raises(StateError):
        run.people.devices[0].answer(name, VALUES[name][0])


def test_a_token_pays_for_one_message_in_all_rounds_together(tmp_path):
    """Whoever starts with an empty ledger again has the same coin, and a token that is spent."""
    folder, task = tmp_path / "data", TASKS["enrolled"]
    with_tokens(folder)
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, Clock())
    collector.create(text(task), toml=False)
    clients = {token: Client(task, ":memory:", token) for token in TOKENS}
    mine = [token for token in TOKENS if task.opening.asks(clients[token].coin)]
    first = [clients[token].answer(["food 0"]) for token in mine]
    assert send(collector, "enrolled", first, mine) == ["accepted"] * len(mine)
    again = [Client(task, ":memory:", token).answer(["food 1"]) for token in mine]
    assert send(collector, "enrolled", again, mine) == ["token-spent"] * len(mine)
    collector.close("enrolled", at_once=True)
    collector.advance()
    asked = collector.find("enrolled").asked[1]
    forged = crowd.messages(task, [["food 1"]] * len(mine), asked)
    assert send(collector, "enrolled", forged, mine) == ["not-asked"] * len(mine)
    store.close()


def test_a_quota_is_of_the_whole_task_and_every_round_takes_its_share(tmp_path):
    task = sv.Task(
        "svim", sv.TopItems(FOODS, 3), 4.0, collection=Collection(quota=200, minimum=5, grace=0)
    )
    store, rng = SqliteStore(tmp_path / "collector.db"), SeededRng(3)
    collector = Collector(store, tmp_path, Clock())
    collector.create(text(task), toml=False)
    for number, expected in enumerate((100, 20, 80)):
        published = collector.find("svim")
        share = published.quota(number)
        assert share - expected in (0, 1), "rounded up"
        messages = crowd.messages(task, BASKETS[:share], published.asked[number], rng)
        send(collector, "svim", messages[:-1])
        assert not collector.advance(), "one user short of its share"
        send(collector, "svim", messages[-1:])
        assert collector.advance()
    published = collector.find("svim")
    assert published.record.finished is not None
    assert collector.answer("svim").estimate.population == sum(
        one.users for one in published.rounds
    )
    store.close()


def test_a_share_below_the_minimum_waits_for_the_minimum(tmp_path):
    """Twenty of two hundred would close a round of which nothing may be released, and end the
    task.
    """
    task = sv.Task(
        "svim", sv.TopItems(FOODS, 3), 4.0, collection=Collection(quota=200, minimum=50, grace=0)
    )
    store, rng = SqliteStore(tmp_path / "collector.db"), SeededRng(3)
    collector = Collector(store, tmp_path, Clock())
    collector.create(text(task), toml=False)
    assert task.opening.part(200) == 100
    for number, expected in enumerate((100, 50, 80)):
        published = collector.find("svim")
        users = published.quota(number)
        assert users - expected in (0, 1)
        send(collector, "svim", crowd.messages(task, BASKETS[:users], published.asked[number], rng))
        collector.advance()
    published = collector.find("svim")
    assert published.record.finished is not None
    assert published.record.failure == ""
    assert [one.users >= 50 for one in published.rounds] == [True] * 3
    store.close()
