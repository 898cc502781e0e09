"""Whatever a device holds, everything that can be seen from outside of it is the same.

A real collector on this machine serves documents that are valid, changed or hostile.  A device in
some state answers, and sends when it is due.  What is seen are the error, the charges, the outbox,
every request and its time, and the random bytes that were drawn.  For two values all of it is
equal, except for the bytes of the reports, whose law the tests of the mechanisms enumerate.
"""

import json
import random
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache

import pytest

import sottovoce as sv
from client.clock import Clock
from client.serving import serving
from client.shuffling import LABELS, Chain, base64url, blind_collection, issuer
from client.values import Untouchable
from fuzz.hostile_documents import changed_document, extremes, valid_documents
from sottovoce.client import client as client_module
from sottovoce.client.blind_token import BlindToken
from sottovoce.client.client import Client
from sottovoce.client.device import Device
from sottovoce.client.held import HeldIndex, random_index
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import MAX_WAITING, Outbox, Posting
from sottovoce.core import coin, settings
from sottovoce.core.rng import SystemRng
from sottovoce.errors import BudgetError, CodecError, SottovoceError
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.budget import Spend, SpendingWindow
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from sottovoce.wire.tokens import MODULUS_BYTES

SCENARIOS = 200
LONGITUDINAL_SCENARIOS = 60
MANY = 10  # times as many in `make papers`
SCENARIOS_OF_TWINS = 80  # a mistake that is seen in so few is seen in more
PUBLIC = {"os": "i", "height": 1.5, "born": 1990}
INSIDE = (
    "cat",
    "newt",
    37,
    98,
    36.6,
    "hello",
    12345,
    ["cat", "milk"],
    [3, 5, 7],
    {"home": "cat", "rooms": 3},
    {"a": "x", "b": 4, "c": 0},
    {"age": 20, "state": "cat", **PUBLIC},
    {"age": 63, "state": "newt", **PUBLIC},
    {"users": {"age": 20, "state": "NY"}, "trades": []},
    {"users": {"age": 29, "state": "WA"}, "trades": [{"amount": 5}] * 9},
)
OUTSIDE = (
    "bird",
    "x" * 500,
    -1,
    10**40,
    float("nan"),
    float("inf"),
    None,
    [],
    {},
    b"cat",
    3 + 4j,
    object(),
    ["cat", 3],
    {"home": "palace", "rooms": 3},
    {"age": 999, "state": "cat", **PUBLIC},
    {"age": None, **PUBLIC},
    {"users": 7, "trades": 7},
    Untouchable(),
)
REFUSING = ("spent", "window", "opted out", "all opted out", "answered", "full", "changed")
STATES = (*["fresh"] * len(REFUSING), *REFUSING)
REPLIES = ("accepts", "busy", "refuses", "elsewhere")
STEPS = (*[5.0] * 13, 600.0, 3600.0)  # seconds between attempts to send


@dataclass(frozen=True)
class Scenario:
    """A document, what the device has done before, and what becomes of its message.

    ``earlier`` are the values that it has answered earlier rounds with.
    """

    text: str
    state: str
    reply: str
    accepts_public: bool
    earlier: tuple[object, ...] = ()

    @property
    def name(self):
        name = self.content.get("name")
        return name if isinstance(name, str) and name.isprintable() and name else "pets"

    @property
    def content(self):
        try:
            content = json.loads(self.text)
        except (ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}


def scenarios(count):
    dice = random.Random(20)
    listed = list(extremes().values())
    for _ in range(count):
        draw = dice.random()
        if draw < 0.6:
            text = dice.choice(valid_documents())
        elif draw < 0.95:
            text = changed_document(dice)
        else:
            text = dice.choice(listed)
        yield Scenario(text, dice.choice(STATES), dice.choice(REPLIES), dice.random() < 0.7)


