"""Attacks on devices and on whoever reads answers, each on the package that is imported here.

``scripts/attacks.py`` runs them on two trees; those on a running collector are in
``attack_collectors.py``.  An attack uses only what both trees offer, and
prints in a few words what it achieved.
"""

import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.client.device import Device
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Posting
from sottovoce.client.route import Route
from sottovoce.client.transport import Receipt
from sottovoce.domains.integers import Integers
from sottovoce.encodings.sample import Sample
from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.tables.table import Table
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

PEOPLE = 20
INCOMES = 1 << 17
HOUR = 3600.0
DAY = 24 * HOUR


def silence(how: str) -> str:
    """Halve the domain of incomes again and again, and listen for who stays silent.

    Each of many people is asked beside a second person, with another income: whoever learns
    nothing sees both of them do and pay the same.
    """
    search = SEARCHES[how]
    dice = random.Random(1)
    found, answers, different, charged = 0, 0, 0, 0.0
    for _person in range(PEOPLE):
        incomes = [dice.randrange(INCOMES), dice.randrange(INCOMES)]
        ledgers = [DiskLedger(":memory:"), DiskLedger(":memory:")]
        is_different = False
        low, high = 0, INCOMES
        while high - low > 2:
            middle = (low + high) // 2
            task = search.task(low, middle)
            seen = [search.seen(task, *held) for held in zip(ledgers, incomes, strict=True)]
            is_different |= seen[0] != seen[1]
            has_answered = seen[0][0] > 0
            answers += has_answered
            if has_answered:
                high = middle
            else:
                low = middle
        found += incomes[0] in (low, high - 1)
        different += is_different
        charged += ledgers[0].spent
    return (
        f"{found} of {PEOPLE} incomes found, for {answers / PEOPLE:g} answered questions"
        f" and a charge of {charged / PEOPLE:.2g} each;"
        f" {different} of {PEOPLE} people behave unlike a second one"
    )


@dataclass(frozen=True)
class Search:
    """How somebody halves the domain of incomes: by rehearsals, if no ``epsilon`` is given."""

    new_names: bool = False
    agrees: bool = False
    epsilon: float | None = None

    def task(self, low: int, high: int) -> sv.Task:
        """Return the task that asks for an income from ``low`` to ``high - 1``."""
        name = f"income {low} {high}" if self.new_names else "income"
        rehearsal = Collection(sandbox=True) if self.epsilon is None else None
        histogram = sv.Histogram(Integers(low, high - 1))
        return sv.Task(name, histogram, self.epsilon or 1.0, collection=rehearsal)

    def seen(self, task: sv.Task, ledger: DiskLedger, income: int) -> tuple[int, str, float]:
        """Return the bytes that leave a device, its refusal and what it has been charged."""
        client = Client(task, ledger)
        if self.agrees and hasattr(client, "agree"):
            client.agree()
        try:
            return len(client.answer(income)), "", ledger.spent
        except SottovoceError as error:
            return 0, type(error).__name__, ledger.spent


SEARCHES = {
    "": Search(),
    "new names": Search(new_names=True),
    "agreed": Search(agrees=True),
    "paid": Search(new_names=True, epsilon=1e-6),
}


def _speaks(task: sv.Task, ledger: DiskLedger, value: Any) -> bool:
    try:
        Client(task, ledger).answer(value)
    except SottovoceError:
        return False
    return True


def public_column(_: str) -> str:
    """Declare a column public that the application means to be private."""
    table = Table({"age": range(100)}, public={"city": ["Oslo", "Rome"]})
    try:
        message = Client(sv.Task("people", table, 1.0), ":memory:").answer(
            {"age": 33, "city": "Rome"}
        )
    except SottovoceError:
        return "refused before anything is sent"
    return "the city left in clear" if b"Rome" in message else "nothing in clear"


