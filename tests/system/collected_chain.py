"""Two real hops and the real collector behind them, each a process that can be killed."""

import os
import time
from contextlib import suppress
from dataclasses import fields

import sottovoce as sv
from client.serving import free_port
from sottovoce.client.client import Client
from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import CollectorApi
from sottovoce.collector import key_files
from sottovoce.collector.collector import Collector
from sottovoce.errors import UnavailableError
from sottovoce.lab.hop_processes import round_sealing
from sottovoce.lab.shuffle_chain import NotedSealing
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.wire import codec
from system.chain_of_hops import HopLine, hop_processes, text_of
from system.chain_serving import run_forked
from system.servers import TESTS, TICK, Forked, open_store

NAME = "chain"
EPSILON = 6.0
# Affine response: every report holds a random seed of 64 bits, by which it can be told.
PLAN = sv.Histogram(range(1024), mechanism="affine")


class CollectorProcess:
    """One collector: a folder, a fixed port, and a process that is started again."""

    def __init__(self, folder, database=""):
        self.folder, self.database = folder, database
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder.parent / f"{folder.name}.log"
        self.process = None
        self.kills = 0

    def start(self, **orders):
        """Start it, and wait until it listens or has died."""
        words = ("serve", "--data", str(self.folder), "--port", str(self.port), "--rate", "0")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")
        }
        path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment |= {"PYTHONPATH": path, "SOTTOVOCE_TICK": TICK}
        if self.database:
            environment["SOTTOVOCE_DATABASE"] = self.database
        self.process = Forked(orders, [*words, "--json"], environment, self.log, run_forked)
        self.process.stdout.readline()

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def discard(self):
        """Leave no process behind, the worker included."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            self.process.stdout.read()  # ends with the last process that holds it: a worker
            self.process.stdout.close()
            self.process = None

    def opened(self):
        """Return the collector of the folder in this process, and its store."""
        store = open_store(self.folder, self.database)
        return Collector(store, self.folder, time.time), store


class CollectedChain(HopLine):
    """A shuffled task at a real collector, and the hops in front of it."""

    def __init__(self, folder, people, fakes=0, databases=("", "", ""), *, has_tokens=False):
        collector_folder = folder / "collector"
        collector_folder.mkdir(mode=0o700, parents=True)
        self.collector = CollectorProcess(collector_folder, databases[2])
        self.issuer = key_files.make_issuer(collector_folder) if has_tokens else None
        hops = hop_processes(folder, databases[:2])
        super().__init__(hops, self._task(hops, people, fakes))
        self.document = codec.canonical(codec.document(self.task))
        collector, store = self.collector.opened()
        collector.create(self.document, toml=False)
        store.close()
        for hop in hops:
            hop.add_task(self.document, self.collector.url)

    def _task(self, hops, people, fakes):
        folder = self.collector.folder
        listed = tuple(Hop(hop.url, text_of(hop.signing.public_key)) for hop in hops)
        key = key_files.public_signing_key(folder)
        shuffle = Shuffle(listed, key, people, fakes, EPSILON, EPSILON, 1e-9)
        issuer = None if self.issuer is None else text_of(self.issuer.public_key.data)
        collection = Collection(quota=people, minimum=2, grace=0, issuer=issuer)
        return sv.Task(NAME, PLAN, EPSILON, collection=collection, shuffle=shuffle)

    @property
    def servers(self):
        return [*self.hops, self.collector]

    def close(self):
        super().close()
        self.collector.discard()

    def answers(self, count):
        """Return the reports of so many devices, and the same sealed."""
        sealing = self._sealing()
        sealed = []
        for number in range(count):
            client = Client(self.document, ":memory:")
            if self.issuer is not None:
                client.blind_token.finish(self.issuer.sign(client.blind_token.blinded()))
            sealed.append(client.answer(number % 7, sealing=sealing))
            client.ledger.close()
        return sealing.noted, sealed

    def private_keys(self):
        """Return the private keys of the round that are still there, the collector's last."""
        keys = []
        for hop in self.hops:
            store = hop.store()
            keys.append(store.private_key(self.fingerprint, 0))
            store.close()
        collector, store = self.collector.opened()
        keys.append(store.private_round_key(collector.find(NAME).digest, 0))
        store.close()
        return [key for key in keys if key is not None]

    def _sealing(self):
        made = []

        def is_made():
            with suppress(UnavailableError):  # the collector may be dead
                made.append(round_sealing(CollectorApi(self.collector.url), self.task))
            return bool(made)

        self.until(is_made)
        given = {field.name: getattr(made[0], field.name) for field in fields(Sealing)}
        return NotedSealing(**given)

    def wait_until_finished(self):
        """Wait until both hops have erased the batch and the collector has its answer."""
        self.wait_until_erased()

        def is_finished():
            with suppress(UnavailableError):
                return CollectorApi(self.collector.url).round(NAME)[0] == "finished"

        self.until(is_finished)
