"""A collector in a process of its own, started by its command and stopped by a signal."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2


@dataclass
class Running:
    """A server that listens: its address, its process, and what it has said once it has stopped."""

    url: str
    process: Any
    log: Any  # a file: a pipe that nobody empties would stop the server when it is full
    said: str = ""
    logged: str = ""

    def stop(self, how=signal.SIGTERM):
        """Stop it and return its exit code."""
        self.process.send_signal(how)
        said, _ = self.process.communicate(timeout=60)
        self.log.seek(0)
        self.said, self.logged = self.said + said, self.log.read()
        return self.process.returncode


@contextmanager
def running(folder, *options, **environment):
    """Run ``sottovoce serve`` over a folder while the block lasts."""
    command = [
        sys.executable,
        "-m",
        "sottovoce",
        "serve",
        "--data",
        str(folder),
        "--port",
        "0",
        "--json",
        *options,
    ]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | environment
        )
        try:
            first = process.stdout.readline()
            yield Running(json.loads(first)["url"], process, log, first)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


def client(server, **rest):
    return httpx2.Client(base_url=server.url, timeout=30, **rest)


def finish(people, name, operator):
    """Close the open round of a task over HTTP and wait until the collector has its answer."""
    bearing = {"authorization": f"Bearer {operator}"}
    assert people.post(f"/v1/tasks/{name}/close?at_once=true", headers=bearing).status_code == 200
    until(lambda: people.get(f"/v1/tasks/{name}/round").json()["state"] == "finished")


def until(happened):
    """Wait for what the server does in its own time."""
    while not happened():
        time.sleep(0.02)
