"""The collector without its doors: tasks, their rounds, the log and the answers, over one store and one folder.

The same object serves HTTP, the dashboard and the command line.  ``advance`` moves every task as far as it can go:
rounds close on a quota or a deadline, are sealed after their grace, and the plan says what comes next.  Each step
is durable before the next and may be repeated after a crash: the plan is a pure function of the log.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from sottovoce.answers.outcome import Outcome
from sottovoce.collector import archive, taskfile
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import RoundRecord, State, Store, TaskRecord
from sottovoce.engine import parquet
from sottovoce.engine.memory import MemoryCollected
from sottovoce.errors import MismatchError, NoDataError, SottovoceError, StateError
from sottovoce.tasks.round import Round
from sottovoce.web.problems import RequestError
from sottovoce.wire import codec

DAY = 86_400
_log = logging.getLogger(__name__)
_KEPT_ANSWERS = 16
_Key = tuple[str, int, int, int | None]


class Collector:
    """Everything that a collector can do."""

    def __init__(self, store: Store, folder: Path, clock: Callable[[], float]) -> None:
        self.store, self.folder, self._clock = store, folder, clock
        self._published: dict[str, Published] = {}
        self._answers: dict[_Key, Outcome] = {}
        self._refreshing = threading.Lock()
        self.refresh()

    @property
    def now(self) -> int:
        """Return the time in whole seconds."""
        return int(self._clock())

    def create(self, text: str, *, toml: bool) -> tuple[Published, bool]:
        """Publish the task in a file; False if this very task is here already."""
        task = taskfile.read(text, toml=toml)
        codec.publish(task)  # a device must be able to read it
        document = codec.document(task)
        record = TaskRecord(task.name, codec.digest(document), codec.canonical(document), self.now)
        Published.of(record, ())  # and so must this collector, as long as it keeps the task
        new = self.store.publish(record, codec.canonical(codec.document(task.opening)))
        self.refresh()
        return self.find(task.name), new

    def refresh(self) -> list[Published]:
        """Return all tasks as the store has them now."""
        with self._refreshing:
            found = {record.name: self._current(record) for record in self.store.tasks()}
            self._published = found
            current = {_key(one) for one in found.values()}
            for old in [key for key in list(self._answers) if key not in current]:
                self._answers.pop(old, None)  # an answer may hold reports that are erased by now
        return list(found.values())

    def _current(self, record: TaskRecord) -> Published:
        known = self._published.get(record.name)
        if known is not None and known.record == record and _over(known):
            return known  # nothing can change any more
        rounds = self.store.rounds(record.digest)
        if known is None:
            return Published.of(record, rounds)
        return known if (known.record, known.rounds) == (record, tuple(rounds)) else known.after(record, rounds)

    def tasks(self) -> list[Published]:
        """Return all tasks as they were a moment ago, oldest first."""
        return list(self._published.values())

    def find(self, name: str) -> Published:
        """Return the task of a name, as it was a moment ago."""
        if name not in self._published:
            raise RequestError("not-found", "there is no task of this name")
        return self._published[name]

    def close(self, name: str, *, at_once: bool = False) -> bool:
        """Close the open round of a task; at once means without grace.  False if there was nothing to close."""
        self.refresh()
        published = self.find(name)
        last = published.last
        moved = self.store.turn(last.task, last.number, State.OPEN, State.CLOSING, self.now)
        if at_once:
            moved |= self.store.turn(last.task, last.number, State.CLOSING, State.SEALING, self.now)
        self.refresh()
        return moved

    def advance(self) -> bool:
        """Move every task as far as it can go now; returns whether anything moved.

        A task that cannot move does not hold up the others: its error is raised after them.
        """
        moved, failed = False, None
        for one in self.refresh():
            try:
                moved |= self._advance(one)
            except Exception as error:
                failed = failed or error
        if moved:
            self.refresh()
        if failed:
            raise failed
        return moved

    def _advance(self, published: Published) -> bool:
        if not self._due(published) and not any(self._expired(published, one) for one in published.rounds):
            return False
        with self.store.lease(published.digest) as mine:
            if not mine:
                return False  # another node is at it
            published, moved = self._latest(published), False  # or was, a moment ago
            while self._due(published):
                self._step(published)
                published, moved = self._latest(published), True
                last = published.last
                facts = {"task": published.record.name, "round": last.number, "state": last.state.value}
                _log.info("finished" if published.record.finished is not None else "moved", extra=facts)
            for one in published.rounds:  # only now: the plan may have needed the reports
                if self._expired(published, one):
                    self._erase(published, one)
                    moved = True
        return moved

    def _latest(self, published: Published) -> Published:
        record = next(one for one in self.store.tasks() if one.digest == published.digest)
        return published.after(record, self.store.rounds(record.digest))

    def _due(self, published: Published) -> bool:
        """Return whether something has to happen to the latest round."""
        last, settings, now = published.last, published.collection, self.now
        if published.record.finished is not None:
            return False
        if last.state is State.OPEN:
            full = 0 < published.quota(last.number) <= last.users
            over = 0 < settings.seconds <= now - last.opened and last.users >= settings.minimum
            return full or over
        return last.state is not State.CLOSING or now - last.changed >= settings.grace

    def _step(self, published: Published) -> None:
        last = published.last
        if last.state is State.OPEN:
            self.store.turn(last.task, last.number, State.OPEN, State.CLOSING, self.now)
        elif last.state is State.CLOSING:
            self.store.turn(last.task, last.number, State.CLOSING, State.SEALING, self.now)
        elif last.state is State.SEALING:
            self._seal(published, last)
        else:
            self._ask(published)

    def _seal(self, published: Published, last: RoundRecord) -> None:
        messages = list(self.store.segments(last.task, last.number))
        log = parquet.Log(0, "")
        if messages:
            log = parquet.write(self.log(last), messages, published.asked[last.number])
        self.store.seal(last.task, last.number, log.count, log.checksum, self.now)

    def _ask(self, published: Published) -> None:
        """Let the plan look at what is sealed: open the round that it asks for, or note that it answers."""
        last, minimum = published.last, published.collection.minimum
        if last.users < minimum:
            failure = f"fewer than {minimum} users answered round {last.number}: nothing is released"
            self.store.finish(last.task, self.now, failure)
            return
        collected = self.collected(published)  # a log that is missing or damaged can be put back: no reason to end
        try:
            stepped = published.task.plan.step(collected)
            if isinstance(stepped, Round):
                codec.publish(published.task).check(stepped)
        except SottovoceError as error:
            self.store.finish(last.task, self.now, str(error))
            return
        if not isinstance(stepped, Round):
            self.store.finish(last.task, self.now)
            return
        if stepped.number != last.number + 1:
            raise MismatchError("a plan asks its rounds in order")
        self.store.open_round(last.task, stepped.number, codec.canonical(codec.document(stepped)), self.now)

    def collected(self, published: Published) -> MemoryCollected:
        """Return what the sealed rounds of a task hold: reports, or their sums once they are erased."""
        collected = MemoryCollected(published.task)
        for one in published.rounds:
            if one.state is not State.SEALED or not one.count:
                break
            asked = published.asked[one.number]
            if self.log(one).exists():
                collected = collected.after(asked, parquet.read(self.log(one), asked, one.checksum))
            else:
                collected = collected.after_erasing(asked, parquet.tallies(self._sums(one), asked))
        return collected

    def answer(self, name: str) -> Outcome:
        """Return the answer of a task, or what its plan can say before it has finished."""
        published = self.find(name)
        key = _key(published)
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._answered(published)
            for old in list(self._answers)[:-_KEPT_ANSWERS]:
                self._answers.pop(old, None)  # another thread may have
        return found

    def _answered(self, published: Published) -> Outcome:
        record = published.record
        if record.failure:
            few = any(one.users < published.collection.minimum for one in published.rounds)
            raise RequestError("too-few-users" if few else "no-data", record.failure)
        if archive.exists(self._archive(published)):
            return archive.read(self._archive(published)).named(record.name)
        collected = self.collected(published)
        if record.finished is None:
            early = published.task.plan.so_far(collected) if collected.rounds else None
            if early is None:
                raise StateError("this task has not finished collecting")
            return early.named(record.name)
        stepped = published.task.plan.step(collected)
        if isinstance(stepped, Round):
            raise NoDataError("the plan of this task asks for more than was collected")
        return stepped.named(record.name)

    def verify(self, published: Published) -> None:
        """Refuse logs that are not those that were sealed, and logs that are missing."""
        self.collected(published)

    def log(self, one: RoundRecord) -> Path:
        """Return where the log of a round is, or will be."""
        return self.folder / "sealed" / one.task / f"round-{one.number:05d}.parquet"

    def _sums(self, one: RoundRecord) -> Path:
        return self.log(one).with_suffix(".npz")

    def _expired(self, published: Published, one: RoundRecord) -> bool:
        old = self.now - one.changed >= published.collection.retention * DAY
        return one.state is State.SEALED and one.erased is None and old

    def _archive(self, published: Published) -> Path:
        return self.folder / "sealed" / published.digest / "answer.json"

    def _erase(self, published: Published, one: RoundRecord) -> None:
        """Keep the retention that was promised: sums and the answer stay, reports and their ids go."""
        asked = published.asked[one.number]
        try:
            self._keep(published)
            if self.log(one).exists():
                parquet.condense(self._sums(one), parquet.read(self.log(one), asked, one.checksum), asked)
        except MismatchError:  # damaged, and nobody put it back in all that time: the promise counts
            _log.warning("erased unread", extra={"task": published.record.name, "round": one.number})
        self.log(one).unlink(missing_ok=True)
        self.store.erase(one.task, one.number, self.now)

    def _keep(self, published: Published) -> None:
        """Write the answer of a finished task down while there are still reports to make it of."""
        record, path = published.record, self._archive(published)
        if record.finished is not None and not record.failure and not archive.exists(path):
            archive.write(path, self._answered(published))


def _key(published: Published) -> _Key:
    """Return what an answer rests on: the rounds that are sealed, and the reports that are left."""
    done = sum(one.state is State.SEALED for one in published.rounds)
    erased = sum(one.erased is not None for one in published.rounds)
    return published.digest, done, erased, published.record.finished


def _over(published: Published) -> bool:
    return published.record.finished is not None and all(one.erased is not None for one in published.rounds)
