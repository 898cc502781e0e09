"""A device in a browser that the collector cannot trick, whatever its documents say."""

import json
import random
import time
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

import sottovoce as sv
from client.shuffling import LABELS, Chain, base64url, blind_collection, issuer
from fuzz.hostile_documents import LEAVES, extremes
from js.collector import ROOT, Answer, Case, Collector
from sottovoce.core import bounds, settings
from sottovoce.domains.buckets import Buckets
from sottovoce.errors import SottovoceError
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.round import MAX_ROUNDS
from sottovoce.wire import codec
from sottovoce.wire.tokens import MODULUS_BYTES

CHANGED = 40  # documents with changed entries, beside the golden ones
SEED = 5
RUNS = 3  # values that are compared with each other
HONEST = ("first", "last")  # values of the domain; the others lie in some domains only
OPEN = (*HONEST, "wrong")  # values whose public columns are the same; one has others outside
REPLIES = ("accepts", "busy", "refuses", "elsewhere")
STEPS = (5, 30, 30, 600, 3600)  # seconds between attempts to send
MANY_STEPS = (*[5] * 13, 600, 3600)  # the same time in smaller steps, in `make papers`
STATES = ("fresh", "poor", "busy", "left", "full", "changed")
LIKELY = (0.6, 0.08, 0.08, 0.08, 0.08, 0.08)

OBSERVE_ALL = """async (given) => {
    const { observeAll } = await import("/clients/js/support/independence.js");
    return observeAll(given);
}"""
VALUES = """async () => {
    const { VALUES } = await import("/clients/js/support/independence.js");
    return Object.keys(VALUES);
}"""


@dataclass(frozen=True)
class Circumstances:
    """A document, how its collector behaves, and what the device and its owner do.

    ``accepts_public`` says whether the application lets public columns leave, and ``earlier`` are
    the values that the device has answered earlier rounds with.
    """

    served: Case
    state: str
    delay: int | None
    agrees: bool
    values: tuple[str, ...]
    accepts_public: bool = True
    earlier: tuple[str, ...] = ()

    @property
    def name(self):
        name = content_of(self.served.text).get("name")
        return name if isinstance(name, str) and name else "browser"


