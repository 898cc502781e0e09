"""Attacks on a running collector by strangers, each on the package that is imported here.

``scripts/attacks.py`` runs them on two trees, as it does those of ``attack_cases.py``.  A case
starts ``sottovoce serve`` with its defaults, does what a stranger would do, and prints in a few
words what that achieved.
"""

import base64
import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.lab import crowd
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec

COLLECTION = Collection(minimum=50, grace=0)
PETS = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0, collection=COLLECTION)
TABLE = sv.Task(
    "people",
    sv.Table({"age": range(1, 101), "kind": ["a", "b", "c", "d"]}),
    4.0,
    collection=COLLECTION,
)
DEAR = ", ".join(f"SUM(age) AS s{number}, STDDEV(age) AS d{number}" for number in range(8))
DEAR_QUERY = f"SELECT age, kind, {DEAR} FROM people GROUP BY age, kind"
PEOPLE = 50_000
FEW_PEOPLE = 2_000
NUMBERS = 250  # of each of 400 groups
REPORTS_AT_ONCE = 500
REQUESTS = 40
CONNECTIONS = 20
BODIES = 40
BODY_BYTES = 4_000_000  # less than the largest body that is taken
PATIENCE = 40.0  # seconds
UPLOAD = "/v1/tasks/pets/reports"


@dataclass(frozen=True)
class Running:
    """A collector that runs, and the token of an analyst."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    host: str
    port: int
    token: str

    def connect(self) -> socket.socket:
        """Return a new connection."""
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)

    def request(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> http.client.HTTPResponse:
        """Return the answer to a request, already read."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"content-type": "application/json", **named})
        answer = connection.getresponse()
        answer.read()
        return answer


@contextmanager
def running(
    *, people: int = 0, tasks: Sequence[sv.Task] = (), options: Sequence[str] = ()
) -> Iterator[Running]:
    """Start a collector with one task and further ones; so many people have answered a table."""
    os.umask(0o022)  # what most systems have
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        command = [sys.executable, "-m", "sottovoce", "serve", "--data", str(folder)]
        # A first start makes the folder, as the collector itself makes it.
        with _served([*command, "--port", "0", "--json"]):
            pass
        token = _prepare(folder, people, tasks)
        with _served([*command, "--port", "0", "--json", *options]) as (process, url):
            yield Running(process, folder, url.hostname or "", url.port or 0, token)


@contextmanager
def _served(command: list[str]) -> Iterator[tuple["subprocess.Popen[bytes]", object]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        yield process, urlsplit(json.loads(process.stdout.readline())["url"])  # type: ignore[misc]
    finally:
        process.kill()
        process.wait()


def _prepare(folder: Path, people: int, tasks: Sequence[sv.Task]) -> str:
    """Publish the tasks, collect the answers to the table, and return a token."""
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, time.time)
    for task in (PETS, *tasks):
        collector.create(codec.canonical(codec.document(task)), toml=False)
    if people:
        sys.path.insert(0, str(Path(sv.__file__).parents[2] / "tests"))
        from collector.sending import send

        collector.create(codec.canonical(codec.document(TABLE)), toml=False)
        dice = np.random.default_rng(3)
        values = {"age": dice.integers(1, 101, people), "kind": dice.choice(list("abcd"), people)}
        send(collector, "people", crowd.messages(TABLE, values))
        collector.close("people", at_once=True)
        collector.advance()
    token: str = access.issue(store, access.ANALYST, int(time.time()))[0]
    store.close()
    return token


def flood() -> str:
    """Send many reports in few requests from one address."""
    with running() as collector:
        return _flood(collector, [{}] * REQUESTS)


def flood_of_a_network() -> str:
    """Send as many from as many IPv6 addresses, all of which one host has to itself.

    The collector stands behind a proxy, which says where each request came from.
    """
    with running(options=["--proxies", "127.0.0.1"]) as collector:
        hosts = [f"2001:db8::{number:x}" for number in range(1, REQUESTS + 1)]
        return _flood(collector, [{"x_forwarded_for": host} for host in hosts])


def _flood(collector: Running, requests: Sequence[dict[str, str]]) -> str:
    """Send a request full of reports with each of these headers."""
    taken = 0
    began = time.monotonic()
    for headers in requests:
        messages = crowd.messages(PETS, ["cat"] * REPORTS_AT_ONCE)
        texts = [base64.b64encode(message).decode() for message in messages]
        body = json.dumps({"reports": texts}).encode()
        if collector.request("POST", UPLOAD, body, **headers).status == 200:
            taken += REPORTS_AT_ONCE
    seconds = time.monotonic() - began
    return f"{taken:,} of {REQUESTS * REPORTS_AT_ONCE:,} reports taken in {seconds:.0f} s"