def entity_tags(_: str) -> str:
    """Give every device an entity tag of its own, and see whether it comes back."""
    tags = count()
    echoed: list[str] = []
    task = codec.document(sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0))
    digest = codec.digest(task)
    asked = {"digest": digest, "state": "open", "round": task["opening"]}

    class Collector(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.headers.get("If-None-Match", "")
            if known and digest not in known:
                echoed.append(known)
            is_round = self.path.endswith("/round")
            body = codec.canonical(asked if is_round else task).encode()
            self.send_response(200)
            self.send_header("ETag", f'"device {next(tags)}"' if is_round else f'"{digest}"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    device = Device(f"http://127.0.0.1:{server.server_port}", DiskLedger(":memory:"), delay=0)
    for _try in range(3):
        try:
            device.answer("pets", "cat")
        except SottovoceError:
            continue
    server.shutdown()
    if next(tags) != 3:
        raise AssertionError("the device must look at the round three times")
    return f"{len(echoed)} of 2 tags came back"


def forged_consent(how: str) -> str:
    """Choose words that the owner may take for the device's own."""
    return FORGED[how]()


def _shown(description: str = "A survey.", name: str = "pets", label: str = "cat") -> str | None:
    """Return what the owner of a device reads of a task, if it is not refused."""
    try:
        task = sv.Task(name, sv.Histogram([label, "dog"]), 1.0, description=description)
        return Client(task, ":memory:").explain()
    except SottovoceError:
        return None


def _forged_lines() -> str:
    shown = _shown(f"A survey.\n{FORGED_WORDS}\u202e")
    if shown is None:
        return "refused"
    hidden = any(character in shown for character in "\n\u202e")
    return "line breaks and direction characters are shown" if hidden else "shown as plain words"


def _forged_quotation() -> str:
    shown = _shown(f"A survey.\u201d {FORGED_WORDS} \u201c")
    return _where_forged_words_stand(shown)


def _forged_name() -> str:
    return _where_forged_words_stand(_shown(name=f"pets\u201d. {FORGED_WORDS} \u201c"))


def _forged_labels() -> str:
    return _where_forged_words_stand(_shown(label=f"cat\u201d. {FORGED_WORDS} \u201c"))


def _where_forged_words_stand(shown: str | None) -> str:
    """Return whether words stand between quotation marks, as those of a collector do."""
    if shown is None:
        return "refused"
    if FORGED_WORDS not in shown:
        return "the words are not shown"
    before = shown.partition(FORGED_WORDS)[0]
    is_quoted = before.rfind("\u201c") > before.rfind("\u201d")
    return "the words stand within quotation marks" if is_quoted else "the words pass for ours"


def _forged_length() -> str:
    shown = _shown(LONG_DESCRIPTION)
    return "refused" if shown is None else f"the owner reads {len(shown):,} characters"


def _forged_order() -> str:
    shown = _shown(FORGED_WORDS) or ""
    order = sorted(("in clear", "costs epsilon", FORGED_WORDS), key=shown.index)
    is_last = order[-1] == FORGED_WORDS
    return "they come last, after clear and cost" if is_last else "they come before clear or cost"


FORGED_WORDS = "Your device tells nobody anything."
LONG_DESCRIPTION = "A survey of no harm. " * 1000
FORGED: dict[str, Callable[[], str]] = {
    "lines": _forged_lines,
    "quotation marks": _forged_quotation,
    "name": _forged_name,
    "labels": _forged_labels,
    "length": _forged_length,
    "order": _forged_order,
}


def slow_document(text: str) -> str:
    """Let a small document keep a device busy, or make it send a long message."""
    began = time.process_time()
    try:
        client = Client(text, DiskLedger(":memory:", cap=1000.0))
        message = client.answer(_possible_value(client.notice.domain))
        ending = f"a message of {len(message):,} bytes"
    except SottovoceError as error:
        ending = f"refused ({type(error).__name__})"
    return f"{ending} after {time.process_time() - began:.2f} s"


def _possible_value(domain: Any) -> Any:
    """Return a value of a domain of numbers, or of one table of numbers."""
    if domain.kind == "integers":
        return domain.low
    return dict.fromkeys(domain.tables[0].names, 0)


def outage(hours: str) -> str:
    """Be out of reach for some hours, and count the reports that never arrive."""
    now = [0.0]
    until = float(hours) * HOUR
    arrived = 0

    class Flaky(Route):
        url = "https://collector.example"

        def send(self, *arguments: Any) -> Receipt:
            nonlocal arrived
            if now[0] < until:
                raise UnavailableError("down")
            arrived += 1
            return Receipt(1, 0)

    ledger = DiskLedger(":memory:", clock=lambda: now[0], cap=PEOPLE)
    route = Flaky()
    device = Device(route.url, ledger, route=route)
    for number in range(PEOPLE):
        task = sv.Task(f"task {number}", sv.Histogram(["cat", "dog"]), 1.0)
        Client(task, ledger).answer("cat", posting=Posting(task.name, route.url))
    while now[0] < until + DAY:
        device.flush()
        now[0] += 10 * 60
    return f"{PEOPLE - arrived} of {PEOPLE} reports lost"


def lone_outage(hours: str) -> str:
    """Be out of reach for some hours, for devices that have one report each."""
    until = float(hours) * HOUR
    return _reports_lost(lambda now: now >= until, until + DAY, every=60)


def quarter_up(_: str) -> str:
    """Be within reach a quarter of the time, minute by minute, while a round is open for a week."""
    dice = random.Random(4)
    up = [dice.random() < 0.25 for _minute in range(7 * 24 * 60 + 1)]
    return _reports_lost(lambda now: up[int(now / 60)], 7 * DAY, spread=DAY, every=300)


def _reports_lost(
    is_up: Callable[[float], bool], until: float, *, spread: float = 0.0, every: int
) -> str:
    """Let devices with one report each look now and then whether it is due; count what is lost.

    The reports are made within ``spread`` seconds, and devices look ``every`` so many.
    """
    now = [0.0]
    arrived = 0

    class Flaky(Route):
        url = "https://collector.example"

        def send(self, *arguments: Any) -> Receipt:
            nonlocal arrived
            if not is_up(now[0]):
                raise UnavailableError("down")
            arrived += 1
            return Receipt(1, 0)

    devices = []
    for number in range(2 * PEOPLE):
        ledger = DiskLedger(":memory:", clock=lambda: now[0])
        task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)
        delay = spread * number / (2 * PEOPLE)
        Client(task, ledger).answer("cat", posting=Posting(task.name, Flaky.url, delay=delay))
        devices.append(Device(Flaky.url, ledger, route=Flaky()))
    while now[0] < until and arrived < len(devices):
        for device in devices:
            device.flush()
        now[0] += every
    return f"{len(devices) - arrived} of {len(devices)} reports lost"


def cut_ledger(_: str) -> str:
    """Have the file of a spent ledger cut to nothing, and ask again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        ledger = DiskLedger(path, cap=1.0)
        _speaks(sv.Task("first", sv.Histogram(["cat", "dog"]), 1.0), ledger, "cat")
        ledger.close()
        path.write_bytes(b"")
        try:
            again = DiskLedger(path, cap=1.0)
        except SottovoceError:
            return "noticed, nothing is sent"
        spoke = _speaks(sv.Task("second", sv.Histogram(["cat", "dog"]), 1.0), again, "cat")
        return "the whole budget is spent again" if spoke else "nothing is sent"


def removed_ledger(_: str) -> str:
    """Have the file of a spent ledger removed, and ask again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        ledger = DiskLedger(path, cap=1.0)
        _speaks(sv.Task("first", sv.Histogram(["cat", "dog"]), 1.0), ledger, "cat")
        ledger.close()
        path.unlink()
        try:
            again = DiskLedger(path, cap=1.0)
        except SottovoceError:
            return "noticed, nothing is sent"
        spoke = _speaks(sv.Task("second", sv.Histogram(["cat", "dog"]), 1.0), again, "cat")
        return "the whole budget is spent again" if spoke else "nothing is sent"


def spreadsheet(_: str) -> str:
    """Call a value like a formula, and let an analyst open the CSV file."""
    formula = '=HYPERLINK("https://elsewhere.example","cat")'
    task = sv.Task("pets", sv.Histogram([formula, "dog"]), 1.0)
    text = sv.simulate(task, [formula] * 50 + ["dog"] * 50, seed=1).to_csv()
    executed = any(line.startswith(('"=', "=")) for line in text.splitlines())
    return "the formula is executed" if executed else "the formula is text"


def no_budget(_: str) -> str:
    """Ask a device whose owner allows nothing for a rehearsal."""
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0, collection=Collection(sandbox=True))
    speaks = _speaks(task, DiskLedger(":memory:", cap=0), "cat")
    return "a message leaves" if speaks else "nothing leaves"


