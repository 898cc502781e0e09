"""One hop: what it knows of its tasks and rounds, and the steps that take each batch to its end.

    open -> closing -> mixed -> delivered -> erased

Every step is durable before the next begins, and is repeated after a crash.  A hop that dies while
it mixes has sent nothing, and mixes again; one that dies after the batch was noted as mixed sends
the same file again.

A round takes messages once this hop has signed the keys of all hops and of the collector as one
set.  It signs one set for a round and never another, so that all devices seal for the same keys.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sottovoce.core.rng import SystemRng
from sottovoce.errors import MismatchError, SottovoceError, StateError, UnavailableError
from sottovoce.shuffler import collector_link, fake_messages
from sottovoce.shuffler.added_task import AddedTask, new_task
from sottovoce.shuffler.batch_file import BatchFiles
from sottovoce.shuffler.collector_link import CollectorLink
from sottovoce.shuffler.delivery import Delivery
from sottovoce.shuffler.mixing import (
    MESSAGES_AT_ONCE,
    MixLimits,
    MixResult,
    MixSource,
    mix,
)
from sottovoce.shuffler.opening import LayerKey
from sottovoce.shuffler.outgoing import OtherServer, RefusedRequestError
from sottovoce.shuffler.settings import ShufflerSettings
from sottovoce.shuffler.store.base import ENDED, BatchState, HopRound, HopStore, NewRound
from sottovoce.tasks.round import Round
from sottovoce.web.problems import RequestError
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyPair, KeyStatement, SignedKey, new_round_key

MINUTE = 60
_WORK = "work"  # the lease of the node that mixes and delivers
_FIRST_WAIT = 1.0  # seconds after the first failure; each further one doubles it
_LONGEST_WAIT = 60.0
_LEASE_SECONDS = 60.0  # that a command waits for a step that is under way
_WAITS_FOR_KEYS = "not all keys of this round are there yet"
_TOO_FEW = "too few of the messages were meant for this hop"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Retry:
    """When a round that failed is tried again, and how long it waits after the next failure."""

    due: float
    wait: float


class Shuffler:
    """A hop with its store, its folder and its long-term key; the clock is in seconds."""

    def __init__(
        self,
        store: HopStore,
        settings: ShufflerSettings,
        signing: KeyPair,
        clock: Callable[[], float],
        connect: Callable[[str], OtherServer] = OtherServer,
    ) -> None:
        self.store = store
        self.settings = settings
        self.signing = signing
        self.clock = clock
        self._connect = connect
        self._lock = threading.Lock()
        self._tasks: dict[bytes, AddedTask] = {}
        self._sealed_bytes: dict[tuple[bytes, int], int] = {}
        self._retries: dict[tuple[bytes, int], _Retry] = {}
        self._polled: dict[bytes, float] = {}
        self._cleaned = False

    # What is known

    def add(self, document: str, collector: str) -> tuple[AddedTask, bool]:
        """Add a task; returns it, and whether it is new."""
        task = new_task(document, collector)
        added = AddedTask.read(task, self.signing.public_key)
        self._connect(added.collector)  # refuses an address that is not protected
        return added, self.store.add_task(task)

    def tasks(self) -> list[AddedTask]:
        """Return all tasks that were added, finished ones included."""
        return [self._read(record.fingerprint) for record in self.store.tasks()]

    def find(self, address_name: str) -> AddedTask:
        """Return the task that stands in an address, or refuse the address."""
        with self._lock:
            known = {task.address_name: task for task in self._tasks.values()}
        if address_name in known:
            return known[address_name]
        for task in self.tasks():
            if task.address_name == address_name:
                return task
        raise RequestError("not-found", "this hop has no such task")

    def sealed_bytes(self, task: AddedTask, number: int) -> int | None:
        """Return the bytes of a message of a round; None if the hop has not learned of it."""
        key = (task.fingerprint, number)
        if key not in self._sealed_bytes:
            record = self.store.find_round(task.fingerprint, number)
            if record is None:
                return None
            context = task.context(task.read_round(record.document))
            self._sealed_bytes[key] = context.sealed_bytes(task.hop)
        return self._sealed_bytes[key]

    def _read(self, fingerprint: bytes) -> AddedTask:
        with self._lock:
            if fingerprint not in self._tasks:
                for record in self.store.tasks():
                    if record.fingerprint not in self._tasks:
                        added = AddedTask.read(record, self.signing.public_key)
                        self._tasks[record.fingerprint] = added
            return self._tasks[fingerprint]

    # What the operator decides

    def release(self, task: AddedTask, number: int) -> None:
        """Close a round now; refused below the users that the document promises."""
        if not task.is_first:
            raise StateError("only the first hop closes a round: the others follow it")
        if not self.store.close_inbox(task.fingerprint, number, task.shuffle.users):
            raise StateError(
                f"round {number} is not open, or has fewer messages than the"
                f" {task.shuffle.users:,} users that a hop waits for"
            )

    def abandon(self, task: AddedTask, number: int) -> None:
        """Erase everything of a round; nothing of it will be delivered."""
        deadline = time.monotonic() + _LEASE_SECONDS
        while True:
            with self.store.lease(_WORK) as mine:
                if mine:
                    self._abandon(task, number, "abandoned by the operator")
                    return
            if time.monotonic() > deadline:
                raise UnavailableError(
                    "another process of this hop works on the round: try again later"
                )
            time.sleep(0.1)

    def _abandon(self, task: AddedTask, number: int, trouble: str) -> None:
        if not self.store.abandon(task.fingerprint, number, trouble):
            raise StateError(f"round {number} does not exist, or has been delivered already")
        self._files(task).remove(number)

    # What happens by itself

    def advance(self) -> None:
        """Learn of new rounds and do the work that is due, unless another node does it."""
        with self.store.lease(_WORK) as mine:
            if not mine:
                return
            if not self._cleaned:
                self._clean()
                self._cleaned = True
            for record in self.store.tasks():
                if not record.finished:
                    task = self._read(record.fingerprint)
                    self._poll(task)
                    self._advance_rounds(task)

    def _clean(self) -> None:
        """Remove the files that a hop which died has left."""
        for task in self.tasks():
            for record in self.store.rounds(task.fingerprint):
                keep = record.batch_hash if record.state == BatchState.MIXED else None
                self._files(task).remove(record.number, keep)

    def _poll(self, task: AddedTask) -> None:
        now = self.clock()
        last = self._polled.get(task.fingerprint)
        if last is not None and 0 <= now - last < self.settings.poll_seconds:
            return
        self._polled[task.fingerprint] = now
        try:
            self.learn(task)
        except SottovoceError as error:
            facts = {"task": task.notice.name, "error": type(error).__name__}
            _log.warning("the collector's round cannot be read", extra=facts)

    def learn(self, task: AddedTask) -> None:
        """Ask the collector for the current round, and make the key of one that is new."""
        state, document = self._link(task).current_round()
        if document is not None:
            self._open(task, task.read_round(document), document)
        if state == collector_link.FINISHED:
            self.store.finish_task(task.fingerprint)

    def _open(self, task: AddedTask, asked: Round, document: str) -> None:
        known = self.store.find_round(task.fingerprint, asked.number)
        if known is None:
            keys = new_round_key()
            statement = self._statement(task, asked.number, keys.public_key)
            minute = int(self.clock()) // MINUTE * MINUTE
            new = NewRound(
                task.fingerprint,
                asked.number,
                document,
                minute,
                keys,
                statement.sign(self.signing.private_key),
            )
            self.store.open_round(new)
        elif known.document != document:
            raise MismatchError("the collector asks another round of the same number")

    def _advance_rounds(self, task: AddedTask) -> None:
        for record in self.store.rounds(task.fingerprint):
            if record.state in ENDED or not self._is_due(record):
                continue
            try:
                self._advance_round(task, record)
                self._retries.pop((record.task, record.number), None)
            except SottovoceError as error:
                self._retry_later(task, record, error)

    def _advance_round(self, task: AddedTask, record: HopRound) -> None:
        """Take a round as far as it goes now."""
        steps = {
            BatchState.OPEN: self._collect,
            BatchState.CLOSING: self._mix,
            BatchState.MIXED: self._deliver,
            BatchState.DELIVERED: self._erase,
        }
        current: HopRound | None = record
        while current is not None and current.state in steps:
            before = current.state
            steps[before](task, current)
            current = self.store.find_round(record.task, record.number)
            if current is not None and current.state == before:
                return

    def _is_due(self, record: HopRound) -> bool:
        retry = self._retries.get((record.task, record.number))
        return retry is None or not 0 < retry.due - self.clock() <= _LONGEST_WAIT

    def _retry_later(self, task: AddedTask, record: HopRound, error: SottovoceError) -> None:
        key = (record.task, record.number)
        retry = self._retries.get(key)
        wait = _FIRST_WAIT if retry is None else min(_LONGEST_WAIT, 2 * retry.wait)
        self._retries[key] = _Retry(self.clock() + wait, wait)
        self.store.note_trouble(*key, str(error))
        facts = {"task": task.notice.name, "round": record.number, "error": type(error).__name__}
        _log.warning("a round waits", extra={**facts, "state": record.state.value})

    def _collect(self, task: AddedTask, record: HopRound) -> None:
        """Give the collector key and signatures, and close the first hop's inbox if it is due."""
        if not record.key_sent:
            key = SignedKey(task.hop, record.public_key, record.signature)
            self._link(task).send_key(record.number, key)
            self.store.note_key_sent(record.task, record.number)
            self.store.note_trouble(record.task, record.number, "")
        if not record.set_sent and not self._send_key_set(task, record):
            return
        if task.is_first and self._is_full(task, record):
            self.store.close_inbox(record.task, record.number, task.shuffle.users)

    def _send_key_set(self, task: AddedTask, record: HopRound) -> bool:
        """Sign all keys of a round as one set; False as long as the collector lacks a key.

        The signature leaves only after the store has kept it with the set, and the store keeps one.
        """
        link = self._link(task)
        signature = record.set_signature
        if signature is None:
            try:
                public_keys = link.round_keys(record.number)
            except RefusedRequestError as error:
                if error.code != "not-ready":
                    raise
                self.store.note_trouble(record.task, record.number, _WAITS_FOR_KEYS)
                return False
            signature = self._sign_key_set(task, record, public_keys)
        link.send_set_signature(record.number, signature)
        self.store.note_set_sent(record.task, record.number)
        self.store.note_trouble(record.task, record.number, "")
        return True

    def _sign_key_set(
        self, task: AddedTask, record: HopRound, public_keys: Sequence[bytes]
    ) -> bytes:
        """Sign the keys of a round and keep both, unless another set was signed before."""
        if public_keys[task.hop] != record.public_key:
            raise MismatchError(
                "the collector publishes a key of this hop that the hop did not make"
            )
        asked = task.read_round(record.document)
        key_set = KeySet.of(task.fingerprint, asked, public_keys)
        signature = key_set.sign(task.hop, self.signing.private_key)
        self.store.keep_key_set(record.task, record.number, public_keys, signature)
        return signature

    def _is_full(self, task: AddedTask, record: HopRound) -> bool:
        if record.messages < task.shuffle.users:
            return False
        closes_at = task.closes_at(task.read_round(record.document))
        if closes_at and record.messages >= closes_at:
            return True
        return bool(task.seconds) and self.clock() >= record.opened + task.seconds

    def _mix(self, task: AddedTask, record: HopRound) -> None:
        """Open and mix the messages of a closed round, if enough of them open."""
        asked = task.read_round(record.document)
        context = task.context(asked)
        if not task.is_first:
            sealed_bytes = context.sealed_bytes(task.hop)
            self.store.absorb_parts(record.task, record.number, sealed_bytes)
        source = self._source(task, record, asked)
        limits = MixLimits(self.settings.mix_bytes, self.settings.mix_processes)
        files = self._files(task)
        files.remove(record.number)
        result = files.write(record.number, lambda path: mix(source, path, limits, SystemRng()))
        people = result.batch.messages - source.fake_count - task.previous_fakes
        if people >= task.shuffle.users:
            self.store.note_mixed(record.task, record.number, result.batch)
        else:
            files.remove(record.number)
            self._give_up(task, record, result)

    def _give_up(self, task: AddedTask, record: HopRound, result: MixResult) -> None:
        """Wait for more messages at the first hop; another hop gets no more."""
        if task.is_first:
            self.store.reopen(record.task, record.number, result.unreadable)
            self.store.note_trouble(record.task, record.number, _TOO_FEW)
        else:
            self._abandon(task, record.number, _TOO_FEW)

    def _source(self, task: AddedTask, record: HopRound, asked: Round) -> MixSource:
        context = task.context(asked)
        private_key = self.store.private_key(record.task, record.number)
        assert private_key is not None, "a round that is not erased has its key"
        fakes = self._fakes(task, record, asked)
        return MixSource(
            pages=lambda: self.store.inbox(record.task, record.number, MESSAGES_AT_ONCE),
            message_count=self.store.count_inbox(record.task, record.number),
            opened_bytes=context.sealed_bytes(task.hop + 1),
            key=LayerKey(private_key, context, task.hop),
            fake_count=task.shuffle.fakes,
            make_fakes=lambda start, count: fakes.make(start, count, SystemRng()),
        )

    def _fakes(self, task: AddedTask, record: HopRound, asked: Round) -> fake_messages.FakeMessages:
        if not task.shuffle.fakes:
            return fake_messages.FakeMessages(task, asked, ())
        assert record.key_set is not None, "a round takes messages after its keys were signed"
        tokens = fake_messages.finished_tokens(
            self.store, self._link(task), task, asked, self.signing.private_key
        )
        return fake_messages.FakeMessages(task, asked, record.key_set, tokens)

    def _deliver(self, task: AddedTask, record: HopRound) -> None:
        assert record.batch_hash is not None, "a mixed batch has a hash"
        asked = task.read_round(record.document)
        delivery = Delivery(
            task,
            record.number,
            self._files(task).check(record.number, record.batch_hash),
            record.batch_hash,
            task.context(asked).sealed_bytes(task.hop + 1),
            record.batch_messages,
        )
        if not delivery.send(self.signing.private_key, self._connect):
            raise StateError("all parts were sent, but the receiver does not have the whole batch")
        self.store.note_delivered(record.task, record.number)

    def _erase(self, task: AddedTask, record: HopRound) -> None:
        self._files(task).remove(record.number)
        self.store.erase(record.task, record.number)

    def _files(self, task: AddedTask) -> BatchFiles:
        return BatchFiles(self.settings.data, task.fingerprint)

    def _link(self, task: AddedTask) -> CollectorLink:
        return CollectorLink(task, self._connect(task.collector))

    def _statement(self, task: AddedTask, number: int, public_key: bytes) -> KeyStatement:
        return KeyStatement(task.fingerprint, number, task.hop, public_key)
