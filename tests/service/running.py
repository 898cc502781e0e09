"""A collector in a process of its own, started by its command and stopped by a signal."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2


@dataclass
class Running:
    """A server that listens: its address, its process, and what it has said once it has stopped."""

    url: str
    process: Any
    said: str = ""
    logged: str = ""

    def stop(self, how=signal.SIGTERM):
        """Stop it and return its exit code."""
        self.process.send_signal(how)
        said, self.logged = self.process.communicate(timeout=60)
        self.said += said
        return self.process.returncode


@contextmanager
def running(folder, *options, **environment):
    """Run ``sottovoce serve`` over a folder while the block lasts."""
    command = [sys.executable, "-m", "sottovoce", "serve", "--data", str(folder), "--port", "0", "--json", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    )
    first = process.stdout.readline()
    try:
        server = Running(json.loads(first)["url"], process, first)
        yield server
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def client(server, **rest):
    return httpx2.Client(base_url=server.url, timeout=30, **rest)
