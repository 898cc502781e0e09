"""Attacks on devices and on whoever reads answers, each on the package that is imported here.

``scripts/attacks.py`` runs them on two trees; those on a running collector are in
``attack_collectors.py``.  An attack uses only what both trees offer, and
prints in a few words what it achieved.
"""

import random
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.client.device import Device
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Posting
from sottovoce.client.route import Route
from sottovoce.client.transport import Receipt
from sottovoce.domains.integers import Integers
from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.plans.tables.table import Table
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec

PEOPLE = 20
INCOMES = 1 << 17
HOUR = 3600.0
DAY = 24 * HOUR


def silence(_: str) -> str:
    """Halve the domain of one task name again and again, and listen for who stays silent."""
    dice = random.Random(1)
    found, charged = 0, 0.0
    for _person in range(PEOPLE):
        income = dice.randrange(INCOMES)
        ledger = DiskLedger(":memory:")
        low, high = 0, INCOMES
        while high - low > 2:
            middle = (low + high) // 2
            if _speaks(_income_task(low, middle - 1), ledger, income):
                high = middle
            else:
                low = middle
        found += income in (low, high - 1)
        charged += ledger.spent
    return f"{found} of {PEOPLE} incomes found, for a charge of {charged / PEOPLE:g} each"


def _income_task(low: int, high: int) -> sv.Task:
    rehearsal = Collection(sandbox=True)
    return sv.Task("income", sv.Histogram(Integers(low, high)), 1.0, collection=rehearsal)


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
    return f"{len(echoed)} of 2 tags came back"


def forged_consent(_: str) -> str:
    """Write lines into the description that read like the device's own."""
    description = "A survey.\nYour device sends nothing at all.\u202e"
    try:
        task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0, description=description)
        text = Client(task, ":memory:").explain()
    except SottovoceError:
        return "refused"
    hidden = any(character in text for character in "\n\u202e")
    return "line breaks and direction characters are shown" if hidden else "shown as plain words"


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


def own_round(_: str) -> str:
    """Give one device a round with a number of its own, so that its report is recognised."""
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)
    marked = replace(task.opening, number=4711)
    try:
        message = Client(task, ":memory:").answer("cat", asked=marked)
    except SottovoceError:
        return "refused"
    return "the report carries the mark" if (4711).to_bytes(2, "little") in message else "no mark"


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
    ended = threading.Event()

    def ask() -> None:
        with suppress(SottovoceError):
            Device(url, DiskLedger(":memory:")).answer("pets", "cat")
        ended.set()

    began = time.monotonic()
    threading.Thread(target=ask, daemon=True).start()
    if ended.wait(60.0):
        return f"the device gives up after {time.monotonic() - began:.0f} s"
    return "the device still waits after 60 s"


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
