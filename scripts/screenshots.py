"""Take the pictures of the dashboard for the documentation: a real collector, real reports, a real
browser.

    python scripts/screenshots.py [FOLDER]

Devices are played by the mechanisms themselves, many at a time; the clock of the collector runs
through an afternoon.
"""

import math
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import uvicorn
from pictures import chromium, log_in, save
from playwright.sync_api import Browser, Page

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.collector.api import Api
from sottovoce.collector.app import create
from sottovoce.collector.dashboard.pages import routes
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.collector.wire import Upload
from sottovoce.core.rng import SystemRng
from sottovoce.lab import crowd
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task
from sottovoce.web.settings import Settings
from sottovoce.web.uploads import as_msgpack
from sottovoce.wire import codec
from sottovoce.wire.envelope import ID_BYTES, Envelopes

FOLDER = Path(__file__).parents[1] / "docs" / "images"
START, END = 1_790_000_000, 1_790_018_000  # the afternoon
BATCH = 80

BROWSERS = {
    "Chrome": 0.5,
    "Safari": 0.21,
    "Firefox": 0.12,
    "Edge": 0.09,
    "Samsung Internet": 0.055,
    "Opera": 0.02,
}
DRINKS = (
    *("coffee", "black tea", "green tea", "water", "milk", "juice", "cocoa", "mate"),
    *(f"tea blend {number}" for number in range(1, 19)),
)
PROMOTED = ("Zap", "Zap Zero", "Zap Gold", "Zap Ice", "Zap Berry", "Zap Night")
FALSE_REPORTS = 600
REGIONS = ["north", "east", "south", "west"]
QUESTION = "SELECT region, plan, COUNT(*) AS people\nFROM people\nGROUP BY region, plan"
NEW_TASK = """name = "sleep"
description = "How many hours did you sleep?"
epsilon = 1.0

[plan]
kind = "distribution"
low = 0
high = 14

[collection]
quota = 5_000
minimum = 200
"""
TASKS = {
    "browser": sv.Task(
        "browser",
        sv.Histogram([*BROWSERS, "Brave", "Vivaldi"]),
        epsilon=1.2,
        description="Which browser do you use most?",
        collection=Collection(quota=9_000, grace=0, crowd=120),
    ),
    "commute": sv.Task(
        "commute",
        sv.Distribution(0, 120, 60),
        epsilon=2.0,
        description="How many minutes is your way to work?",
        collection=Collection(quota=6_000, grace=0),
    ),
    "working week": sv.Task(
        "working week",
        sv.Survey({"place": ["home", "office", "both"], "days": range(1, 8)}),
        epsilon=1.5,
        description="Where do you work, and on how many days?",
        collection=Collection(quota=12_000, seconds=7 * 86_400, grace=0),
    ),
    "drinks": sv.Task(
        "drinks",
        sv.Histogram([*DRINKS, *PROMOTED], "affine"),
        epsilon=2.0,
        description="What do you drink in the morning?",
        collection=Collection(quota=6_600, grace=0),
    ),
    "customers": sv.Task(
        "customers",
        sv.Table({"age": range(18, 80), "region": REGIONS, "plan": ["free", "premium"]}),
        epsilon=4.0,
        description="How old are you, where do you live, and what do you pay for?",
        collection=Collection(quota=8_000, grace=0),
    ),
    "age": sv.Task(
        "age",
        sv.Histogram(range(18, 100)),
        epsilon=2.0,
        description="How old are you?",
        collection=Collection(quota=9_000, grace=0),
    ),
    "newsletter": sv.Task(
        "newsletter",
        sv.Histogram(["daily", "weekly", "never"]),
        epsilon=1.0,
        description="How often should we write to you?",
        collection=Collection(quota=2_000, seconds=3 * 86_400, enrolment=True),
    ),
}


FINISHED = ("commute", "browser", "drinks", "customers", "age")  # their quota is reached


class Afternoon:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = float(START)

    def __call__(self) -> float:
        return self.now