def slow_headers() -> str:
    """Hold connections whose headers never end."""
    with running() as collector:
        held = [collector.connect() for _ in range(CONNECTIONS)]
        until = time.monotonic() + 20.0
        for connection in held:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nx-slow: ")
        while time.monotonic() < until:
            time.sleep(1.0)
            for connection in held:
                with suppress(OSError):
                    connection.sendall(b"a")
        still = sum(_is_open(connection) for connection in held)
    return f"{still} of {CONNECTIONS} connections held for 20 s"


def _is_open(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        return bool(connection.recv(1))
    except TimeoutError:
        return True
    except OSError:
        return False


def claimed_length() -> str:
    """Claim a body of five gigabytes, and send none of it."""
    with running() as collector, collector.connect() as connection:
        connection.settimeout(5.0)
        head = f"POST {UPLOAD} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: 5000000000\r\n\r\n".encode())
        try:
            status = connection.recv(100).split(b" ")[1].decode()
        except TimeoutError:
            return "the collector waits for all of it"
    return f"refused at once ({status})"


def held_end() -> str:
    """Hold a request open while the collector is asked to end."""
    with running(people=PEOPLE) as collector, collector.connect() as connection:
        head = f"POST {UPLOAD} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: 1000\r\n\r\n{{".encode())
        query = start_query(collector)
        time.sleep(1.0)
        try:
            return ended(collector.process)
        finally:
            query.close()


def ended(process: "subprocess.Popen[bytes]") -> str:
    """Ask a collector to end, and return how long it and the processes that it started took."""
    started = _descendants(process.pid)
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return f"it has not ended after {PATIENCE:g} s"
    seconds = time.monotonic() - began
    time.sleep(2.0)  # for what ends when it sees that its parent is gone
    left = [child for child in started if _is_alive(child)]
    outlived = f", and left {len(left)} processes behind" if left else ""
    return f"it ended after {seconds:.0f} s{outlived}"


def _is_alive(process: int) -> bool:
    """Return whether a process runs; one that has ended may wait for its parent to notice."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] != "Z"


def _descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    files = Path(f"/proc/{process}/task").glob("*/children")
    children = [int(child) for path in files for child in path.read_text().split()]
    return children + [each for child in children for each in _descendants(child)]


def end_of_workers() -> str:
    """Ask a collector with two workers to end while each holds bodies and computes queries."""
    os.environ["SOTTOVOCE_WORKERS"] = "2"  # one that knows no workers does not read it
    with running(people=PEOPLE) as collector:
        held = [start_query(collector) for _ in range(4)]
        time.sleep(2.0)
        for _ in range(CONNECTIONS):
            held.append(collector.connect())
            head = f"POST {UPLOAD} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
            held[-1].sendall(f"{head}content-length: 1000\r\n\r\n{{".encode())
        time.sleep(1.0)
        try:
            return ended(collector.process)
        finally:
            for connection in held:
                connection.close()


def held_bodies() -> str:
    """Send forty bodies of almost four megabytes at once, and finish none."""
    with running() as collector:
        before = _memory(collector.process.pid)
        connections = [collector.connect() for _ in range(BODIES)]
        for connection in connections:
            head = f"POST {UPLOAD} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
            with suppress(OSError):
                connection.sendall(f"{head}content-length: {BODY_BYTES}\r\n\r\n".encode())
                connection.sendall(b" " * (BODY_BYTES - 1))
        time.sleep(2.0)
        held = sum(_is_unanswered(connection) for connection in connections)
        grown = _memory(collector.process.pid) - before
        for connection in connections:
            connection.close()
    return f"{held} of {BODIES} bodies are held, memory grows by {grown >> 20} MiB"


def _is_unanswered(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


def _memory(process: int) -> int:
    """Return the bytes that a process has in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def hogged_queries() -> str:
    """Ask eight queries at once with one token, while another analyst asks a short one."""
    with running(people=PEOPLE) as collector:
        store = SqliteStore(collector.folder / "collector.db")
        other: str = access.issue(store, access.ANALYST, int(time.time()))[0]
        store.close()
        hogs = [start_query(collector) for _ in range(8)]
        time.sleep(1.0)
        body = json.dumps({"task": "people", "sql": "SELECT COUNT(*) FROM people"}).encode()
        began = time.monotonic()
        try:
            status = collector.request(
                "POST", "/v1/sql", body, authorization=f"Bearer {other}"
            ).status
        except OSError:
            status = 0
        waited = time.monotonic() - began
        for hog in hogs:
            hog.close()
    running_at_once = "answered" if status == 200 else f"not answered ({status})"
    return f"the other analyst is {running_at_once} after {waited:.1f} s"


def start_query(collector: Running) -> socket.socket:
    """Ask a query that takes long, and return the connection that waits for its answer."""
    body = json.dumps({"task": "people", "sql": DEAR_QUERY}).encode()
    head = [
        "POST /v1/sql HTTP/1.1",
        "host: a",
        "content-type: application/json",
        f"authorization: Bearer {collector.token}",
        f"content-length: {len(body)}",
    ]
    connection = collector.connect()
    connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
    return connection


