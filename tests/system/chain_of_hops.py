"""Real hop processes between devices and a receiver, which can be killed at any moment."""

import json
import os
import signal
import time
from base64 import b64encode
from contextlib import suppress
from http.client import HTTPConnection, HTTPException

from client.serving import free_port
from shuffler.hops import COLLECTION, open_hop, people, shuffled_task
from shuffler.receiver import Receiver, text_of
from sottovoce.errors import UnavailableError
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.shuffler.store.base import hop_store_url, open_hop_store
from sottovoce.wire import batch_part, codec
from sottovoce.wire.batch_part import PartPlace
from sottovoce.wire.shuffled_message import seal_context
from system.hop_serving import run_forked
from system.servers import Forked

DEVICE_ADDRESS = "127.0.0.2"  # of nothing else, so that it can be searched for
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

    def __init__(self, hops, task):
        self.hops = hops
        self.task = task
        self.patience = PATIENCE
        self.fingerprint = codec.publish(task).fingerprint
        self.name = text_of(self.fingerprint)

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
            connection = HTTPConnection(
                "127.0.0.1", self.hops[0].port, 30, source_address=(DEVICE_ADDRESS, 0)
            )
            try:
                connection.request("POST", path, body, {"content-type": "application/json"})
                answer = json.loads(connection.getresponse().read())
                if not answer["refused"]:
                    return answer
            except (OSError, HTTPException, ValueError, KeyError):
                time.sleep(0.05)
            finally:
                connection.close()
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

    def sent_parts(self, number):
        """Return every part that a hop with the order ``sent`` has ever begun to send."""
        hop = self.hops[number]
        path = sent_path(hop)
        parts = []
        for line in path.read_text().splitlines() if path.exists() else []:
            address, body = line.split()
            place = PartPlace(self.fingerprint, 0, number, int(address.rsplit("/", 1)[1]))
            parts.append(batch_part.read(bytes.fromhex(body), place, hop.signing.public_key))
        return parts

    def sent_messages(self, number):
        """Return the sealed messages in these parts, each once."""
        messages = set()
        for part in self.sent_parts(number):
            messages.update(split(part.messages, self.sealed_bytes(number + 1)))
        return sorted(messages)

    def sealed_bytes(self, number):
        """Return the length of a message at a hop, or behind the last one."""
        notice = codec.publish(self.task)
        context = seal_context(notice, notice.opening, self.fingerprint)
        return context.sealed_bytes(number)


class HopChain(HopLine):
    """A line of hops in front of a receiver, with its task."""

    def __init__(self, folder, databases=("", ""), **changes):
        self.receiver = Receiver()
        hops = hop_processes(folder, databases)
        listed = [(hop.url, hop.signing.public_key) for hop in hops]
        given = {"collection": COLLECTION} | changes
        self.receiver.publish(shuffled_task(listed, self.receiver.key, **given))
        super().__init__(hops, self.receiver.task)
        for hop in self.hops:
            hop.add_task(self.receiver.document, self.receiver.url)

    def close(self):
        super().close()
        self.receiver.close()

    def people(self, count):
        until(lambda: self.receiver.round_keys() is not None)
        return people(self.receiver, count)


def sent_path(hop):
    """Return the file in which a hop notes the parts that it sends, if it is ordered to."""
    return hop.folder.parent / f"{hop.folder.name}.sent"


def split(data, width):
    return [data[start : start + width] for start in range(0, len(data), width)]


def hop_processes(folder, databases):
    """One hop for every database; an empty one stands for a file in the hop's folder."""
    return [
        HopProcess(folder / f"hop{number}", database) for number, database in enumerate(databases)
    ]


def until(happened, patience=PATIENCE):
    """Wait for what the servers do in their own time."""
    end = time.monotonic() + patience
    while True:
        with suppress(UnavailableError):  # a database that is busy, or a server that is dead
            if happened():
                return
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)
