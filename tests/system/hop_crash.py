"""One trial of two real hops that are killed again and again while a batch passes them.

Some hops die at a named point of their own code, others at a random moment; each is started again.
Afterwards every acknowledged message must have arrived once, and only one order may have been sent.
"""

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from shuffler.deaths import title
from system.chain_of_hops import HopChain
from system.hop_serving import ALL_POINTS

PEOPLE = 60
FAKES = 5
PART_MESSAGES = 16
MAX_DEATHS = 5  # of one hop at points of its own code
_UPLOADERS = 3
_MAX_PAUSE = 0.6  # seconds between two kills at random moments


@dataclass
class HopResult:
    """What a trial did and found."""

    seed: int
    kills: Counter = field(default_factory=Counter)
    messages: int = 0
    sent_again: int = 0
    parts_again: int = 0
    findings: list = field(default_factory=list)


class HopTrial:
    """A chain of two hops, the orders of their next lives, and what watches over them."""

    def __init__(self, folder, seed, databases=("", "")):
        self.dice = random.Random(f"hops {seed}")
        self.chain = HopChain(folder, databases, fakes=FAKES, users=PEOPLE)
        self.result = HopResult(seed)
        self.over = threading.Event()
        self.orders = [self._random_orders() for _ in self.chain.hops]
        self.current = [None for _ in self.chain.hops]

    def run(self):
        """Run the trial and return its result."""
        threads = []
        try:
            for number in range(len(self.chain.hops)):
                self._start(number)
            threads = [threading.Thread(target=self._watch), threading.Thread(target=self._kill)]
            for thread in threads:
                thread.start()
            inner, sealed = self.chain.people(PEOPLE)
            self._upload(sealed)
            self.chain.wait_until_erased()
            self._end(threads)
            self._check(inner, sealed)
        except AssertionError as error:
            self.result.findings.append(f"stuck: {error}; states {self.chain.states()}")
        finally:
            self._end(threads)
            self.chain.close()
        return self.result

    def _end(self, threads):
        self.over.set()
        for thread in threads:
            thread.join()

    def _random_orders(self):
        """Return at which points a hop dies in its next lives."""
        points = [self.dice.randrange(len(ALL_POINTS)) for _ in range(MAX_DEATHS)]
        return [(point, self.dice.choice(("before", "after"))) for point in points]

    def _start(self, number):
        orders = {"part_messages": PART_MESSAGES}
        self.current[number] = None
        if self.orders[number]:
            self.current[number] = self.orders[number].pop()
            orders["point"] = self.current[number]
        self.chain.hops[number].start(**orders)

    def _watch(self):
        """Start hops again that have died."""
        while not self.over.wait(0.01):
            for number, hop in enumerate(self.chain.hops):
                if not hop.alive:
                    self._count_death(number)
                    hop.discard()
                    self._start(number)

    def _count_death(self, number):
        at_point = self.current[number]
        if at_point is None or self.chain.hops[number].kills:
            self.result.kills["at a random moment"] += 1
        else:
            point, when = at_point
            self.result.kills[f"{when} {title(ALL_POINTS[point])}"] += 1
        self.chain.hops[number].kills = 0

    def _kill(self):
        """Kill hops at random moments, four times each at the most."""
        victims = [number for number in range(len(self.chain.hops)) for _ in range(4)]
        self.dice.shuffle(victims)
        for number in victims:
            if self.over.wait(self.dice.uniform(0.05, _MAX_PAUSE)):
                return
            hop = self.chain.hops[number]
            if hop.alive:
                hop.kills += 1
                hop.process.kill()

    def _upload(self, sealed):
        """Send all messages in small requests, some of them twice, from several threads."""
        pieces = [sealed[start : start + 5] for start in range(0, len(sealed), 5)]
        work = [pieces[index::_UPLOADERS] for index in range(_UPLOADERS)]
        errors = []

        def send(mine):
            try:
                for piece in mine:
                    for _ in range(2):
                        answer = self.chain.send(piece)
                        self.result.sent_again += answer["duplicates"]
            except AssertionError as error:
                errors.append(error)

        threads = [threading.Thread(target=send, args=(mine,)) for mine in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.result.messages = len(sealed)
        assert not errors, errors[0]

    def _check(self, inner, sealed):
        receiver, findings = self.chain.receiver, self.result.findings
        opened = Counter(receiver.opened())
        lost = Counter(inner) - opened
        if lost:
            findings.append(f"lost: {lost.total()} acknowledged messages")
        if max(opened.values()) > 1:
            findings.append("doubled: a message arrived twice")
        expected = len(inner) + FAKES * len(self.chain.hops)
        if opened.total() != expected:
            findings.append(f"{opened.total()} messages arrived, not {expected}")
        if len(receiver.batch_hashes()) != 1:
            findings.append("a second order was sent")
        parts = {part for _, part, _, _ in receiver.sent}
        self.result.parts_again = len(receiver.sent) - len(parts)
        for hop in self.chain.hops:
            self._check_folder(hop, sealed)

    def _check_folder(self, hop, sealed):
        findings = self.result.findings
        if list((hop.folder / "batches").rglob("*.*")):
            findings.append("a batch file is left")
        left = hop.files()
        recorded = [*sealed, *self.chain.receiver.batches[0]]
        if any(message[:32] in left for message in recorded):
            findings.append("a sealed message is left")
        store = hop.store()
        if store.private_key(self.chain.receiver.notice.fingerprint, 0) is not None:
            findings.append("a private key is left")
        store.close()
