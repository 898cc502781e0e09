"""A million reports through one server, and how large it is meanwhile."""

import json
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.envelope import Envelopes
from system.servers import Server, Wire, bearer, open_store

AT_ONCE = 1_000  # reports in one upload
UPLOADERS = 2
_SAMPLES = 40
_FLAT = 1.10


@dataclass
class Memory:
    """The size of the server in MiB, sampled evenly over the uploads and once after the answer."""

    reports: int
    seconds: float = 0.0
    before: float = 0.0
    samples: list[float] = field(default_factory=list)
    peak_uploading: float = 0.0
    peak: float = 0.0  # of the server
    peak_worker: float = 0.0  # of the process that seals
    sealing_seconds: float = 0.0
    findings: list[str] = field(default_factory=list)

    def quarter(self, number: int) -> float:
        """Return the mean size in one quarter of the uploads, counted from 1."""
        pieces = np.array_split(np.array(self.samples), 4)
        return float(pieces[number - 1].mean())

    def lines(self) -> list[str]:
        """Return the part of the page."""
        quarters = " | ".join(f"{self.quarter(number):.0f}" for number in (1, 2, 3, 4))
        return [
            f"{self.reports:,} reports of a histogram over 16 values (GRR), in uploads of "
            f"{AT_ONCE:,} from\n"
            f"{UPLOADERS} connections into the embedded store; resident size of the server in MiB, "
            "the mean over each\n"
            "quarter of the uploads.\n",
            "| before | first quarter | second | third | fourth | peak, uploading | peak, "
            "answering | peak of the worker |",
            "|---:|---:|---:|---:|---:|---:|---:|---:|",
            f"| {self.before:.0f} | {quarters} | {self.peak_uploading:.0f} | {self.peak:.0f} | "
            f"{self.peak_worker:.0f} |",
            f"\nThe fourth quarter is {self.quarter(4) / self.quarter(2):.2f} times the second.",
        ]


def measure(folder: Path, reports: int, show: Callable[[str], None] = lambda text: None) -> Memory:
    """Send the reports, seal them, ask for the answer; finds what is lost, and growth that does not
    stop.
    """
    store = open_store(folder)
    operator = access.issue(store, "operator", int(time.time()))[0]
    store.close()
    labels = [str(value) for value in range(16)]
    task = sv.Task(
        "memory", sv.Histogram(labels, mechanism="grr"), 1.0, collection=Collection(grace=0)
    )
    server = Server(folder, fresh=True)
    try:
        _ask(server, operator, "POST", "/v1/tasks", codec.canonical(codec.document(task)).encode())
        memory = Memory(reports, before=_status(server, "VmRSS"))
        _upload_all(server, task, memory, show)
        _seal(server, operator, memory)
    finally:
        server.stop()
        server.discard()
    if memory.quarter(4) > _FLAT * memory.quarter(2):
        memory.findings.append(
            f"memory grows: {memory.quarter(2):.0f} MiB, then {memory.quarter(4):.0f} MiB"
        )
    memory.findings += server.errors()
    return memory


def _upload_all(server: Server, task: Task, memory: Memory, show: Callable[[str], None]) -> None:
    uploads, lock, started = memory.reports // AT_ONCE, threading.Lock(), time.monotonic()
    left, every = iter(range(uploads)), max(1, uploads // _SAMPLES)

    def run(seed: int) -> None:
        wire, dice = Wire(server.address), random.Random(seed)
        while True:
            with lock:
                number = next(left, None)
            if number is None:
                break
            body = msgspec.msgpack.encode({"reports": messages(task, dice)})
            status, content, _ = wire.request(
                "POST", "/v1/tasks/memory/reports", body, content_type="application/msgpack"
            )
            with lock:
                if status != 200 or msgspec.msgpack.decode(content)["accepted"] != AT_ONCE:
                    memory.findings.append(
                        f"an upload of the memory run gave {status}: {content[:200]!r}"
                    )
                if number % every == 0:
                    memory.samples.append(_status(server, "VmRSS"))
                    show(f"memory: {number * AT_ONCE:,} reports, {memory.samples[-1]:.0f} MiB")
        wire.close()

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(UPLOADERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.seconds, memory.peak_uploading = time.monotonic() - started, _status(server, "VmHWM")


def messages(task: Task, dice: random.Random) -> list[bytes]:
    """Return the messages of one upload."""
    whole = Envelopes(
        digest=codec.digest_bytes(codec.document(task)),
        round=0,
        members=np.zeros(AT_ONCE, np.int64),
        ids=np.frombuffer(dice.randbytes(16 * AT_ONCE), np.uint8).reshape(AT_ONCE, 16),
        payloads=np.frombuffer(dice.randbytes(AT_ONCE), np.uint8).reshape(AT_ONCE, 1) % 16,
    ).write()
    width = len(whole) // AT_ONCE
    return [whole[start : start + width] for start in range(0, len(whole), width)]


def _seal(server: Server, operator: str, memory: Memory) -> None:
    started = time.monotonic()
    _ask(server, operator, "POST", "/v1/tasks/memory/close?at_once=true", b"")
    while _ask(server, operator, "GET", "/v1/tasks/memory/status")["state"] != "finished":
        memory.peak_worker = max([memory.peak_worker, *_worker_peaks(server)])
        time.sleep(0.01)
    answer = _ask(server, operator, "GET", "/v1/tasks/memory/answer")
    memory.sealing_seconds, memory.peak = time.monotonic() - started, _status(server, "VmHWM")
    if answer["users"] != memory.reports // AT_ONCE * AT_ONCE:
        memory.findings.append(f"lost or doubled: the answer rests on {answer['users']} users")


def _ask(server: Server, operator: str, method: str, path: str, body: bytes | None = None) -> dict:
    wire = Wire(server.address, timeout=600.0)
    kind = "application/json"
    status, content, _ = wire.request(
        method, path, body, authorization=bearer(operator), content_type=kind, connection="close"
    )
    wire.close()
    assert status < 300, content
    return json.loads(content)


def _worker_peaks(server: Server) -> list[float]:
    """Return the largest sizes so far of the processes that the server has started, in MiB."""
    peaks = []
    tasks = Path(f"/proc/{server.process.pid}/task")
    for children in tasks.glob("*/children"):
        for child in children.read_text().split():
            with suppress(OSError, StopIteration):  # it has just ended
                peaks.append(_status_line(int(child), "VmHWM"))
    return peaks


def _status(server: Server, name: str) -> float:
    """Return a line of the server's status in MiB."""
    return _status_line(server.process.pid, name)


def _status_line(process: int, name: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024
