"""Loads that an earlier collector did not bear, each on the package that is imported here.

``scripts/attacks.py`` runs them on two trees, as it does those of ``attack_collectors.py``, whose
collectors these cases start.
"""

import base64
import http.client
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from attack_collectors import (
    COLLECTION,
    PETS,
    UPLOAD,
    Running,
    ended,
    running,
    start_query,
)

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.lab import crowd
from sottovoce.wire import codec

MEMORY_LIMITS = range(400, 800, 50)  # MiB of address space
MEMORY_REPORTS = 50_000
SEALED_REPORTS = 600_000
MANY_SEALED_REPORTS = 5_000_000
LONG_QUERY_PEOPLE = 400_000
REPORTS_AT_ONCE = 20_000
GIVE_UP = 60.0  # seconds
PARTS = 8
COLUMNS = [f"c{number}" for number in range(5)]
LAYERED = sv.Task(
    "layers", sv.Table({name: range(1, 126) for name in COLUMNS}), 4.0, collection=COLLECTION
)
LAYERED_PEOPLE = 3_000


def memory_limit() -> str:
    """Give a collector too little memory to seal a round that is full."""
    for limit in MEMORY_LIMITS:
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent) / "data"
            token = _closed_round(folder, MEMORY_REPORTS)
            code = _exit_code(folder, token, limit << 20)
        if code < 0:
            return f"the collector dies of signal {-code} under a limit of {limit} MiB"
    return f"the collector lives under each of {len(MEMORY_LIMITS)} limits"


