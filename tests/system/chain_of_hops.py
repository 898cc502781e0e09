"""Real hop processes between devices and a receiver, which can be killed at any moment."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from shuffler.hops import COLLECTION, people, shuffled_task
from shuffler.receiver import Receiver, text_of
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.shuffler.store.base import hop_store_url, open_hop_store

TESTS = Path(__file__).parents[1]
PATIENCE = 120.0  # seconds until something that should happen counts as lost


class HopProcess:
    """One hop: a folder, a fixed port, and a process that is started again after it was killed."""

    def __init__(self, folder, twin=""):
        self.folder, self.twin = folder, twin
        self.signing = make_signing_key(folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.kills = 0
        self.log = folder.parent / f"{folder.name}.log"

    def command(self, *words):
        orders = json.dumps({"twin": self.twin})
        return [sys.executable, "-m", "system.hop_serving", orders, "shuffle", *words]

    @property
    def environment(self):
        paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        given = {"PYTHONPATH": os.pathsep.join(paths), "SOTTOVOCE_TICK": "0.02"}
        return os.environ | given | {"SOTTOVOCE_POLL_SECONDS": "0.1"}

    def start(self):
        words = ["serve", "--data", str(self.folder), "--port", str(self.port), "--rate", "0"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(*words, "--json", "--mix-threads", "1"),
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
            )

    def wait_until_it_listens(self):
        assert self.process.stdout.readline(), self.log.read_text()

    def run(self, *words):
        """Run a command beside the server."""
        done = subprocess.run(
            self.command(*words, "--data", str(self.folder)),
            capture_output=True,
            text=True,
            env=self.environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def kill(self):
        """Let it die at once, whatever it does."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.kills += 1
        self.discard()

    def discard(self):
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def store(self):
        return open_hop_store(hop_store_url(self.folder))

    def files(self):
        """Return the bytes of all files in the folder."""
        return b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())


class HopChain:
    """A receiver, its task, and the hops in front of it."""

    def __init__(self, folder, hops=2, twin="", **changes):
        self.receiver = Receiver()
        self.hops = [HopProcess(folder / f"hop{number}", twin) for number in range(hops)]
        listed = [(hop.url, hop.signing.public_key) for hop in self.hops]
        given = {"collection": COLLECTION} | changes
        self.receiver.publish(shuffled_task(listed, self.receiver.key, **given))
        self.name = text_of(self.receiver.notice.fingerprint)
        for hop in self.hops:
            hop.run("add", f"{self.receiver.url}/v1/tasks/count", "--json")

    def start(self):
        for hop in self.hops:
            hop.start()
        for hop in self.hops:
            hop.wait_until_it_listens()

    def close(self):
        for hop in self.hops:
            hop.discard()
        self.receiver.close()

    def people(self, count):
        until(lambda: self.receiver.round_keys() is not None)
        return people(self.receiver, count)

    def send(self, sealed):
        """Send messages like a device: the same bytes until they are acknowledged."""
        path = f"/v1/tasks/{self.name}/rounds/0/messages"
        body = json.dumps({"reports": [b64encode(message).decode() for message in sealed]})
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                connection = HTTPConnection("127.0.0.1", self.hops[0].port, timeout=30)
                connection.request("POST", path, body, {"content-type": "application/json"})
                answer = json.loads(connection.getresponse().read())
                connection.close()
                if not answer["refused"]:
                    return answer
            except (OSError, HTTPException, ValueError, KeyError):
                time.sleep(0.05)
        raise AssertionError("the messages were never acknowledged")

    def states(self):
        states = []
        for hop in self.hops:
            store = hop.store()
            record = store.find_round(self.receiver.notice.fingerprint, 0)
            states.append(None if record is None else record.state.value)
            store.close()
        return states

    def wait_until_erased(self):
        until(lambda: set(self.states()) == {"erased"})


def until(happened, pause=0.05):
    """Wait for what the servers do in their own time."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(pause)


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="hops-")