class Collector:
    """Serves the document of one scenario, and notes what it is asked."""

    def __init__(self):
        self.scenario = None
        self.clock = Clock()
        self.requests = []
        self.scripted = []

    def get(self, path, headers):
        self.requests.append(("time", self.clock()))
        content = self.scenario.content
        try:
            digest = codec.digest(codec.parse(self.scenario.text))
        except CodecError:
            digest = "none"
        if not path.endswith("/round"):
            return 200, {"ETag": f'"{digest}"'}, self.scenario.text.encode(errors="replace")
        opening = content.get("opening")
        if self.scenario.earlier:
            opening = {**opening, "number": len(self.scenario.earlier)}
        asked = {"digest": digest, "state": "open", "round": opening}
        return 200, {}, json.dumps(asked, ensure_ascii=False).encode(errors="replace")

    def post(self, body):
        self.requests.append(("body", len(body), sorted(json.loads(body)), self.clock()))
        if self.scenario.reply == "busy":
            return 503, {"Retry-After": "7"}, b""
        if self.scenario.reply == "elsewhere":
            return 302, {"Location": "http://elsewhere.example/"}, b""
        refused = [{"index": 0, "code": "too-late", "retry": False}]
        answer = {"accepted": 1, "duplicates": 0, "refused": []}
        if self.scenario.reply == "refuses":
            answer = {"accepted": 0, "duplicates": 0, "refused": refused}
        return 200, {}, json.dumps(answer).encode()


class CountedBytes:
    """The randomness of the operating system, recorded: the same for every value."""

    def __init__(self, seed):
        self._rng = SeededRng(seed)
        self.drawn = []

    def __call__(self, count):
        self.drawn.append(count)
        return bytes(self._rng.bytes(count))


def prepared(scenario, clock, url):
    """Return a ledger in the state of a scenario; nothing in it depends on the value."""
    windows = [SpendingWindow(3600, 100.0, 1)] if scenario.state == "window" else ()
    ledger = DiskLedger(":memory:", cap=50.0, windows=windows, clock=clock)
    notice = notice_of(scenario)
    for number, value in enumerate(scenario.earlier):
        client = Client(notice, ledger)
        client.origin = url
        with suppress(BudgetError):  # of a twin that refuses
            client.answer(value, asked=replace(notice.opening, number=number))
    if scenario.state == "spent":
        for number in range(4):
            ledger.answer(Spend(f"old {number}", 12.4), lambda: b"m")
    if scenario.state == "window":
        ledger.answer(Spend("old", 0.1), lambda: b"m")
    if scenario.state == "full":
        for number in range(MAX_WAITING):
            ledger.answer(Spend(f"old {number}", 0.0), lambda: b"m", Posting("x", url))
    if scenario.state == "all opted out":
        ledger.opt_out()
    if notice is not None and scenario.state == "opted out":
        ledger.opt_out(notice.digest)
    if notice is not None and scenario.state == "answered":
        ledger.answer(Spend(notice.digest, 0.5), lambda: b"m")
    if notice is not None and scenario.state == "changed":
        other = sv.Task(notice.name, sv.Histogram(["other", "things"]), 0.1)
        earlier = Client(other, ledger)
        earlier.origin = url
        earlier.answer("other")
    return ledger


def notice_of(scenario):
    return notice_in(scenario.text)


@cache
def notice_in(text):
    """Return the notice in a text, if there is one; reading a shuffled task takes a while."""
    try:
        return codec.notice(codec.parse(text))
    except SottovoceError:
        return None


def asked_token(notice):
    """Return the token of a device that the opening round asks."""
    for number in range(50):
        token = f"device {number}"
        device_bytes = coin.enrolled_bytes(token, notice.digest)
        if notice.opening.asks(coin.round_coin(device_bytes, notice.digest)):
            return token
    return "device 0"


