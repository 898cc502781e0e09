"""One trial of two real hops and the real collector behind them, all killed again and again.

Some processes die at a named point of their own code, others at a random moment; each is started
again.  Afterwards every acknowledged report must be in the collector's log once, beside nothing but
the fakes; each part of a batch may ever have been sent with one content; and no sealed message,
batch file or private key may be left.
"""

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from shuffler.deaths import title
from sottovoce.engine import memory
from sottovoce.errors import SottovoceError
from system import chain_serving
from system.chain_of_hops import HopProcess, sent_path
from system.checks import read_log
from system.collected_chain import NAME, CollectedChain
from system.hop_serving import ALL_POINTS, POINTS_WITH_TOKENS

PEOPLE = 60
FAKES = 5
PART_MESSAGES = 16
RANDOM_MOMENT = "at a random moment"
_UPLOADERS = 3


@dataclass(frozen=True)
class ChainScenario:
    """What happens in a trial: fakes and tokens, and who dies where.

    ``deaths`` are orders for the next lives of each server: hops first, the collector last.
    ``moments`` are kills at random moments of each.  Every message is sent ``repeats`` times.
    """

    fakes: int = 0
    has_tokens: bool = False
    deaths: tuple = ((), (), ())
    moments: int = 0
    longest_pause: float = 0.6  # seconds between two kills at random moments
    repeats: int = 2
    kills_first_hop: bool = False  # as soon as it has acknowledged everything
    patience: float = 900.0  # seconds until something that should happen counts as lost


@dataclass
class ChainResult:
    """What a trial did and found."""

    seed: int
    kills: Counter = field(default_factory=Counter)
    messages: int = 0
    sent_again: int = 0
    parts_again: int = 0
    findings: list = field(default_factory=list)


def random_chain_scenario(dice):
    """Return a scenario in which every server dies about three times."""
    has_tokens = dice.random() < 0.3
    fakes = FAKES if has_tokens else dice.choice((0, FAKES))
    hop_points = POINTS_WITH_TOKENS if has_tokens else ALL_POINTS
    collector_points = list(chain_serving.ALL_POINTS if has_tokens else chain_serving.POINTS)
    deaths = [
        tuple((dice.randrange(len(hop_points)), dice.choice(("before", "after"))) for _ in range(3))
        for _ in range(2)
    ]
    deaths.append(tuple((dice.choice(collector_points), dice.choice((1, 2))) for _ in range(3)))
    return ChainScenario(fakes, has_tokens, tuple(deaths), moments=2)