def another_meaning(_: str) -> str:
    """Ask for something else under a name that the device has answered."""
    ledger = DiskLedger(":memory:", cap=10.0)
    _speaks(sv.Task("home", sv.Histogram(["house", "flat"]), 1.0), ledger, "flat")
    other = sv.Task("home", sv.Histogram(["rich", "poor"]), 2.0)
    return "answered, at twice the price" if _speaks(other, ledger, "poor") else "refused"


def own_round(how: str) -> str:
    """Give one device a round of its own, so that its report is recognised or tells more."""
    marked = OWN_ROUNDS[how]()
    with _published(marked.task, marked.asked) as own, _published(marked.task) as everybody:
        is_answered = _answers(own, marked)
        if "witnesses" not in signature(Device).parameters:
            return "answered" if is_answered else "refused"
        if is_answered and not _answers(own, marked, witnesses=[everybody]):
            return "refused where a witness shows the round of everybody, answered without one"
    return "answered" if is_answered else "refused"


@dataclass(frozen=True)
class OwnRound:
    """A round that is not the one of everybody, and what its device holds."""

    task: sv.Task
    asked: Round
    value: Any


def _own_number() -> OwnRound:
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)
    return OwnRound(task, replace(task.opening, number=4711), "cat")


def _own_question() -> OwnRound:
    task = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"], mechanism="grr"), 1.0)
    return OwnRound(task, replace(task.opening, ask=Question(OUE(1.0, 3))), "cat")