def observed(scenario, value, collector, url):
    """Return everything that can be seen from outside of a device that holds a value."""
    clock = Clock()
    notice = notice_of(scenario)
    collector.scenario, collector.clock = scenario, clock
    collector.requests.clear()
    randomness = CountedBytes(11)
    seen = {}
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("os.urandom", randomness)
        ledger = stack.enter_context(prepared(scenario, clock, url))
        has_issuer = notice is not None and BlindToken(ledger, notice).is_needed
        if notice is not None and not ("opted" in scenario.state or has_issuer or scenario.earlier):
            # Searches ask a part of the devices: this one is asked.
            ledger.coin(notice.digest, coin.enrolled_bytes(asked_token(notice), notice.digest))
        accepts = {}
        if notice is not None and scenario.accepts_public:
            accepts = {notice.name: sv.Accepts(public=notice.domain.public_names)}
        device = Device(url, ledger, token="mine" if has_issuer else None, accepts=accepts)
        try:
            seen["message"] = len(device.answer(scenario.name, value))
        except Exception as error:
            seen["error"] = (type(error).__name__, str(error))
        for step in STEPS if scenario.state != "full" else ():
            clock.time += step
            seen.setdefault("flushed", []).append(device.flush())
        seen["charges"] = ledger.entries()
        seen["reports"] = [
            (report.name, report.due, report.attempts, report.state, report.reason)
            for report in ledger.queue()
        ]
        seen["lengths"] = [len(report.message or b"") for report in ledger.queue()]
        seen["explained"] = (
            device.explain(notice) if notice is not None else None,
            ledger.meaning(url, scenario.name),
        )
    seen["requests"] = list(collector.requests)
    seen["drawn"] = randomness.drawn
    return seen


def differences(count, collector, url):
    """Return the scenarios in which two values can be told apart, and how many were answered."""
    dice = random.Random(21)
    found = []
    answered = 0
    for scenario in scenarios(count):
        possible = inside(scenario)
        first, second = dice.choice(possible), dice.choice(OUTSIDE)
        if dice.random() < 0.3:
            second = dice.choice(possible)
        if has_public_columns(scenario) and scenario.accepts_public:
            first, second = dice.sample(WITH_PUBLIC, 2)  # public by agreement: the same for both
        seen = [observed(scenario, value, collector, url) for value in (first, second)]
        answered += "message" in seen[0]
        if seen[0] != seen[1]:
            found.append((scenario, seen))
    return found, answered


def inside(scenario):
    """Return values of the domain, or any if the document has none."""
    notice = notice_of(scenario)
    possible = []
    for value in (*INSIDE, *LABELS) if notice is not None else ():
        try:
            notice.domain.indices([value])
        except Exception:
            continue
        possible.append(value)
    return possible or list(INSIDE)


WITH_PUBLIC = [value for value in (*INSIDE, *OUTSIDE) if type(value) is dict and "os" in value]


def has_public_columns(scenario):
    notice = notice_of(scenario)
    return notice is not None and bool(notice.domain.public_names)


@pytest.fixture(scope="module")
def serving_collector():
    collector = Collector()
    with serving(collector) as url:
        yield collector, url


def more_in_papers(count):
    many = pytest.param(MANY * count, marks=pytest.mark.papers)
    return pytest.mark.parametrize("count", [count, many])


@more_in_papers(SCENARIOS)
def test_what_a_device_shows_does_not_depend_on_what_it_holds(serving_collector, count):
    found, answered = differences(count, *serving_collector)
    assert not found, found[0]
    assert answered > count // 8, "enough devices answered to tell"


def test_a_device_that_refuses_values_outside_the_domain_is_caught(serving_collector, monkeypatch):
    """The broken twin: the value is compared with the domain, and silence tells the outcome."""
    monkeypatch.setattr(
        client_module, "held_index", lambda domain, value: HeldIndex(domain.indices([value]))
    )
    found, _ = differences(SCENARIOS_OF_TWINS, *serving_collector)
    assert len(found) > 5
    errors = {seen.get("error", ("",))[0] for _, both in found for seen in both}
    assert "DomainError" in errors


def test_a_device_that_draws_only_when_it_must_is_caught(serving_collector, monkeypatch):
    """The broken twin of the draws: a random value is drawn for values outside alone."""

    def lazy(domain, value):
        try:
            return HeldIndex(domain.indices([value]))
        except Exception:
            return HeldIndex(random_index(domain), "outside")

    monkeypatch.setattr(client_module, "held_index", lazy)
    found, _ = differences(SCENARIOS_OF_TWINS, *serving_collector)
    assert len(found) > 5
    assert any(both[0]["drawn"] != both[1]["drawn"] for _, both in found)