def content_of(text):
    """Return what a text says, or nothing if it is no document."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def served(text, kind=Case, **settings):
    """Return what a collector would publish of a text."""
    try:
        digest = codec.digest(codec.parse(text))
    except SottovoceError:
        digest = ""
    return kind(text, digest, content_of(text).get("opening"), **settings)


@pytest.fixture(scope="module")
def documents(worker):
    """Return the texts of the golden tasks and of changed ones."""
    return worker.run("taskTexts", {"changed": CHANGED, "seed": SEED})


OPEN_COLUMNS = {"os": ["i", "a label of many letters"], "born": range(1900, 2020)}


def open_documents():
    """Return the texts of tasks that send columns in clear, some of them longer than others."""
    private = {"age": range(64), "state": LABELS}
    plan = sv.Table(private, public=OPEN_COLUMNS | {"height": Buckets(0.0, 2.5, 25)})
    rehearsal = Collection(sandbox=True)
    tasks = [
        *(sv.Task(f"open {number}", plan, 1.0) for number in range(6)),
        *(sv.Task(f"rehearsed {number}", plan, 1.0, collection=rehearsal) for number in range(2)),
    ]
    return [codec.canonical(codec.document(task)) for task in tasks]


def worst_documents():
    """Return the texts of the worst known documents that a device reads at all."""
    texts = [text.encode(errors="replace") for text in extremes().values()]
    return [text.decode() for text in texts if len(text) < bounds.MAX_DOCUMENT_BYTES]


@pytest.fixture(scope="module")
def observatory(browser):
    """One page and one collector for all observations: loading the client takes longer."""
    made = Collector({}, "")
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{made.url}/page")
    yield page, made
    context.close()
    made.stop()


def circumstances(documents, values):
    """Return circumstances for every document, drawn from a seed."""
    rng = np.random.default_rng(SEED)
    for text in documents:
        accepts_public = bool(rng.uniform() < 0.7)
        yield Circumstances(
            served=served(text, reply=str(rng.choice(REPLIES))),
            state=str(rng.choice(STATES, p=LIKELY)),
            delay=[0, 3600, None][int(rng.integers(3))],
            agrees=bool(rng.uniform() < 0.9),
            values=compared_values(rng, values, text, accepts_public),
            accepts_public=accepts_public,
        )


def compared_values(rng, values, text, accepts_public):
    """Return values to compare; what is public by agreement is the same in all of them."""
    domain = content_of(text).get("domain")
    if accepts_public and isinstance(domain, dict) and domain.get("public"):
        return OPEN
    return drawn_values(rng, values)


def drawn_values(rng, values):
    """Return a value of the domain and others, which may be outside of it."""
    others = [value for value in values if value not in OPEN]
    return (str(rng.choice(HONEST)), *map(str, rng.choice(others, RUNS - 1, replace=False)))


def differences(observatory, cases, *, mistake="none", steps=STEPS):
    """Return the pairs of observations that differ, and all observations.

    ``mistake`` names one that the devices have.  They try to send what waits after each of the
    ``steps``, in seconds.
    """
    page, collector = observatory
    context = f"{time.monotonic_ns()}"  # ledgers of an earlier call are not seen again
    given = []
    cases = list(cases)
    for number, case in enumerate(cases):
        folder = f"{context}-{number}"
        collector.cases[folder] = case.served
        common = {"url": f"{collector.url}/cases/{folder}", "name": case.name, "seed": number}
        common |= {"state": case.state, "agrees": case.agrees, "token": "mine"}
        common |= {"text": case.served.text, "earlier": case.earlier, "steps": steps}
        common |= {"acceptsPublic": case.accepts_public}
        common |= {} if case.delay is None else {"delay": case.delay}
        given.append({**common, "run": folder, "values": case.values})
    collector.requests.clear()
    seen = page.evaluate(OBSERVE_ALL, {"cases": given, "mistake": mistake})
    found = [
        {**each, "requests": requests}
        for each, requests in zip(seen, requests_by_run(collector), strict=True)
    ]
    different = []
    for start in range(0, len(found), RUNS):
        of_case = found[start : start + RUNS]
        for one, other in pairwise(of_case):
            if (one["text"], one["requests"]) != (other["text"], other["requests"]):
                different.append((cases[start // RUNS], one, other))
    return different, found


def requests_by_run(collector):
    """Return what the server saw of every run, with the time on the clock of the device.

    Each run begins with a request for the page, and before every other one a page tells the time.
    """
    runs = []
    now = None
    for request in collector.requests:
        if request.path == "/page":
            runs.append([])
        elif request.path.startswith("/time/"):
            now = float(request.path.removeprefix("/time/"))
        elif request.path.startswith(("/cases/", "/hop/")):
            runs[-1].append((now, request.method, request.path, request.length, request.headers))
    return runs


def check_answers(found, least):
    """Check that values inside and outside were answered, and that only the latter were told."""
    answered = [run for run in found if run["outcome"].startswith("a message")]
    inside = [run["isInside"] for run in answered]
    print(f"{len(found)} runs, {len(answered)} answers, {sum(inside)} of them to values inside")
    assert min(sum(inside), len(inside) - sum(inside)) > least
    assert not [run for run in answered if run["isInside"] and run["told"]]
    rehearsals = [run for run in answered if not run["isInside"] and not run["told"]]
    assert len(rehearsals) < len(answered) / 2


def outcomes_of(found):
    return {run["outcome"].partition(":")[0].partition(" of ")[0] for run in found}


@pytest.mark.parametrize(
    ("step", "worst_step", "steps"),
    [(5, 16, STEPS), pytest.param(1, 1, MANY_STEPS, marks=pytest.mark.papers)],
)
def test_nothing_that_can_be_seen_depends_on_the_value(
    observatory, documents, step, worst_step, steps
):
    texts = [*documents[::step], *worst_documents()[::worst_step], *open_documents()]
    cases = list(circumstances(texts, observatory[0].evaluate(VALUES)))
    different, found = differences(observatory, cases, steps=steps)
    assert not different, different[0]
    assert {"a message", "BudgetError", "MismatchError", "CodecError"} <= outcomes_of(found)
    check_answers(found, 10)
    times = [{now for now, *_ in run["requests"]} for run in found]
    assert max(map(len, times)) > 3, "some messages are sent again and again"
    with_runs = zip(cases, found[::RUNS], strict=True)
    assert {case.served.reply for case, run in with_runs if sent(run)} == set(REPLIES)
    open_runs = [run for run in found if run["isOpen"] and sent(run)]
    assert {run["isInside"] for run in open_runs} == {True, False}, "columns have left in clear"


def sent(run):
    """Return whether a message has left in a run."""
    return any(method == "POST" for _, method, *_ in run["requests"])


@pytest.mark.parametrize(
    ("mistake", "steps"), [("lookFirst", ()), ("drawLazily", ()), ("sendHastily", STEPS)]
)
def test_a_device_with_a_mistake_would_be_seen(observatory, documents, mistake, steps):
    """The broken twins: it refuses values outside, draws for them alone, or sends them at once."""
    cases = circumstances(documents[::4], observatory[0].evaluate(VALUES))
    different, _ = differences(observatory, cases, mistake=mistake, steps=steps)
    print(f"{mistake}: {len(different)} pairs differ")
    assert len(different) > 5
    if mistake == "sendHastily":
        assert [pair for _, *pair in different if pair[0]["requests"] != pair[1]["requests"]]


def test_a_device_that_draws_public_columns_for_values_outside_would_be_seen(observatory):
    """The broken twin: what is public tells that a private column lay outside."""
    cases = [Circumstances(served(text), "fresh", 0, True, OPEN) for text in open_documents()]
    different, _ = differences(observatory, cases, mistake="drawPublic", steps=())
    print(f"drawPublic: {len(different)} pairs differ")
    assert different


# --- longitudinal tasks: what was answered in earlier rounds is remembered ---

LONGITUDINAL = 14
MANY = 10  # times as many in `make papers`


def longitudinal_circumstances(count, values):
    """Return circumstances of devices that have answered earlier rounds.

    They did with values that are compared or with others, as many as are remembered or more.
    """
    lives = json.loads((ROOT / "tests" / "golden" / "longitudinal.json").read_text())["lives"]
    dice = random.Random(SEED)
    others = [value for value in values if value not in HONEST]
    for _ in range(count):
        made = served(codec.canonical(dice.choice(lives)["task"]))
        compared = (*HONEST, dice.choice(others))
        earlier = dice.choices((*HONEST, dice.choice(others)), (4, 4, 1), k=dice.randint(1, 4))
        made.asked = {**made.asked, "number": len(earlier)}
        made.reply = dice.choice((*["accepts"] * 4, *REPLIES))
        yield Circumstances(made, "fresh", 0, True, compared, earlier=tuple(earlier))


@pytest.mark.parametrize(
    "count", [LONGITUDINAL, pytest.param(MANY * LONGITUDINAL, marks=pytest.mark.papers)]
)
def test_nothing_that_can_be_seen_depends_on_what_a_device_remembers(observatory, count):
    cases = longitudinal_circumstances(count, observatory[0].evaluate(VALUES))
    different, found = differences(observatory, cases)
    assert not different, different[0]
    check_answers(found, count // 3)


def test_a_device_that_refuses_a_value_beyond_those_it_paid_for_would_be_seen(observatory):
    cases = longitudinal_circumstances(LONGITUDINAL, observatory[0].evaluate(VALUES))
    different, _ = differences(observatory, cases, mistake="refuseFurther", steps=())
    assert len(different) > 3


# --- shuffled tasks, and tasks whose tokens give the seeds ---


class ShuffledCase(Case):
    """Serves keys and signs tokens as well, and may fail at either."""

    def __init__(self, text, digest, asked, reply, chain):
        super().__init__(text, digest, asked, reply)
        self.chain = chain

    def get(self, path):
        if not path.endswith("/keys"):
            return super().get(path)
        if self.reply == "no keys":
            return Answer(503)
        notice = codec.notice(codec.parse(self.text))
        signed = self.chain.signed(notice.fingerprint, 0)
        if self.reply == "wrong keys":
            signed = signed[::-1]
        signatures = self.chain.set_signatures(notice.fingerprint, notice.opening)
        content = {
            "digest": self.digest,
            "round": 0,
            "keys": [replace(key, hop=hop).to_dict() for hop, key in enumerate(signed)],
            "set_signatures": [base64url(signature) for signature in signatures],
            "opened": 1_000_000,
        }
        return Answer.of(content)

    def post(self, path, content):
        if not path.endswith("/tokens"):
            return super().post(path, content)
        if self.reply == "no signature":
            return Answer(503)
        blinded = settings.base64url("blinded", json.loads(content)["blinded"], MODULUS_BYTES)
        signature = issuer().sign(blinded)
        if self.reply == "wrong signature":
            signature = signature[::-1]
        return Answer.of({"blind_signature": base64url(signature)})


FAILURES = ("no keys", "wrong keys", "no signature", "wrong signature")
SHUFFLED_REPLIES = (*REPLIES, *FAILURES)


@pytest.fixture(scope="module")
def shuffled_texts(observatory):
    """Return a chain whose first hop is the collector, and documents of tasks that need it."""
    chain = Chain((f"{observatory[1].url}/hop", "https://mix-b.example.org"))
    hashed = sv.Histogram(LABELS, mechanism="olh")
    dealt = blind_collection(defence="seeds")
    graded = sv.Mean(0.0, 1.0, defence="graded", probe=0.125)
    stated = {"users": 1000, "fakes": 0, "central": 2.0, "against_users": 2.0}
    tasks = [
        chain.task(),
        chain.task(collection=Collection(seconds=3600)),
        chain.task(collection=blind_collection()),
        sv.Task("browser", hashed, 2.0, collection=dealt, shuffle=chain.shuffle(**stated)),
        sv.Task("browser", hashed, 2.0, collection=dealt),
        sv.Task("browser", graded, 2.0, collection=blind_collection()),
    ]
    return chain, [codec.canonical(codec.document(task)) for task in tasks]


def shuffled_circumstances(shuffled_texts, values, replies=SHUFFLED_REPLIES):
    """Return circumstances for every document and reply; others have an entry changed."""
    chain, texts = shuffled_texts
    rng = np.random.default_rng(SEED)
    dice = random.Random(SEED)
    for text in texts:
        for reply in replies:
            is_changed = reply == "accepts"
            for each in (text, changed(text, dice)) if is_changed else (text,):
                yield Circumstances(
                    served=served(each, ShuffledCase, chain=chain, reply=reply),
                    state=str(rng.choice(STATES, p=LIKELY)) if reply == "accepts" else "fresh",
                    delay=[0, 3600, None][int(rng.integers(3))],
                    agrees=bool(rng.uniform() < 0.9),
                    values=drawn_values(rng, values),
                )


def changed(text, dice):
    """Return a document with one entry of its shuffle or collection changed."""
    content = json.loads(text)
    parts = [content[name] for name in ("shuffle", "collection") if name in content]
    part = dice.choice(parts)
    part[dice.choice(sorted(part))] = dice.choice(LEAVES)
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@pytest.mark.parametrize(
    "replies", [("accepts", "refuses"), pytest.param(SHUFFLED_REPLIES, marks=pytest.mark.papers)]
)
def test_nothing_that_can_be_seen_of_a_shuffled_task_depends_on_the_value(
    observatory, shuffled_texts, replies
):
    values = observatory[0].evaluate(VALUES)
    cases = shuffled_circumstances(shuffled_texts, values, replies)
    different, found = differences(observatory, cases)
    assert not different, different[0]
    assert {"a message", "CodecError"} <= outcomes_of(found)
    check_answers(found, 5)
    paths = {path for run in found for _, _, path, *_ in run["requests"]}
    assert any(path.startswith("/hop/") for path in paths), "sealed messages have left"
    assert max(len(run["requests"]) for run in found) >= 5  # task, round, keys, token, message


def test_a_device_that_looks_first_at_the_value_of_a_shuffled_task_would_be_seen(
    observatory, shuffled_texts
):
    values = observatory[0].evaluate(VALUES)
    cases = shuffled_circumstances(shuffled_texts, values, ("accepts", "refuses"))
    different, _ = differences(observatory, cases, mistake="lookFirst", steps=())
    assert len(different) > 3


LOOK_TWICE = """async (url) => {
    const { Device } = await import("/clients/js/dist/browser.js");
    const device = new Device(url, { delay: 0 });
    const notices = [await device.notice("browser"), await device.notice("browser")];
    await device.answer("browser", "firefox");
    device.close();
    return notices.map((notice) => notice.digest);
}"""
TRACKING = {"cookie", "referer", "authorization", "if-none-match", "if-modified-since", "if-range"}


def test_requests_do_not_tell_one_device_from_another(browser, collector):
    """A collector that sets cookies and entity tags gets neither back, and nothing from a cache."""
    seen = []
    for visits in (1, 2):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{collector.url}/page")
        page.evaluate("() => { document.cookie = 'device=7'; localStorage.visitor = '7'; }")
        for _ in range(visits - 1):  # a visitor who was here before
            page.evaluate("async (url) => (await fetch(url)).text()", f"{collector.url}/page")
        collector.requests.clear()
        page.evaluate(LOOK_TWICE, collector.url)
        seen.append([request for request in collector.requests if "/v1/" in request.path])
        context.close()
    for requests in seen:
        paths = [request.path.removeprefix("/v1/tasks/browser") for request in requests]
        assert paths == ["", "", "", "/round", "/reports"]  # each look reaches the collector
        for request in requests:
            assert not TRACKING & set(request.headers), request
            assert "?" not in request.path
    assert seen[0] == seen[1]


ANSWER_AGAIN = """async ({ url, forget }) => {
    const { BrowserLedger, Client } = await import("/clients/js/dist/browser.js");
    const done = (request) => new Promise((resolve, reject) => {
        request.onsuccess = resolve;
        request.onerror = request.onblocked = reject;
    });
    if (forget.includes("database")) await done(indexedDB.deleteDatabase("sottovoce"));
    if (forget.includes("marker")) localStorage.clear();
    const text = await (await fetch(`${url}/v1/tasks/browser`)).text();
    const client = await Client.open(text, new BrowserLedger());
    return client.answer("firefox").then(() => "answered", (error) => error.message);
}"""


def test_a_database_that_was_removed_is_noticed(tabs, collector):
    page = tabs()

    def answer(*forget):
        return page.evaluate(ANSWER_AGAIN, {"url": collector.url, "forget": list(forget)})

    assert answer() == "answered"
    assert "already answered" in answer()
    assert "gone or cut" in answer("database")
    assert "gone or cut" in answer()
    assert answer("database", "marker") == "answered"  # whoever clears a site's data begins anew


def test_without_its_marker_a_removed_database_would_not_be_noticed(tabs, collector):
    page = tabs()
    page.evaluate("() => Object.defineProperty(window, 'localStorage', { value: undefined })")
    for _ in range(2):
        given = {"url": collector.url, "forget": ["database"]}
        assert page.evaluate(ANSWER_AGAIN, given) == "answered"


def test_a_browser_refuses_what_the_app_has_not_accepted(tabs, collector):
    page = tabs()
    found = page.evaluate(
        """async (url) => {
            const { Device } = await import("/clients/js/dist/browser.js");
            const outcomes = [];
            for (const accepts of [{ epsilon: 0.5 }, { plans: ["mean"] }, { digest: "another" }]) {
                const device = new Device(url, { delay: 0, accepts: { browser: accepts } });
                const answered = device.answer("browser", "firefox");
                outcomes.push(await answered.then(() => "answered", (error) => error.name));
                device.close();
            }
            return outcomes;
        }""",
        collector.url,
    )
    assert found == ["MismatchError"] * 3
    assert collector.posts == []


def test_python_and_javascript_have_the_same_bounds(worker):
    from sottovoce.core import bounds

    in_javascript = worker.run("bounds", {})
    assert in_javascript.pop("MAX_ROUNDS") == MAX_ROUNDS
    assert in_javascript == {name: getattr(bounds, name) for name in in_javascript}
    assert len(in_javascript) > 15


@pytest.mark.parametrize("count", [600, pytest.param(4000, marks=pytest.mark.papers)])
def test_python_and_javascript_read_the_same_documents(worker, count):
    texts = worker.run("taskTexts", {"changed": count, "seed": SEED})
    in_javascript = [said == "read" for said in worker.run("notices", texts)]
    in_python = [_is_read(text) for text in texts]
    pairs = zip(texts, in_python, in_javascript, strict=True)
    different = [pair for pair in pairs if pair[1] != pair[2]]
    assert not different, different[0]
    assert min(sum(in_python), len(texts) - sum(in_python)) > count // 7


def _is_read(text):
    try:
        codec.notice(codec.parse(text))
    except SottovoceError:
        return False
    return True


@pytest.mark.parametrize("page", ["docs/tour.md", "clients/js/README.md"])
def test_applications_are_told_to_serve_their_own_copy_of_the_client(page):
    text = (ROOT / page).read_text("utf-8")
    assert "`integrity`" in text
    imports = [line for line in text.splitlines() if "import {" in line and " from " in line]
    assert imports
    assert not [line for line in imports if "https://" in line]
