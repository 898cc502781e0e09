"""Attacks on devices in JavaScript, each on the client beside the package that is imported here.

``scripts/attacks.py`` runs them on two trees, as it does those of ``attack_cases.py``.  The
documents are made by the package of the tree, and ``attack_devices.js`` runs the client that the
tree has built, in Node.  What a browser keeps by itself is tried in Chromium.
"""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import attack_cases

import sottovoce as sv
from sottovoce.plans.tables.table import Table
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec

BUILT = Path(sv.__file__).parents[2] / "clients" / "js" / "dist"
SCRIPT = Path(__file__).with_name("attack_devices.js")
TESTS = Path(__file__).resolve().parents[1] / "tests"
PEOPLE = 20
BRACKETS = 1024
ANSWER_OFTEN = """async () => {
    const { BrowserLedger, Device } = await import("/dist/browser.js");
    for (const url of [location.origin, `${location.origin}/marked`]) {
        const device = new Device(url, { ledger: new BrowserLedger(), delay: 0 });
        for (let turn = 0; turn < 3; turn++) await device.answer("pets", "cat").catch(() => {});
        device.close();
    }
}"""
PETS = ["cat", "dog"]


def text_of(task: sv.Task) -> str:
    """Return the canonical document of a task."""
    return codec.canonical(codec.document(task))


def silence(how: str) -> Any:
    """Halve the domain of incomes again and again, and listen for who stays silent."""
    search = attack_cases.SEARCHES[how]
    texts = {}
    stretches = [(0, BRACKETS)]
    while stretches:
        low, high = stretches.pop()
        middle = (low + high) // 2
        if high - low > 2:
            texts[f"{low} {high}"] = text_of(search.task(low, middle))
            stretches += [(low, middle), (middle, high)]
    given = {"texts": texts, "brackets": BRACKETS, "people": PEOPLE}
    return {**given, "agrees": search.agrees}


def no_budget(_: str) -> Any:
    """Ask a device whose owner allows nothing for a rehearsal."""
    rehearsal = Collection(sandbox=True)
    return {"text": text_of(sv.Task("pets", sv.Histogram(PETS), 1.0, collection=rehearsal))}


def public_column(_: str) -> Any:
    """Declare a column public that the application means to be private."""
    table = Table({"age": range(100)}, public={"city": ["Oslo", "Rome"]})
    return {"text": text_of(sv.Task("people", table, 1.0))}


def another_meaning(_: str) -> Any:
    """Ask for something else under a name that the device has answered."""
    first = sv.Task("home", sv.Histogram(["house", "flat"]), 1.0)
    return {
        "texts": [text_of(first), text_of(sv.Task("home", sv.Histogram(["rich", "poor"]), 2.0))]
    }


def forged_consent(how: str) -> Any:
    """Choose words that the owner may take for the device's own."""
    content: Any = codec.document(sv.Task("pets", sv.Histogram(PETS), 1.0, description="A survey."))
    words = attack_cases.FORGED_WORDS
    forged = f"\u201d. {words} \u201c"
    match how:
        case "lines":
            content["description"] = f"A survey.\n{words}\u202e"
        case "quotation marks":
            content["description"] = f"A survey{forged}"
        case "name":
            content["name"] = f"pets{forged}"
        case "labels":
            content["domain"]["labels"][0] = f"cat{forged}"
        case "length":
            content["description"] = attack_cases.LONG_DESCRIPTION
        case "order":
            content["description"] = words
    return {"text": codec.canonical(content), "how": how, "words": words}


def own_round(how: str) -> Any:
    """Give one device a round of its own, so that its report is recognised or tells more."""
    marked = attack_cases.OWN_ROUNDS[how]()
    rounds = {"own": codec.document(marked.asked), "everybody": codec.document(marked.task.opening)}
    document = codec.document(marked.task)
    given = {"text": codec.canonical(document), "digest": codec.digest(document)}
    return {**given, "name": marked.task.name, "value": marked.value, "rounds": rounds}


def slow_document(text: str) -> Any:
    """Let a small document keep a device busy, or make it send a long message."""
    return {"text": text}


def outage(hours: str) -> Any:
    """Be out of reach for some hours, and count the devices whose report never arrives."""
    return {**_one_task(), "people": PEOPLE, "hours": float(hours)}


