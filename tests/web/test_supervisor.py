"""Processes behind one port: all accept, one that dies is replaced, and all end together."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
GIVE_UP = 60.0  # seconds: only a supervisor that never gets there comes to the end of this


class Supervised:
    """A supervisor with two processes."""

    def __init__(self, log):
        self.log = log
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "web.supervise", "0"],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self.port = int(self.process.stdout.readline())

    def ask(self, words=b"thanks"):
        """Return the number and the id of the process that has accepted a connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=GIVE_UP) as line:
            number, process = line.makefile().readline().split()
            with suppress(OSError):
                line.sendall(words)
        return int(number), int(process)

    def until_both(self, other_than=()):
        """Return the ids of both processes, none of which may be one of some others."""
        seen = {}
        end = time.monotonic() + GIVE_UP
        while len(seen) < 2:
            assert time.monotonic() < end, "the second process never accepted anything"
            number, process = self.ask()
            if process not in other_than:
                seen[number] = process
        return seen


@pytest.fixture
def supervised(tmp_path):
    made = Supervised(tmp_path / "log")
    yield made
    made.process.kill()
    made.process.wait()
    made.process.stdout.close()


def gone(process):
    """Wait until a process that is not ours has ended."""
    end = time.monotonic() + GIVE_UP
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < end, "this process lives on"
        time.sleep(0.01)


def test_a_process_that_dies_is_replaced_and_all_end_together(supervised):
    first = supervised.until_both()
    number, process = supervised.ask(b"die")
    gone(process)
    second = supervised.until_both(other_than={process})
    assert second[1 - number] == first[1 - number], "the other one was left alone"
    assert second[number] != process
    assert "ended with code 3" in supervised.log.read_text()
    supervised.process.send_signal(signal.SIGTERM)
    assert supervised.process.wait(timeout=GIVE_UP) == 0
    for each in second.values():
        gone(each)


def test_processes_end_with_a_supervisor_that_is_killed(supervised):
    processes = supervised.until_both()
    supervised.process.kill()
    for each in processes.values():
        gone(each)
