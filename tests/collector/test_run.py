"""Running a collector: its folder, its door, and an end within the grace period."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collector.people import counting, text
from collector.running import client, running, until
from sottovoce.collector import access, run
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import UnavailableError
from sottovoce.web.settings import Settings

TESTS = Path(__file__).parents[1]
GRACE = 1.5
LATEST = GRACE + 3  # a busy machine starts and ends processes slowly


@pytest.fixture(autouse=True)
def _signals():
    """Let the handlers of signals be what they were."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_the_folder_is_made_and_holds_the_embedded_store(tmp_path):
    store = run.open_store(Settings(data=tmp_path / "deep" / "folder"))
    assert isinstance(store, SqliteStore)
    store.close()
    assert (tmp_path / "deep" / "folder" / "collector.db").exists()


def test_a_port_that_is_taken_is_unavailable_and_the_store_is_let_go(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(data=tmp_path, host="127.0.0.1", port=taken.getsockname()[1])
        with pytest.raises(UnavailableError, match="nothing can listen on 127"):
            run.serve(settings)
    store = run.open_store(settings)
    with store.lease("anybody") as mine:
        assert mine
    store.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_address_is_told_before_anything_is_served(tmp_path, host):
    if ":" in host and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    told = []

    def leave(url):
        told.append(url)
        raise SystemExit(0)

    with pytest.raises(SystemExit):
        run.serve(Settings(data=tmp_path, host=host, port=0), announce=leave)
    (url,) = told
    assert url.startswith("http://[::1]:" if ":" in host else "http://127.0.0.1:")
    assert int(url.rpartition(":")[2]) > 0


def test_a_signal_while_the_event_loop_starts_ends_the_collector_in_good_order(tmp_path):
    """An exception out of the handler of a signal left the loop half started, and a traceback."""
    ended = subprocess.run(
        [sys.executable, "-m", "collector.early_signal", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )
    assert "application shutdown complete" in ended.stderr.lower(), ended.stderr
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr


@pytest.fixture
def folder(tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    Collector(store, tmp_path, time.time).create(text(counting()), toml=False)
    store.close()
    return tmp_path


def stopped_after(server, how=signal.SIGTERM):
    """How many seconds the process lives after a signal; it must end as if in good order."""
    started = time.monotonic()
    assert server.stop(how) == 0
    return time.monotonic() - started


def test_a_body_that_does_not_come_does_not_hold_up_the_end(folder):
    with running(folder, SOTTOVOCE_GRACE_SECONDS=str(GRACE)) as server:
        host, _, port = server.url.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port))) as slow, client(server) as people:
            head = (
                b"POST /v1/tasks/count/reports HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n"
            )
            slow.sendall(head)
            assert people.get("/healthz").status_code == 200
            assert stopped_after(server) < LATEST


def test_a_step_that_waits_for_the_disk_does_not_hold_up_the_end(folder):
    with running(folder, SOTTOVOCE_GRACE_SECONDS=str(GRACE), SOTTOVOCE_TICK="0.05") as server:
        store = SqliteStore(folder / "collector.db")
        operator = access.issue(store, access.OPERATOR, int(time.time()))[0]
        store.close()
        with client(server, headers={"authorization": f"Bearer {operator}"}) as people:
            locked = sqlite3.connect(folder / "collector.db", isolation_level=None)
            locked.execute("begin immediate")
            until(lambda: people.get("/readyz").status_code == 503)
            assert stopped_after(server) < LATEST
            locked.close()
