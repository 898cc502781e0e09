"""A real collector in a process of its own, and how to talk to it."""

import http.client
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from sottovoce.collector.store.base import Store
from sottovoce.web.waiting import DATABASE_SECONDS, when_available
from system import forking
from system.serving import run_forked

TESTS = Path(__file__).parents[1]
TICK = "0.02"  # seconds between looks at what is due: rounds follow one another without waiting


# Servers are forked from a process that has loaded what they need: most of their time would be
# spent on that.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["system.loaded"])


@cache
def _loaded() -> None:
    """Start the process that servers are forked from; it looks for modules where this one does."""
    with patch.dict(os.environ, {"PYTHONPATH": os.pathsep.join(sys.path)}):
        forkserver.ensure_running()


class Forked:
    """A forked process that can be treated like one of ``subprocess``."""

    def __init__(
        self,
        orders: dict[str, Any],
        arguments: list[str],
        environment: dict[str, str],
        log: Path,
        run: Any = run_forked,
    ) -> None:
        _loaded()
        reading, writing = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(
            target=run,
            args=(orders, arguments, environment | forking.address(), str(log), writing),
        )  # not a daemon: those may not have children, and a collector has workers
        self._process.start()
        writing.close()
        self.stdout = os.fdopen(os.dup(reading.fileno()), "rb")
        reading.close()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            # It may end between the look and the signal, as with ``subprocess``.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("serve", timeout or 0.0)
        return code


class Server:
    """``sottovoce serve`` on a free port; ``orders`` are those of ``serving.py``.

    A ``fresh`` one is a new interpreter; the others are forked.
    """

    def __init__(
        self,
        folder: Path,
        database: str = "",
        orders: dict[str, Any] | None = None,
        *,
        fresh: bool = False,
        **options: Any,
    ) -> None:
        self.log = folder.parent / f"{folder.name}.log"
        named = [
            word
            for name, value in options.items()
            for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        arguments = ["serve", "--data", str(folder), "--port", "0", "--json", "--rate", "0", *named]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")
        }
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        environment |= {"SOTTOVOCE_TICK": TICK} | (
            {"SOTTOVOCE_DATABASE": database} if database else {}
        )
        self.process: Any
        if fresh:
            command = [sys.executable, "-m", "system.serving", json.dumps(orders or {}), *arguments]
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=log, env=environment
                )
        else:
            self.process = Forked(orders or {}, arguments, environment, self.log)
        self.address = self._address()

    def _address(self) -> str:
        said = b""
        for line in self.process.stdout:
            said += line
            if line.rstrip().endswith(b"}"):
                return urlsplit(json.loads(said)["url"]).netloc
        return ""  # it died before it could say where it is

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """Let it die at once."""
        self.process.send_signal(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to finish what is under way, and return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=30)

    def discard(self) -> None:
        """Leave no process behind, whatever happened."""
        if self.alive:
            self.process.kill()
        self.process.wait()
        if not self.process.stdout.closed:
            self.process.stdout.read()  # ends with the last process that holds it: a worker
            self.process.stdout.close()

    def errors(self) -> list[str]:
        """Return the lines of the log that tell of an error of the collector itself."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        lines = _NEVER_BEGUN.sub("", text).splitlines()
        return [
            line for line in lines if '"level": "ERROR"' in line or line.startswith("Traceback")
        ]


# What Python says in a worker whose server was killed before it could say what there is to do.
_NEVER_BEGUN = re.compile(
    r"^Traceback.*\n(?:  .*multiprocessing.*\n|  .*<string>.*\n|    .*\n)+"
    r"(?:EOFError: Ran out of input|.*UnpicklingError: pickle data was truncated)\n",
    re.MULTILINE,
)


class Wire:
    """One connection that stays open between requests, as a device library keeps it."""

    def __init__(self, address: str, timeout: float = 30.0) -> None:
        self.address = address
        self._connection = http.client.HTTPConnection(address, timeout=timeout)

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Return status, body and headers of the response; any failure of the connection is an
        ``OSError``.
        """
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            self._connection.request(method, path, body, named)
            response = self._connection.getresponse()
            return response.status, response.read(), response.headers
        except (http.client.HTTPException, OSError) as error:
            self._connection.close()
            raise ConnectionError(type(error).__name__) from error

    def close(self) -> None:
        self._connection.close()


def bearer(token: str) -> str:
    return f"Bearer {token}"


def open_store(folder: Path, database: str = "") -> Store:
    """Open the store that a server of this folder and database has, or had.

    A database that a trial has just restarted is waited for, as a server does.
    """
    if database:
        from sottovoce.collector.store.postgres import PostgresStore

        return when_available(lambda: PostgresStore(database), DATABASE_SECONDS)
    from sottovoce.collector.store.sqlite import SqliteStore

    folder.mkdir(parents=True, exist_ok=True)
    return SqliteStore(folder / "collector.db")
