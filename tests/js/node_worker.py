"""A Node process that does the jobs of ``clients/js/support/jobs.js``, one after another."""

import json
import subprocess
from base64 import b64decode
from math import isfinite
from typing import Any

from js.collector import PACKAGE

EXACT = 1 << 53  # JavaScript holds whole numbers exactly below this


class NodeWorker:
    """Starts once and serves all tests of a module: starting Node takes longer than most jobs."""

    def __init__(self, node: str) -> None:
        self._process = subprocess.Popen(
            [node, "support/worker.js"],
            cwd=PACKAGE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, job: str, given: Any) -> Any:
        """Return the result of a job; numbers that JSON cannot hold arrive as they are."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"job": job, "given": _marked(given)}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def messages(self, job: str, given: Any) -> Any:
        """Return the result of a job that makes messages: lists of bytes, by name."""
        result = self.run(job, given)
        if isinstance(result, list):
            return [b64decode(message) for message in result]
        return {name: [b64decode(message) for message in some] for name, some in result.items()}

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def written(number: int) -> int | str:
    """Return a whole number as a worker returns it."""
    return str(number) if abs(number) >= EXACT else number


def _marked(given: Any) -> Any:
    """Return what JSON can hold: numbers that it cannot hold become marked text."""
    if isinstance(given, dict):
        return {key: _marked(value) for key, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [_marked(value) for value in given]
    if isinstance(given, float) and not isfinite(given):
        return {"$": str(given)}
    if type(given) is int and abs(given) >= EXACT:
        return {"$": str(given)}
    return given