def messages(task: Task, values: np.ndarray) -> list[bytes]:
    """Return one message for every person, as devices would make them."""
    asked, rng = task.opening, SystemRng()
    ask, made = asked.ask, []
    people = len(values)
    members = np.zeros(people, np.int64)
    if isinstance(ask, Choice):
        members = ask.pick(np.frombuffer(rng.bytes(8 * people), np.uint64))
    for member in np.unique(members).tolist():
        question, chosen = asked.question(Address(0, member)), members == member
        packed = question.mechanism.pack(question.privatize(values[chosen], rng))
        payloads = np.zeros((int(chosen.sum()), asked.width), np.uint8)
        payloads[:, : question.width] = np.frombuffer(packed, np.uint8).reshape(len(payloads), -1)
        ids = np.frombuffer(rng.bytes(ID_BYTES * len(payloads)), np.uint8).reshape(-1, ID_BYTES)
        digest = codec.digest_bytes(codec.document(task))
        whole = Envelopes(digest, 0, members[chosen], ids, payloads).write()
        size = len(whole) // len(payloads)
        made += [whole[start : start + size] for start in range(0, len(whole), size)]
    return made


def people() -> dict[str, np.ndarray]:
    """Return what the people of every task would say, as indices."""
    draw = np.random.default_rng(7)
    browsers = draw.choice(len(BROWSERS) + 2, 9_000, p=[*BROWSERS.values(), 0.004, 0.001])
    minutes = np.clip(draw.gamma(3.0, 11.0, 6_000) + 4, 0, 119) / 2
    places, days = draw.choice(3, 7_400, p=[0.3, 0.45, 0.25]), draw.choice(7, 7_400, p=_week())
    week = np.stack([places, days], axis=1)
    drinks = np.minimum(draw.geometric(0.25, 6_000) - 1, len(DRINKS) - 1)
    return {
        "browser": browsers,
        "commute": minutes.astype(np.int64),
        "working week": week,
        "drinks": drinks,
    }


def ages(count: int) -> np.ndarray:
    """Return the ages of some people, from 18 to 79."""
    draw = np.random.default_rng(11)
    return np.clip(draw.normal(41, 14, count), 18, 79).astype(np.int64)


def customers() -> dict[str, list[Any]]:
    """Return what customers hold, column by column."""
    draw = np.random.default_rng(13)
    age = ages(8_000)
    region = draw.choice(REGIONS, len(age), p=[0.4, 0.2, 0.15, 0.25])
    pays = draw.random(len(age)) < np.where(age > 40, 0.45, 0.2)
    plan = np.where(pays, "premium", "free")
    return {"age": age.tolist(), "region": region.tolist(), "plan": plan.tolist()}


def _week() -> list[float]:
    return [0.03, 0.04, 0.08, 0.2, 0.55, 0.08, 0.02]


def false_messages(task: Task) -> list[bytes]:
    """Return messages that promote some drinks together, from searched seeds."""
    rng = SystemRng()
    attack = MaximalGain(task.plan.domain, PROMOTED, tries=100)
    reports = attack.reports(task.opening, FALSE_REPORTS, rng)[Address()]
    packed = task.opening.question(Address()).mechanism.pack(reports)
    payloads = np.frombuffer(packed, np.uint8).reshape(len(reports), -1)
    ids = np.frombuffer(rng.bytes(ID_BYTES * len(reports)), np.uint8).reshape(-1, ID_BYTES)
    digest = codec.digest_bytes(codec.document(task))
    members = np.zeros(len(reports), np.int64)
    whole = Envelopes(digest, 0, members, ids, payloads).write()
    size = len(whole) // len(reports)
    return [whole[start : start + size] for start in range(0, len(whole), size)]


def collect(address: str, clock: Afternoon) -> None:
    """Let all people answer during the afternoon, and a few of them badly."""
    for name, values in people().items():
        sent = messages(TASKS[name], values)
        if name == "drinks":
            sent += false_messages(TASKS[name])
        for start in range(0, len(sent), BATCH):
            share = start / len(sent)
            clock.now = START + (END - START) * (share + 0.04 * math.sin(6 * math.pi * share))
            _send(address, name, sent[start : start + BATCH])
    for name, held in (("customers", customers()), ("age", ages(9_000).tolist())):
        sent = crowd.messages(TASKS[name], held)
        for start in range(0, len(sent), BATCH):
            _send(address, name, sent[start : start + BATCH])
    clock.now = END - 400
    strangers = messages(TASKS["commute"], people()["commute"][:12])
    _send(address, "working week", [b"not an envelope"] * 7 + strangers)
    clock.now = END


def _send(address: str, name: str, sent: list[bytes]) -> None:
    body = as_msgpack(Upload(sent))
    kind = {"content-type": "application/msgpack"}
    httpx2.post(f"{address}/v1/tasks/{name}/reports", content=body, headers=kind).raise_for_status()


