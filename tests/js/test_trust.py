"""A device in a browser that the collector cannot trick, whatever its documents say."""

import json
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.tasks.round import MAX_ROUNDS
from sottovoce.wire import codec

CHANGED = 40  # documents with changed entries, beside the golden ones
SEED = 5
RUNS = 3  # values that are compared with each other
HONEST = ("first", "last")  # values of the domain; the others lie in some domains only
STATES = ("fresh", "poor", "busy", "left", "full", "changed")
LIKELY = (0.6, 0.08, 0.08, 0.08, 0.08, 0.08)

OBSERVE = """async (given) => {
    const { observe } = await import("/clients/js/support/independence.js");
    return observe(given);
}"""
VALUES = """async () => {
    const { VALUES } = await import("/clients/js/support/independence.js");
    return Object.keys(VALUES);
}"""
LOOK_FIRST = """async () => {
    const { lookFirst } = await import("/clients/js/support/independence.js");
    lookFirst();
}"""


@dataclass(frozen=True)
class Case:
    """A document and the circumstances in which it is answered."""

    text: str
    state: str
    delay: int
    agrees: bool
    values: tuple[str, ...]

    @property
    def name(self):
        name = json.loads(self.text).get("name")
        return name if isinstance(name, str) and name else "browser"

    def published(self):
        """Return the text, the digest and the round that a collector would publish."""
        content = json.loads(self.text)
        try:
            digest = codec.digest(codec.parse(self.text))
        except SottovoceError:
            digest = ""
        return self.text, digest, content.get("opening")


@pytest.fixture(scope="module")
def documents(worker):
    """Return the texts of the golden tasks without public columns, and of changed ones."""
    texts = worker.run("taskTexts", {"changed": CHANGED, "seed": SEED})
    return [text for text in texts if "public" not in text and len(text) < 100_000]


def cases(documents, values):
    """Return a case for every document, with circumstances drawn from a seed."""
    rng = np.random.default_rng(SEED)
    values = [value for value in values if value not in HONEST]
    for text in documents:
        others = rng.choice(values, RUNS - 1, replace=False)
        yield Case(
            text=text,
            state=str(rng.choice(STATES, p=LIKELY)),
            delay=int(rng.choice((0, 3600))),
            agrees=bool(rng.uniform() < 0.9),
            values=(str(rng.choice(HONEST)), *map(str, others)),
        )


def observed(page, collector, number, case):
    """Return what is seen of a device with each value of a case, in the page and by the server."""
    collector.cases[str(number)] = case.published()
    found = []
    for run, value in enumerate(case.values):
        url = f"{collector.url}/cases/{number}/{run}"
        collector.requests.clear()
        given = {"url": url, "name": case.name, "state": case.state, "value": value}
        given["domain"] = json.loads(case.text).get("domain")
        given |= {"delay": case.delay, "agrees": case.agrees, "seed": number}
        seen = page.evaluate(OBSERVE, given)
        path = f"/cases/{number}/{run}"
        requests = [
            (request.method, request.path.removeprefix(path), request.length, request.headers)
            for request in collector.requests
            if request.path.startswith(path)
        ]
        found.append({**seen, "requests": requests})
    return found


def differences(page, collector, documents):
    """Return the pairs of observations that differ, and all observations."""
    found = []
    different = []
    for number, case in enumerate(cases(documents, page.evaluate(VALUES))):
        runs = observed(page, collector, number, case)
        found += runs
        for one, other in pairwise(runs):
            if (one["text"], one["requests"]) != (other["text"], other["requests"]):
                different.append((case, one, other))
    return different, found


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.papers)])
def test_nothing_that_can_be_seen_depends_on_the_value(tabs, collector, documents, step):
    different, found = differences(tabs(), collector, documents[::step])
    assert not different, different[0]
    outcomes = {run["outcome"].partition(":")[0].partition(" of ")[0] for run in found}
    assert {"a message", "BudgetError", "MismatchError", "CodecError"} <= outcomes
    answered = [run for run in found if run["outcome"].startswith("a message")]
    inside = [run["isInside"] for run in answered]
    print(f"{len(found)} runs, {len(answered)} answers, {sum(inside)} of them to values inside")
    assert min(sum(inside), len(inside) - sum(inside)) > 10
    rehearsals = [run for run in answered if not run["isInside"] and not run["told"]]
    assert not [run for run in answered if run["isInside"] and run["told"]]
    assert len(rehearsals) < len(answered) / 2
    assert max(len(run["requests"]) for run in found) == 3


def test_a_device_that_looks_at_the_value_first_would_be_seen(tabs, collector, documents):
    page = tabs()
    page.evaluate(LOOK_FIRST)
    different, _ = differences(page, collector, documents[:40])
    assert len(different) > 5


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


def test_python_and_javascript_read_the_same_documents(worker):
    texts = worker.run("taskTexts", {"changed": 2000, "seed": SEED})
    in_javascript = [said == "read" for said in worker.run("notices", texts)]
    in_python = [_is_read(text) for text in texts]
    pairs = zip(texts, in_python, in_javascript, strict=True)
    different = [pair for pair in pairs if pair[1] != pair[2]]
    assert not different, different[0]
    assert min(sum(in_python), len(texts) - sum(in_python)) > 300


def _is_read(text):
    try:
        codec.notice(codec.parse(text))
    except SottovoceError:
        return False
    return True
