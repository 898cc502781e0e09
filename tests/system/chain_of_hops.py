"""Real hop processes between devices and a receiver, which can be killed at any moment."""

import json
import os
import signal
import time
from base64 import b64encode
from http.client import HTTPConnection, HTTPException

from client.serving import free_port
from shuffler.hops import COLLECTION, open_hop, people, shuffled_task
from shuffler.receiver import Receiver, text_of
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.shuffler.store.base import hop_store_url, open_hop_store
from system.hop_serving import run_forked
from system.servers import Forked

PATIENCE = 120.0  # seconds until something that should happen counts as lost


class HopProcess:
    """One hop: a folder, a fixed port, and a process that is started again after it was killed."""

    def __init__(self, folder, database=""):
        self.folder, self.database = folder, database
        self.signing = make_signing_key(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.kills = 0
        self.log = folder.parent / f"{folder.name}.log"

    def start(self, **orders):
        """Start it, and wait until it listens or has died."""
        words = ["serve", "--data", str(self.folder), "--port", str(self.port), "--rate", "0"]
        arguments = ["shuffle", *words, "--json", "--mix-processes", "1"]
        environment = os.environ | {"SOTTOVOCE_TICK": "0.02", "SOTTOVOCE_POLL_SECONDS": "0.1"}
        if self.database:
            environment["SOTTOVOCE_DATABASE"] = self.database
        self.process = Forked(orders, arguments, dict(environment), self.log, run_forked)
        self.process.stdout.readline()

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """Let it die at once, whatever it does."""
        if self.alive:
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
        return open_hop_store(hop_store_url(self.folder, self.database))

    def add_task(self, document, collector):
        """Let the hop take part in a task, as its operator would."""
        shuffler = open_hop(self.folder, time.time, self.database)
        shuffler.add(document, collector)
        shuffler.store.close()

    def files(self):
        """Return the bytes of all files in the folder."""
        return b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())


class HopLine:
    """Some hops in a line, and a task whose messages pass them."""

    def __init__(self, hops, fingerprint, patience=PATIENCE):
        self.hops = hops
        self.patience = patience
        self.fingerprint = fingerprint
        self.name = text_of(fingerprint)

    def start(self, **orders):
        for hop in self.hops:
            hop.start(**orders)

    def close(self):
        for hop in self.hops:
            hop.discard()

    def send(self, sealed):
        """Send messages like a device: the same bytes until they are acknowledged."""
        path = f"/v1/tasks/{self.name}/rounds/0/messages"
        body = json.dumps({"reports": [b64encode(message).decode() for message in sealed]})
        end = time.monotonic() + self.patience
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
            record = store.find_round(self.fingerprint, 0)
            states.append(None if record is None else record.state.value)
            store.close()
        return states

    def wait_until_erased(self):
        self.until(lambda: set(self.states()) == {"erased"})

    def until(self, happened):
        until(happened, self.patience)


class HopChain(HopLine):
    """A line of hops in front of a receiver, with its task."""

    def __init__(self, folder, databases=("", ""), **changes):
        self.receiver = Receiver()
        hops = hop_processes(folder, databases)
        listed = [(hop.url, hop.signing.public_key) for hop in hops]
        given = {"collection": COLLECTION} | changes
        self.receiver.publish(shuffled_task(listed, self.receiver.key, **given))
        super().__init__(hops, self.receiver.notice.fingerprint)
        for hop in self.hops:
            hop.add_task(self.receiver.document, self.receiver.url)

    def close(self):
        super().close()
        self.receiver.close()

    def people(self, count):
        until(lambda: self.receiver.round_keys() is not None)
        return people(self.receiver, count)


def hop_processes(folder, databases):
    """One hop for every database; an empty one stands for a file in the hop's folder."""
    return [
        HopProcess(folder / f"hop{number}", database) for number, database in enumerate(databases)
    ]


def until(happened, patience=PATIENCE):
    """Wait for what the servers do in their own time."""
    end = time.monotonic() + patience
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)