@contextmanager
def collector(data: Path, clock: Afternoon) -> Iterator[tuple[str, Api]]:
    """Run a collector with its dashboard."""
    store = SqliteStore(data / "collector.db")
    app = create(store, Settings(data, rate=0, tick=0.2), clock=clock, pages=routes)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", app.state.api
    finally:
        server.should_exit = True
        thread.join()
        store.close()


def view(browser: Browser, *, width: int = 1080, height: int = 900, dark: bool = False) -> Page:
    """Return an empty page of a size and a colour scheme."""
    size = {"width": width, "height": height}
    scheme = "dark" if dark else "light"
    return browser.new_context(viewport=size, color_scheme=scheme).new_page()


def enter(page: Page, address: str, token: str, path: str = "/") -> Page:
    """Log in and go to a page."""
    page.goto(f"{address}/login?next={path}")
    log_in(page, token)
    return page


@dataclass(frozen=True)
class Look:
    """One way to look at a page."""

    suffix: str
    width: int
    dark: bool = False


LOOKS = (Look("", 1080), Look("-dark", 1080, dark=True), Look("-narrow", 390))


def ask(page: Page) -> None:
    """Ask a question in SQL, and show its answer from the question on."""
    page.fill("#sql", QUESTION)
    page.get_by_role("button", name="Ask").click()
    page.wait_for_selector("#answer-title")
    page.evaluate("document.querySelector('#question').scrollIntoView()")


def check(page: Page) -> None:
    """Let a task file be checked, and go back to the top."""
    page.fill("#text", NEW_TASK)
    page.get_by_role("button", name="Check").click()
    page.wait_for_selector("text=Nothing is published yet")
    page.evaluate("window.scrollTo(0, 0)")


@dataclass(frozen=True)
class State:
    """One state of the dashboard: what is shown, to whom, after what was done."""

    name: str
    path: str
    height: int = 1500
    scope: str = access.ANALYST
    act: Callable[[Page], None] = lambda page: None
    full: bool = False


def scroll_to_collection(page: Page) -> None:
    """Show the page from the state of its rounds on."""
    page.evaluate("document.querySelector('#collection').scrollIntoView()")


STATES = (
    State("tasks", "/", 860),
    State("histogram", "/tasks/browser"),
    State("distribution", "/tasks/commute"),
    State("bins", "/tasks/age?bins=25"),
    State("empty", "/tasks/newsletter", 1250, full=True),
    State("collecting", "/tasks/working%20week", 1000, act=scroll_to_collection),
    State("integrity", "/tasks/drinks/integrity", 1700, full=True),
    State("implausible", "/tasks/drinks", 1100),
    State("operate", "/operate", scope=access.OPERATOR, act=check, full=True),
    State("sql", "/tasks/customers/sql", act=ask),
)


def take(browser: Browser, address: str, tokens: dict[str, str], folder: Path) -> None:
    """Save every state in every look."""
    for look in LOOKS:
        for state in STATES:
            page = view(browser, width=look.width, height=state.height, dark=look.dark)
            state.act(enter(page, address, tokens[state.scope], state.path))
            file = folder / f"dashboard-{state.name}{look.suffix}.png"
            save(page, file, full=state.full, max_height=2400)
            page.context.close()
        page = view(browser, width=look.width, height=640, dark=look.dark)
        refuse(page, address)
        save(page, folder / f"dashboard-login-refused{look.suffix}.png", full=False)
        page.context.close()


def refuse(page: Page, address: str) -> None:
    """Try to log in with a token that the collector does not know."""
    page.goto(f"{address}/login")
    page.fill("#token", "not a token of this collector")
    page.press("#token", "Enter")
    page.wait_for_selector("#refused")


def main(folder: Path) -> None:
    """Collect, then take the pictures."""
    clock = Afternoon()
    with tempfile.TemporaryDirectory() as data, collector(Path(data), clock) as (address, api):
        for task in TASKS.values():
            api.collector.create(codec.canonical(codec.document(task)), toml=False)
        collect(address, clock)
        while any(api.collector.find(name).state != "finished" for name in FINISHED):
            time.sleep(0.1)
        tokens = {}
        for scope in (access.ANALYST, access.OPERATOR):
            (tokens[scope],) = access.issue(api.collector.store, scope, int(clock()))
        with chromium() as browser:
            take(browser, address, tokens, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