def many_numbers() -> str:
    """Ask one query for a hundred thousand numbers."""
    pairs = (f"SUM(age) AS s{number}, STDDEV(age) AS d{number}" for number in range(NUMBERS // 2))
    columns = ", ".join(pairs)
    sql = f"SELECT age, kind, {columns} FROM people GROUP BY age, kind"
    with running(people=FEW_PEOPLE) as collector:
        body = json.dumps({"task": "people", "sql": sql}).encode()
        began = time.monotonic()
        try:
            bearer = f"Bearer {collector.token}"
            status = collector.request("POST", "/v1/sql", body, authorization=bearer).status
        except OSError:
            return f"the collector still computes after {PATIENCE:g} s"
        seconds = time.monotonic() - began
    if status != 200:
        return f"refused ({status}) after {seconds:.1f} s"
    return f"answered after {seconds:.1f} s"


def open_task() -> str:
    """Publish a task that anybody may answer, as often as they like, and be told nothing."""
    with tempfile.TemporaryDirectory() as parent:
        store = SqliteStore(Path(parent) / "collector.db")
        collector = Collector(store, Path(parent), time.time)
        published, _ = collector.create(codec.canonical(codec.document(PETS)), toml=False)
        concerns = getattr(published, "concerns", ())
        store.close()
    warned = any("enrolment" in concern for concern in concerns)
    return "the operator is warned" if warned else "nobody is warned"


def malformed_origin() -> str:
    """Send a malformed Origin."""
    with running() as collector:
        status = collector.request("GET", "/v1/tasks/pets", origin="http://[::1").status
    return f"answered with {status}"


def foreign_origin() -> str:
    """Send a report from a page of another site than the operator has named."""
    os.environ["SOTTOVOCE_ORIGINS"] = "https://app.example"
    (message,) = crowd.messages(PETS, ["cat"])
    body = json.dumps({"reports": [base64.b64encode(message).decode()]}).encode()
    with running() as collector:
        answer = collector.request("POST", UPLOAD, body, origin="https://other.example")
    return "the report counts" if answer.status == 200 else f"refused ({answer.status})"


def cached_answer() -> str:
    """Find a private answer in a cache on the way."""
    with running() as collector:
        bearer = f"Bearer {collector.token}"
        answer = collector.request("GET", "/v1/tasks/pets/status", authorization=bearer)
    rule = answer.headers.get("cache-control", "")
    return "caches may keep it" if "no-store" not in rule else "no cache keeps it"


def open_folder() -> str:
    """Read the data of the collector as another user of the machine."""
    with running() as collector:
        paths = [collector.folder, *collector.folder.rglob("*")]
        modes = [stat.S_IMODE(path.stat().st_mode) for path in paths]
    readable = sum(bool(mode & 0o077) for mode in modes)
    return f"{readable} of {len(modes)} files and folders are open to others"


def linked_backup() -> str:
    """Put a link to a file outside into a backup, and let it be restored."""
    with running() as collector, tempfile.TemporaryDirectory() as parent:
        backup, secret = Path(parent) / "backup", Path(parent) / "secret"
        secret.write_text("secret")
        command = [sys.executable, "-m", "sottovoce", "data"]
        data = ["--data", str(collector.folder)]
        subprocess.run([*command, "backup", str(backup), *data], check=True, capture_output=True)
        (backup / "sealed").mkdir(exist_ok=True)
        (backup / "sealed" / "link").symlink_to(secret)
        restored = Path(parent) / "restored"
        data = ["--data", str(restored)]
        subprocess.run([*command, "restore", str(backup), *data], check=False, capture_output=True)
        copied = restored / "sealed" / "link"
        return "the file outside is copied" if copied.exists() else "refused"


def leftovers() -> str:
    """Leave the half-written file of a seal that was killed."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        folder.mkdir()
        store = SqliteStore(folder / "collector.db")
        collector = Collector(store, folder, time.time)
        published, _ = collector.create(codec.canonical(codec.document(PETS)), toml=False)
        store.close()
        sealed = folder / "sealed" / published.digest
        sealed.mkdir(parents=True)
        leftover = sealed / ".round-0.parquet.new123"
        leftover.write_bytes(bytes(1000))
        command = [sys.executable, "-m", "sottovoce", "serve", "--data", str(folder)]
        with _served([*command, "--port", "0", "--json"]):
            time.sleep(5.0)
        return "it stays for ever" if leftover.exists() else "it is removed at the start"


CASES: dict[str, Callable[[], str]] = {
    case.__name__: case
    for case in (
        flood,
        flood_of_a_network,
        slow_headers,
        claimed_length,
        held_bodies,
        held_end,
        end_of_workers,
        hogged_queries,
        many_numbers,
        open_task,
        malformed_origin,
        foreign_origin,
        cached_answer,
        open_folder,
        linked_backup,
        leftovers,
    )
}

if __name__ == "__main__":
    print(CASES[sys.argv[1]]())
