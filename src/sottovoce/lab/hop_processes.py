"""Hops of a shuffled task as processes of their own, started by their command on this machine."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import CollectorApi
from sottovoce.core.base64url import text_of
from sottovoce.errors import MismatchError, StateError, UnavailableError
from sottovoce.shuffler.run import opened_shuffler
from sottovoce.shuffler.settings import ShufflerSettings
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.tasks.shuffle import Hop
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

_PATIENCE = 120.0  # seconds until the hops must have published their keys


@dataclass(frozen=True)
class HopPlace:
    """Where a hop keeps its data, and the port it listens on."""

    folder: Path
    port: int

    @classmethod
    def new(cls, folder: Path) -> "HopPlace":
        """Return a hop in a folder, on a port that is free now."""
        return cls(folder, free_port())

    @property
    def hop(self) -> Hop:
        """Return the hop as a task names it; its key is made if there is none."""
        key = text_of(make_signing_key(self.folder).public_key)
        return Hop(f"http://127.0.0.1:{self.port}", key)

    @contextmanager
    def served(self, *options: str) -> "Iterator[ServedProcess]":
        """Run the hop while the block lasts, with further options of its command."""
        command = ("shuffle", "serve", "--data", str(self.folder), "--port", str(self.port))
        with served(self.folder / "hop.log", *command, *options) as process:
            yield process

    def add_task(self, task: Task, collector: str) -> None:
        """Let the hop take part in a task of the collector at this address."""
        with opened_shuffler(ShufflerSettings(data=self.folder)) as shuffler:
            shuffler.add(codec.canonical(codec.document(task)), collector)

    def state(self, task: Task) -> str:
        """Return how far the hop is with the opening round of a task; empty before it knows it."""
        with opened_shuffler(ShufflerSettings(data=self.folder)) as shuffler:
            record = shuffler.store.find_round(codec.publish(task).fingerprint, 0)
        return "" if record is None else record.state.value


@dataclass(frozen=True)
class ServedProcess:
    """A server process that listens."""

    url: str
    pid: int

    @property
    def cpu_seconds(self) -> float:
        """Return the processor time that it and its children that have ended have used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks = sum(int(field) for field in fields[11:15])  # user, system, and both of children
        return ticks / os.sysconf("SC_CLK_TCK")

    @property
    def peak_bytes(self) -> int:
        """Return the most memory that was resident at once."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        [peak] = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
        return int(peak) << 10


@contextmanager
def served(log: Path, *arguments: str) -> Iterator[ServedProcess]:
    """Run a server by its command while the block lasts; its messages go to the file ``log``."""
    command = [sys.executable, "-m", "sottovoce", *arguments, "--rate", "0", "--json"]
    with (
        log.open("w") as file,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise UnavailableError(f"a server did not start: see {log}")
            yield ServedProcess(json.loads(line)["url"], process.pid)
        finally:
            process.terminate()


def round_sealing(api: CollectorApi, task: Task) -> Sealing:
    """Return what seals messages of the opening round, once the hops have published their keys."""
    notice = codec.publish(task)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with suppress(StateError, MismatchError):
            keys = api.keys(task.name, 0, notice.digest)
            return Sealing(notice, notice.opening, keys)
        time.sleep(0.1)
    raise UnavailableError("the hops did not publish their keys in time")


def free_port() -> int:
    """Return a port on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port: int = door.getsockname()[1]
    return port