def _closed_round(folder: Path, reports: int) -> str:
    """Collect reports in a round that is then closed, and return the token of an analyst."""
    sys.path.insert(0, str(Path(sv.__file__).parents[2] / "tests"))
    from collector.sending import send

    folder.mkdir()
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, time.time)
    collector.create(codec.canonical(codec.document(PETS)), toml=False)
    for start in range(0, reports, REPORTS_AT_ONCE):
        count = min(REPORTS_AT_ONCE, reports - start)
        send(collector, "pets", crowd.messages(PETS, ["cat", "dog"] * (count // 2)))
    collector.close("pets", at_once=True)
    token: str = access.issue(store, access.ANALYST, int(time.time()))[0]
    store.close()
    return token


def _exit_code(folder: Path, token: str, limit: int) -> int:
    """Return with which code a collector under a limit died, or 0 if it had to be ended."""
    process = _serve(folder, limit)
    try:
        line = process.stdout.readline() if process.stdout else b""
        if not line:
            return min(process.wait(), 0)
        address = urlsplit(json.loads(line)["url"]).netloc
        until = time.monotonic() + GIVE_UP
        while process.poll() is None and time.monotonic() < until:
            status = _status(address, token)
            if status.get("state") == "finished" or status.get("trouble"):
                break
            time.sleep(0.2)
        return min(process.poll() or 0, 0)
    finally:
        process.kill()
        process.wait()


def _serve(folder: Path, limit: int = resource.RLIM_INFINITY) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "sottovoce", "serve", "--data", str(folder)]
    return subprocess.Popen(
        [*command, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


def _status(address: str, token: str) -> dict[str, Any]:
    """Return the status of the task, or nothing while nobody answers."""
    connection = http.client.HTTPConnection(address, timeout=GIVE_UP)
    try:
        headers = {"authorization": f"Bearer {token}"}
        connection.request("GET", "/v1/tasks/pets/status", headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        found: dict[str, Any] = json.loads(text) if answer.status == 200 else {}
        return found
    except (OSError, http.client.HTTPException):
        return {}
    finally:
        connection.close()


def health_while_sealing() -> str:
    """Ask a collector for its health while it seals a round."""
    return _health_while_sealing(SEALED_REPORTS)


def health_while_sealing_many() -> str:
    """Ask for the same while it seals five million reports."""
    return _health_while_sealing(MANY_SEALED_REPORTS)


def _health_while_sealing(reports: int) -> str:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        token = _closed_round(folder, reports)
        process = _serve(folder)
        try:
            line = process.stdout.readline() if process.stdout else b""
            address = urlsplit(json.loads(line)["url"]).netloc
            while not _status(address, token):
                time.sleep(0.05)
            waits = []
            while _status(address, token).get("state") != "finished":
                began = time.monotonic()
                connection = http.client.HTTPConnection(address, timeout=GIVE_UP)
                connection.request("GET", "/healthz")
                connection.getresponse().read()
                connection.close()
                waits.append(time.monotonic() - began)
                time.sleep(0.06)
        finally:
            process.kill()
            process.wait()
    return f"the slowest of {len(waits)} health checks takes {1000 * max(waits):.0f} ms"


def end_while_sealing() -> str:
    """Ask a collector to end while it seals a round."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        token = _closed_round(folder, SEALED_REPORTS)
        process = _serve(folder)
        try:
            line = process.stdout.readline() if process.stdout else b""
            address = urlsplit(json.loads(line)["url"]).netloc
            while not _status(address, token):
                time.sleep(0.05)
            said = ended(process)
        finally:
            process.kill()
            process.wait()
        process = _serve(folder)  # what was cut off is done now
        try:
            line = process.stdout.readline() if process.stdout else b""
            address = urlsplit(json.loads(line)["url"]).netloc
            while _status(address, token).get("state") != "finished":
                time.sleep(0.2)
            users = _status(address, token)["rounds"][0]["users"]
        finally:
            process.kill()
            process.wait()
    return f"{said}; {users:,} of {SEALED_REPORTS:,} reports are sealed later"


def first_layers() -> str:
    """Send reports about a thousand layers that nobody has asked for yet."""
    dice = np.random.default_rng(1)
    values = {name: dice.integers(1, 126, LAYERED_PEOPLE) for name in COLUMNS}
    messages = crowd.messages(LAYERED, values)
    with running(tasks=[LAYERED], options=["--rate", "0"]) as collector:
        done = threading.Event()
        waits: list[float] = []
        others = threading.Thread(target=_upload_pets, args=(collector, done, waits))
        others.start()
        while len(waits) < 20:
            time.sleep(0.05)
        before = sorted(waits)[len(waits) // 2]
        waits.clear()
        for start in range(0, LAYERED_PEOPLE, 1000):
            body = _body(messages[start : start + 1000])
            while collector.request("POST", "/v1/tasks/layers/reports", body).status != 200:
                time.sleep(0.1)
        done.set()
        others.join()
    return f"uploads of others take up to {1000 * max(waits):.0f} ms ({1000 * before:.0f} usually)"


def _upload_pets(collector: Running, done: threading.Event, waits: list[float]) -> None:
    bodies = [_body([message]) for message in crowd.messages(PETS, ["cat"] * 50)]
    for number in chain.from_iterable(iter(lambda: range(len(bodies)), None)):
        if done.is_set():
            return
        began = time.monotonic()
        collector.request("POST", UPLOAD, bodies[number])
        waits.append(time.monotonic() - began)
        time.sleep(0.005)


def _body(messages: list[bytes]) -> bytes:
    texts = [base64.b64encode(message).decode() for message in messages]
    return json.dumps({"reports": texts}).encode()


def left_query() -> str:
    """Ask a query that takes long, and leave."""
    with running(people=LONG_QUERY_PEOPLE) as collector:
        query = start_query(collector)
        time.sleep(5.0)
        query.close()
        time.sleep(5.0)
        before = _processor_seconds(collector.process.pid)
        time.sleep(5.0)
        used = _processor_seconds(collector.process.pid) - before
    share = used / 5.0
    computes = "the query goes on" if share > 0.05 else "the query has ended"
    return f"{computes} (the collector uses {100 * share:.0f} % of a processor)"


def _processor_seconds(process: int) -> float:
    """Return the processor time of a process and of those that it has started."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        seconds += sum(_processor_seconds(int(child)) for child in children.read_text().split())
    return seconds


def missing_part() -> str:
    """Let Spark read a sealed log of eight parts: one is missing, or one is there twice."""
    import pyarrow.parquet
    from pyspark.sql import SparkSession

    from sottovoce.engine import parquet
    from sottovoce.engine.spark import collected as spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = session.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)
    told = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        parquet.write(path, crowd.messages(task, ["cat", "dog"] * 500), task.opening)
        parts = [str(Path(folder) / f"part-{number}.parquet") for number in range(PARTS)]
        whole = pyarrow.parquet.read_table(path)
        size = len(whole) // PARTS
        for number, part in enumerate(parts):
            pyarrow.parquet.write_table(whole.slice(number * size, size), part)
        for logs in (parts[1:], [*parts, parts[0]]):
            try:
                told.append(f"{spark.answer(task, session, {0: logs}, {}).estimate.users:,} users")
            except (MismatchError, ParameterError):
                told.append("refused")
    return f"of 1,000 users: {told[0]} without a part, {told[1]} with one twice"


CASES: dict[str, Callable[[], str]] = {
    case.__name__: case
    for case in (
        memory_limit,
        health_while_sealing,
        health_while_sealing_many,
        end_while_sealing,
        first_layers,
        left_query,
        missing_part,
    )
}

if __name__ == "__main__":
    print(CASES[sys.argv[1]]())