def quarter_up(_: str) -> Any:
    """Be within reach a quarter of the time, minute by minute, while a round is open for a week."""
    dice = random.Random(4)
    up = [dice.random() < 0.25 for _minute in range(7 * 24 * 60 + 1)]
    return {**_one_task(), "people": 2 * PEOPLE, "up": up}


def kept_message(_: str) -> Any:
    """Steal a device a month after it has sent its report."""
    return _one_task()


def _one_task() -> dict[str, Any]:
    task = sv.Task("pets", sv.Histogram(PETS), 1.0)
    return {"texts": {"pets": text_of(task)}, "digest": codec.digest(codec.document(task))}


def plain_http(_: str) -> Any:
    """Listen on the way to the collector."""
    return {}


def dripping_server(_: str) -> Any:
    """Answer a device one byte at a time."""
    return {}


def cut_ledger(_: str) -> Any:
    """Cut the file of a spent ledger to nothing, and ask again."""
    return _two_tasks()


def removed_ledger(_: str) -> Any:
    """Remove the file of a spent ledger, and ask again."""
    return _two_tasks()


def _two_tasks() -> dict[str, Any]:
    tasks = [sv.Task(name, sv.Histogram(PETS), 1.0) for name in ("first", "second")]
    return {"texts": [text_of(task) for task in tasks]}


def own_keys(_: str) -> str:
    """Serve every device a key of the collector's own, and try them all on the mixed batch."""
    sys.path.insert(0, str(TESTS))
    from system.marking import PEOPLE, mark_devices

    def answer_all(url: str, _: Any) -> int:
        return int(in_node("own_keys", {"url": url, "people": PEOPLE}))

    answered, linked = mark_devices(answer_all=answer_all)
    return f"{answered} of {PEOPLE} devices answer, {linked} messages are linked to their senders"


def entity_tags(_: str) -> str:
    """Give every device entity tags of its own, and see whether a browser sends them back.

    They mark the rounds, and at a second address the task as well, which has then another digest
    than its document.
    """
    sys.path.insert(0, str(TESTS))
    from playwright.sync_api import sync_playwright

    from js.conftest import CHROMIUM, FLAGS

    tags = count()
    echoed: list[str] = []
    content: Any = codec.document(sv.Task("pets", sv.Histogram(PETS), 1.0))
    digest = codec.digest(content)
    asked = {"digest": digest, "state": "open", "round": content["opening"]}

    class Collector(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # browsers ignore tags of older versions

        def do_GET(self) -> None:
            known = self.headers.get("If-None-Match", "")
            if known and digest not in known:
                echoed.append(known)
            if self.path.startswith("/dist/"):
                self._say(
                    (BUILT / self.path.removeprefix("/dist/")).read_bytes(), "text/javascript"
                )
            elif self.path.endswith("/round"):
                self._say(codec.canonical(asked).encode(), tag=f"device {next(tags)}")
            elif "/v1/" in self.path:
                is_marked = self.path.startswith("/marked/")
                tag = f"device {next(tags)}" if is_marked else digest
                self._say(codec.canonical(content).encode(), tag=tag)
            else:
                self._say(b"<!doctype html><title>page</title>", "text/html")

        def _say(self, body: bytes, kind: str = "application/json", tag: str = "") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if tag:
                self.send_header("ETag", f'"{tag}"')
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/page")
        page.evaluate(ANSWER_OFTEN)
        browser.close()
    server.shutdown()
    if next(tags) < 6:
        raise AssertionError("the device must look three times at either address")
    return f"{len(echoed)} tags came back"


IN_PYTHON = {case.__name__: case for case in (entity_tags, own_keys)}
CASES: dict[str, Callable[[str], Any]] = {
    case.__name__: case
    for case in (
        silence,
        no_budget,
        public_column,
        another_meaning,
        forged_consent,
        own_round,
        slow_document,
        outage,
        quarter_up,
        kept_message,
        plain_http,
        dripping_server,
        cut_ledger,
        removed_ledger,
        entity_tags,
        own_keys,
    )
}


def in_node(case: str, given: Any) -> str:
    """Return what an attack achieves against a client in Node."""
    command = ["node", str(SCRIPT), case, str(BUILT)]
    return subprocess.check_output(command, input=json.dumps(given), text=True).strip()


if __name__ == "__main__":
    case, argument = sys.argv[1], Path(sys.argv[2]).read_text()
    if case in IN_PYTHON:
        print(IN_PYTHON[case](argument))
    else:
        print(in_node(case, CASES[case](argument)))