class ChainTrial:
    """A chain, the orders of the next lives of its servers, and what watches over them.

    ``twin`` names a mistake of its servers.
    """

    def __init__(self, folder, seed, scenario, databases=("", "", ""), twin=""):
        self.twin = twin
        self.folder, self.scenario = folder, scenario
        self.dice = random.Random(f"chain {seed}")
        self.chain = CollectedChain(
            folder, PEOPLE, scenario.fakes, databases, has_tokens=scenario.has_tokens
        )
        self.chain.patience = scenario.patience
        self.result = ChainResult(seed)
        self.over = threading.Event()
        self.orders = [list(deaths) for deaths in scenario.deaths]
        self.current = [None] * len(self.orders)
        self.is_shot = [False] * len(self.orders)
        self.lives = 0

    def run(self):
        """Run the trial and return its result."""
        threads = [threading.Thread(target=self._watch), threading.Thread(target=self._shoot)]
        try:
            for number in range(len(self.chain.servers)):
                self._start(number)
            for thread in threads:
                thread.start()
            reports, sealed = self.chain.answers(PEOPLE)
            keys = self.chain.private_keys()
            self._upload(sealed)
            if self.scenario.kills_first_hop:
                self._shoot_one(0)
            self.chain.wait_until_finished()
            self._end(threads)
            self.chain.close()
            self._check(reports, sealed)
            self._check_keys(keys)
        except AssertionError as error:
            self.find(f"stuck: {error}; states {self.chain.states()}")
            self._check_inbox()
            self._check_parts()
        finally:
            self._end(threads)
            self.chain.close()
        return self.result

    def _end(self, threads):
        self.over.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()

    # Lives and deaths

    def _start(self, number):
        self.current[number] = self.orders[number].pop(0) if self.orders[number] else None
        self.is_shot[number] = False
        server, given = self.chain.servers[number], self.current[number]
        self.lives += 1
        orders = {"twin": self.twin}
        if isinstance(server, HopProcess):
            orders |= {"part_messages": PART_MESSAGES, "sent": str(sent_path(server))}
            server.start(**orders, point=given)
        else:
            counter = str(self.folder / f"counter{self.lives}")
            server.start(**orders, point=None if given is None else [*given, counter])

    def _watch(self):
        """Start servers again that have died."""
        while not self.over.wait(0.01):
            for number, server in enumerate(self.chain.servers):
                if not server.alive:
                    self._count_death(number)
                    server.discard()
                    self._start(number)

    def _count_death(self, number):
        given = self.current[number]
        if self.is_shot[number] or given is None:
            who = "collector" if number == 2 else f"hop {number}"
            self.result.kills[f"{who}: {RANDOM_MOMENT}"] += 1
        elif number == 2:
            self.result.kills[f"collector: {given[0]}"] += 1
        else:
            point, when = given
            self.result.kills[f"hop {number}: {when} {title(POINTS_WITH_TOKENS[point])}"] += 1

    def _shoot(self):
        """Kill servers at random moments."""
        victims = list(range(len(self.chain.servers))) * self.scenario.moments
        self.dice.shuffle(victims)
        for number in victims:
            if self.over.wait(self.dice.uniform(0.05, self.scenario.longest_pause)):
                return
            self._shoot_one(number)

    def _shoot_one(self, number):
        process = self.chain.servers[number].process
        if process is not None and process.poll() is None:
            self.is_shot[number] = True
            process.kill()

    def _upload(self, sealed):
        """Send all messages in small requests, most of them again, from several threads."""
        pieces = [sealed[start : start + 5] for start in range(0, len(sealed), 5)]
        errors = []

        def send(mine):
            try:
                for piece in mine:
                    for _ in range(self.scenario.repeats):
                        answer = self.chain.send(piece)
                        self.result.sent_again += answer["duplicates"]
            except AssertionError as error:
                errors.append(error)

        work = [pieces[index::_UPLOADERS] for index in range(_UPLOADERS)]
        threads = [threading.Thread(target=send, args=(mine,)) for mine in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, errors[0]
        self.result.messages = len(sealed)
        if self.result.sent_again < len(sealed) * (self.scenario.repeats - 1):
            self.find("a message that was sent again was taken for a new one")

    # What is left behind

    def _check(self, reports, sealed):
        collector, store = self.chain.collector.opened()
        try:
            self._check_log(collector, reports)
            self._check_counts(collector, store)
            self._check_answer(collector, reports)
        finally:
            store.close()
        recorded = [*sealed, *self._check_parts()]
        for hop in self.chain.hops:
            self._check_hop(hop, recorded)

    def _check_inbox(self):
        """Check that the first hop knows every message that it has acknowledged."""
        store = self.chain.hops[0].store()
        record = store.find_round(self.chain.fingerprint, 0)
        store.close()
        if record is not None and record.messages < self.result.messages:
            missing = self.result.messages - record.messages
            self.find(f"lost: {missing} acknowledged messages are not at the first hop")

    def find(self, what):
        self.result.findings.append(what)

    def _check_log(self, collector, reports):
        """Check that every report is in the log once, beside as many others as there are fakes."""
        columns = read_log(collector.log(collector.find(NAME).last))
        logged = Counter(columns["payload"])
        width = len(next(iter(logged)))
        sent = Counter(report[-width:] for report in reports)
        if sent - logged:
            self.find(f"lost: {(sent - logged).total()} acknowledged reports")
        if max(logged.values()) > 1:
            self.find(f"doubled: {sum(count > 1 for count in logged.values())} reports")
        expected = len(reports) + self.scenario.fakes * len(self.chain.hops)
        if logged.total() != expected:
            self.find(f"{logged.total()} reports were counted, not {expected}")

    def _check_counts(self, collector, store):
        digest = collector.find(NAME).digest
        batch = store.batch(digest, 0)
        if batch is not None and (batch.duplicates or batch.unopened):
            self.find(f"doubled: {batch.duplicates} in the batch, {batch.unopened} do not open")
        if store.refusals(digest):
            self.find(f"reports were refused: {store.refusals(digest)}")

    def _check_answer(self, collector, reports):
        """Check the answer where no fakes blur it: it is that of the reports without a hop."""
        if self.scenario.fakes:
            return
        expected = memory.answer(self.chain.task, reports).to_dict()["rows"]
        try:
            rows = collector.answer(NAME).to_dict()["rows"]
        except SottovoceError as error:
            self.find(f"there is no answer: {error}")
            return
        if rows != expected:
            self.find("the answer is not that of the same reports without a shuffler")

    def _check_parts(self):
        """Check that no part was sent with another content; returns the messages in all parts."""
        messages = []
        for number in range(len(self.chain.hops)):
            contents = {}
            sent = self.chain.sent_parts(number)
            for part in sent:
                contents.setdefault(part.part, set()).add(part.messages)
            if any(len(bodies) > 1 for bodies in contents.values()):
                self.find(f"a second order was sent by hop {number}")
            self.result.parts_again += len(sent) - len(contents)
            messages += self.chain.sent_messages(number)
        return messages

    def _check_hop(self, hop, recorded):
        if list((hop.folder / "batches").rglob("*.*")):
            self.find("a batch file is left")
        left = hop.files()
        if any(message[:32] in left for message in recorded):
            self.find("a sealed message is left at a hop")

    def _check_keys(self, keys):
        """Check that no key of the round is in a store or a file, so that nothing opens again."""
        if any(self.chain.private_keys()):
            self.find("a private key is left in a store")
        folders = [server.folder for server in self.chain.servers]
        paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        written = b"".join(path.read_bytes() for path in paths)
        if any(key in written for key in keys):
            self.find("a private key is left in a file")