def test_a_device_that_is_in_a_hurry_with_some_values_is_caught(serving_collector, monkeypatch):
    """The broken twin of the times: a value outside of the domain is sent without a delay."""
    plain_index, plain_post = client_module.held_index, Outbox.post
    refusals = []

    def noted(domain, value):
        held = plain_index(domain, value)
        refusals.append(held.refusal)
        return held

    def hasty(outbox, task, number, posting, now):
        delay = 0.0 if refusals and refusals.pop() else posting.delay
        plain_post(outbox, task, number, replace(posting, delay=delay), now)

    monkeypatch.setattr(client_module, "held_index", noted)
    monkeypatch.setattr(Outbox, "post", hasty)
    found, _ = differences(SCENARIOS_OF_TWINS, *serving_collector)
    times = [[seen["requests"] for seen in both] for _, both in found]
    assert any(first != second for first, second in times)


# --- longitudinal tasks: what was answered in earlier rounds is remembered ---


@cache
def longitudinal_documents():
    """Return tasks that ask again and again, of every mechanism that they may have."""
    mechanisms = ("sue", "grr", "oue", "olh", "blh", "hadamard", "subset", "affine")
    tasks = [
        sv.Task(f"where {mechanism}", sv.Tracking(LABELS, 9, mechanism), 2.0, distinct=distinct)
        for mechanism in mechanisms
        for distinct in (1, 2, 3)
    ]
    return [codec.canonical(codec.document(task)) for task in tasks]


def longitudinal_differences(count, collector, url):
    """Return the scenarios in which two values can be told apart, and how many were answered.

    Values of earlier rounds are one of the two, both or others, and as many as are remembered or
    more.
    """
    dice = random.Random(23)
    found = []
    answered = 0
    for _ in range(count):
        first, second = dice.choice(LABELS), dice.choice((*LABELS, *OUTSIDE))
        choices = (first, second, dice.choice(LABELS), dice.choice(OUTSIDE))
        earlier = tuple(dice.choices(choices, (4, 4, 2, 1), k=dice.randint(1, 4)))
        state, reply = dice.choice(("fresh", "fresh", "opted out")), dice.choice(REPLIES)
        text = dice.choice(longitudinal_documents())
        scenario = Scenario(text, state, reply, accepts_public=True, earlier=earlier)
        seen = [observed(scenario, value, collector, url) for value in (first, second)]
        answered += "message" in seen[0]
        if seen[0] != seen[1]:
            found.append((scenario, seen))
    return found, answered


@more_in_papers(LONGITUDINAL_SCENARIOS)
def test_what_a_device_shows_does_not_depend_on_what_it_remembers(serving_collector, count):
    found, answered = longitudinal_differences(count, *serving_collector)
    assert not found, found[0]
    assert answered > count // 3, "enough devices answered to tell"


def test_a_device_that_refuses_a_value_beyond_those_it_paid_for_is_caught(
    serving_collector, monkeypatch
):
    """The broken twin: it remembers as many responses as were paid for, and no further value."""
    plain = DiskLedger.remember

    def strict(ledger, task, index, response, max_responses):
        known = vars(ledger).setdefault("known", set())
        if index not in known and len(known) >= max_responses:
            raise BudgetError("all responses of this task are remembered")
        known.add(index)
        return plain(ledger, task, index, response, max_responses)

    monkeypatch.setattr(DiskLedger, "remember", strict)
    found, _ = longitudinal_differences(LONGITUDINAL_SCENARIOS, *serving_collector)
    assert len(found) > 5


def test_a_device_that_draws_for_new_values_alone_is_caught(serving_collector, monkeypatch):
    """The broken twin: the noise of a response is drawn when it is needed, and then remembered."""
    plain = DiskLedger.remember

    def drawing(ledger, task, index, response, max_responses):
        known = vars(ledger).setdefault("known", set())
        if index not in known:
            SystemRng().bytes(8)
        known.add(index)
        return plain(ledger, task, index, response, max_responses)

    monkeypatch.setattr(DiskLedger, "remember", drawing)
    found, _ = longitudinal_differences(LONGITUDINAL_SCENARIOS, *serving_collector)
    assert len(found) > 5
    assert any(both[0]["drawn"] != both[1]["drawn"] for _, both in found)