def _own_width() -> OwnRound:
    """Return a later round whose reports are longer than those of the task."""
    task = sv.Task("foods", sv.TopItems(range(40), 4), 1.0)
    long = Question(OUE(1.0, 1040), Sample(40, 1000), 1.0)
    return OwnRound(task, Round(1, long), [7, 9])


def _own_candidates() -> OwnRound:
    """Return a later round that is like those of the task, but for what one device may hold."""
    task = sv.Task("foods", sv.TopItems(range(40), 4), 1.0)
    candidates = Sample(40, 1, ((7,), (8,)))
    return OwnRound(task, Round(1, Question(GRR(1.0, 3), candidates, 1.0)), [7, 9])


OWN_ROUNDS: dict[str, Callable[[], OwnRound]] = {
    "number": _own_number,
    "question": _own_question,
    "width": _own_width,
    "candidates": _own_candidates,
}


def _answers(url: str, marked: OwnRound, **options: Any) -> bool:
    """Return whether a new device answers the round that is asked at an address."""
    device = Device(url, DiskLedger(":memory:"), delay=0, **options)
    try:
        device.answer(marked.task.name, marked.value)
    except SottovoceError:
        return False
    return True


@contextmanager
def _published(task: sv.Task, asked: Round | None = None) -> Iterator[str]:
    """Publish a task and a round (default: its opening) while the block lasts."""
    document = codec.document(task)
    round_ = codec.document(asked or task.opening)
    now = {"digest": codec.digest(document), "state": "open", "round": round_}

    class Collector(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(codec.canonical(now if self.path.endswith("/round") else document))

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._say(json.dumps({"accepted": 1, "duplicates": 0, "refused": []}))

        def _say(self, text: str) -> None:
            self.send_response(200)
            self.send_header("ETag", f'"{now["digest"]}"')
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def plain_http(_: str) -> str:
    """Listen on the way to the collector."""
    try:
        Device("http://collector.example", DiskLedger(":memory:")).answer("pets", "cat")
    except UnavailableError:  # it tried, and this machine has no such network
        return "the device sends without encryption"
    except SottovoceError:
        return "refused"
    return "the device sends without encryption"


def dripping_server(_: str) -> str:
    """Answer a device one byte at a time."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
        with suppress(OSError):
            while True:
                connection.sendall(b"x")
                time.sleep(0.5)

    threading.Thread(target=serve, daemon=True).start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    endings: SimpleQueue[Exception] = SimpleQueue()

    def ask() -> None:
        try:
            Device(url, DiskLedger(":memory:")).answer("pets", "cat")
        except Exception as error:
            endings.put(error)

    began = time.monotonic()
    threading.Thread(target=ask, daemon=True).start()
    try:
        ending = endings.get(timeout=60.0)
    except Empty:
        return "the device still waits after 60 s"
    if not isinstance(ending, SottovoceError):
        raise ending
    return f"the device gives up after {time.monotonic() - began:.0f} s"


def kept_message(_: str) -> str:
    """Steal a device a month after it has sent its report."""
    now = [0.0]

    class Taking(Route):
        url = "https://collector.example"

        def send(self, *arguments: Any) -> Receipt:
            return Receipt(1, 0)

    ledger = DiskLedger(":memory:", clock=lambda: now[0])
    device = Device(Taking.url, ledger, route=Taking())
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)
    Client(task, ledger).answer("cat", posting=Posting(task.name, Taking.url))
    device.flush(force=True)
    now[0] = 31 * DAY
    device.flush()
    kept = any(report.message for report in ledger.queue())
    return "the report is still there" if kept else "the report is erased"


def influence(_: str) -> str:
    """Send false reports to somebody who was not told how much each counts."""
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)
    answer: Any = sv.simulate(task, ["cat", "dog"] * 50, seed=1)
    stated = getattr(answer, "about", {}).get("influence")
    return "the answer says how much one report counts" if stated else "no answer says it"


def known_mistakes(_: str) -> str:
    """Build a collector that loses reports by a mistake, and run the crash tests."""
    tests = Path(sv.__file__).parents[2] / "tests"
    sys.path.insert(0, str(tests))
    try:
        from system.twins import TWINS
    except ImportError:
        from system.serving import TWINS  # where an earlier tree had them
    return f"{len(TWINS)} mistakes are looked for"


def own_keys(_: str) -> str:
    """Serve every device a key of the collector's own, and try them all on the mixed batch."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from system.marking import PEOPLE, mark_devices

    answered, linked = mark_devices()
    return f"{answered} of {PEOPLE} devices answer, {linked} messages are linked to their senders"


CASES: dict[str, Callable[[str], str]] = {
    case.__name__: case
    for case in (
        silence,
        no_budget,
        public_column,
        another_meaning,
        entity_tags,
        own_round,
        own_keys,
        forged_consent,
        slow_document,
        plain_http,
        dripping_server,
        kept_message,
        outage,
        lone_outage,
        quarter_up,
        cut_ledger,
        removed_ledger,
        spreadsheet,
        influence,
        known_mistakes,
    )
}

if __name__ == "__main__":
    case, argument = sys.argv[1:]
    print(CASES[case](Path(argument).read_text()))