# --- shuffled tasks ---

CHAIN_REPLIES = ("accepts", "busy", "refuses", "elsewhere", "no keys", "wrong keys", "no signature")


class ShuffledScenario(Scenario):
    """A shuffled task: its collector is its first hop as well, so that everything is seen."""


class ShuffledCollector(Collector):
    """Serves keys and signs tokens as well, and may fail at both."""

    def __init__(self):
        super().__init__()
        self.chain = None

    def get(self, path, headers):
        if "/rounds/" not in path:
            return super().get(path, headers)
        self.requests.append(("time", self.clock()))
        if self.scenario.reply == "no keys":
            return 503, {}, b""
        notice = notice_of(self.scenario)
        signed = self.chain.signed(notice.fingerprint, 0)
        if self.scenario.reply == "wrong keys":
            signed = signed[::-1]
        signatures = self.chain.set_signatures(notice.fingerprint, notice.opening)
        content = {
            "digest": notice.digest,
            "round": 0,
            "keys": [replace(key, hop=hop).to_dict() for hop, key in enumerate(signed)],
            "set_signatures": [base64url(signature) for signature in signatures],
            "opened": 1000,
        }
        return 200, {}, json.dumps(content).encode()

    def post(self, body):
        if not self.requests[-1][1].endswith("/tokens"):
            return super().post(body)
        self.requests.append(("body", len(body), sorted(json.loads(body)), self.clock()))
        if self.scenario.reply == "no signature":
            return 503, {}, b""
        blinded = settings.base64url("blinded", json.loads(body)["blinded"], MODULUS_BYTES)
        signature = base64url(issuer().sign(blinded))
        return 200, {}, json.dumps({"blind_signature": signature}).encode()


@pytest.fixture(scope="module")
def shuffled_texts():
    """Documents of tasks with shufflers, with tokens or with both, and their collector.

    The tokens of one task give the seeds; another one asks graded groups.
    """
    collector = ShuffledCollector()
    with serving(collector) as url:
        collector.chain = Chain((url, "https://mix-b.example.org"))
        dealt = blind_collection(defence="seeds")
        hashed = sv.Histogram(LABELS, mechanism="olh")
        graded = sv.Mean(30.0, 45.0, defence="graded", probe=0.125)
        tasks = [
            *(
                collector.chain.task(collection=collection)
                for collection in (None, Collection(seconds=3600), blind_collection())
            ),
            sv.Task("hashed", hashed, 2.0, collection=dealt),
            sv.Task("graded", graded, 2.0, collection=blind_collection()),
        ]
        texts = [codec.canonical(codec.document(task)) for task in tasks]
        yield collector, url, texts


def shuffled_differences(collector, url, texts):
    """Return the scenarios in which two values can be told apart, and how many were answered."""
    dice = random.Random(22)
    found = []
    answered = 0
    for text in texts:
        for reply in CHAIN_REPLIES:
            state = dice.choice(STATES) if reply == "accepts" else "fresh"
            scenario = ShuffledScenario(text, state, reply, accepts_public=True)
            values = (dice.choice(inside(scenario)), dice.choice(OUTSIDE))
            seen = [observed(scenario, value, collector, url) for value in values]
            answered += "message" in seen[0]
            if seen[0] != seen[1]:
                found.append((scenario, seen))
    return found, answered


def test_what_a_device_shows_of_a_shuffled_task_does_not_depend_on_what_it_holds(shuffled_texts):
    found, answered = shuffled_differences(*shuffled_texts)
    assert not found, found[0]
    assert answered >= len(CHAIN_REPLIES), "enough devices answered to tell"


def test_a_device_that_refuses_values_of_a_shuffled_task_is_caught(shuffled_texts, monkeypatch):
    """The broken twin: the value is compared with the domain, and silence tells the outcome."""
    monkeypatch.setattr(
        client_module, "held_index", lambda domain, value: HeldIndex(domain.indices([value]))
    )
    collector, url, texts = shuffled_texts
    found, _ = shuffled_differences(collector, url, texts[:1])
    assert found
