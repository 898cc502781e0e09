"""The collector: tasks, rounds, sealed logs and answers, over one store and one folder.

The same object serves HTTP, the dashboard and the command line.  ``advance`` moves every task as
far as it can go: rounds close on a quota or a deadline, are sealed after their grace period, and
the plan says what comes next.  Each step is durable before the next one and may be repeated after a
crash, because a plan is a pure function of the sealed logs.

Closing a round is cheap and happens here.  Everything that reads the reports of a round (writing
its log, asking the plan, erasing) is *work*: a server gives it to a process of its own
(``collector/worker.py``), because it may need more memory than there is.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from sottovoce.answers.outcome import Outcome
from sottovoce.collector import (
    archive,
    integrity_file,
    key_exchange,
    key_files,
    opening,
    shuffled_tasks,
    taskfile,
)
from sottovoce.collector.published import Published
from sottovoce.collector.resources import LOCAL, Resources
from sottovoce.collector.store.base import TAKING, RoundRecord, State, Store, TaskRecord
from sottovoce.engine import files, parquet
from sottovoce.engine.base import corrected_outcome, finished
from sottovoce.engine.defended import CORRECTION_BYTES, defended_sample
from sottovoce.engine.memory import MemoryCollected, defended_outcome
from sottovoce.engine.sealed import SealedCollected, tally_all
from sottovoce.engine.stored_path import AnyPath
from sottovoce.errors import (
    MismatchError,
    NoDataError,
    SottovoceError,
    StateError,
    UnavailableError,
)
from sottovoce.integrity.choices import checked_defence
from sottovoce.integrity.examine import examine
from sottovoce.integrity.result import Integrity
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.round import Round
from sottovoce.web.problems import RequestError
from sottovoce.wire import codec
from sottovoce.wire.envelope import ID_BYTES

DAY = 86_400
_log = logging.getLogger(__name__)
_KEPT_ANSWERS = 16
_SHARE_OF_REPORTS = 16  # the part of the memory that reports may take: decoding needs the rest
# The part that the reports of an answer may take in a server.  With what decoding needs that is a
# sixteenth of the memory and a tenth of a second; a process of its own takes a second to start.
_SHARE_AT_THE_DOOR = 256
_Key = tuple[str, int, int, int | None]
_DefendedKey = tuple[_Key, str]
AnyCollected = TypeVar("AnyCollected", MemoryCollected, SealedCollected)


class Collector:
    """Publish tasks, close and seal their rounds, and answer.

    ``resources`` say how much memory reports may take here, where sealed logs are, and whether
    the work of tasks is done in this process.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        clock: Callable[[], float],
        resources: Resources = LOCAL,
    ) -> None:
        self.store, self.folder, self._clock = store, folder, clock
        self._work_apart = resources.work_apart
        self._memory = resources.memory
        self._logs = resources.log_folder(folder)
        self._published: dict[str, Published] = {}
        self._answers: dict[_DefendedKey, Outcome] = {}
        self._examined: dict[AnyPath, Integrity] = {}
        self._keyed: set[tuple[str, int]] = set()  # rounds that have the collector's key
        self._refreshing = threading.Lock()
        self.refresh()

    @property
    def now(self) -> int:
        """Return the time in whole seconds."""
        return int(self._clock())

    def create(self, text: str, *, toml: bool) -> tuple[Published, bool]:
        """Publish the task in a file; return it, and whether it is new."""
        own_key = partial(key_files.public_signing_key, self.folder)
        task = taskfile.read(text, toml=toml, collector_key=own_key)
        shuffled_tasks.check(task, self.folder)
        codec.publish(task)  # refuses what a device could not read
        document = codec.document(task)
        record = TaskRecord(task.name, codec.digest(document), codec.canonical(document), self.now)
        Published.of(record, ())  # refuses what this collector could not read again
        new = self.store.publish(record, codec.canonical(codec.document(task.opening)))
        self.refresh()
        published = self.find(task.name)
        self._make_key(published)
        return published, new

    def refresh(self) -> list[Published]:
        """Return all tasks as the store has them now."""
        with self._refreshing:
            tasks = {record.name: self._current(record) for record in self.store.tasks()}
            self._published = tasks
            current = {_key(published) for published in tasks.values()}
            for outdated in [key for key in list(self._answers) if key[0] not in current]:
                # An answer may hold reports that are erased by now.
                self._answers.pop(outdated, None)
        return list(tasks.values())

    def _current(self, record: TaskRecord) -> Published:
        known = self._published.get(record.name)
        if known is not None and known.record == record and _over(known):
            return known  # nothing can change any more
        rounds = self.store.rounds(record.digest)
        if known is None:
            return Published.of(record, rounds)
        return (
            known
            if (known.record, known.rounds) == (record, tuple(rounds))
            else known.after(record, rounds)
        )

    def tasks(self) -> list[Published]:
        """Return all tasks as of the last refresh, oldest first."""
        return list(self._published.values())

    def find(self, name: str) -> Published:
        """Return the task of a name as of the last refresh."""
        if name not in self._published:
            raise RequestError("not-found", "there is no task of this name")
        return self._published[name]

    def close(self, name: str, *, at_once: bool = False) -> bool:
        """Close the open round of a task; return False if none was open."""
        self.refresh()
        published = self.find(name)
        last = published.last
        if self._has_batch(published):
            raise StateError("the batch of this round is complete: the round closes by itself")
        moved = self.store.turn(last.task, last.number, State.OPEN, State.CLOSING, self.now)
        if at_once:
            moved |= self.store.turn(last.task, last.number, State.CLOSING, State.SEALING, self.now)
        self.refresh()
        return moved

    def advance(self) -> bool:
        """Move every task as far as it can go now; return whether anything moved.

        An error of one task does not hold up the others: it is noted with the task, and raised
        after all of them were tried.  Rounds close before any work begins, because work takes long.
        """
        moved, failed = False, None
        for move in (self._make_key, self._close_due, self._work_if_due):
            for published in self.refresh():
                try:
                    moved |= move(published)
                except Exception as error:
                    failed = failed or error
        if moved:
            self.refresh()
        if failed:
            raise failed
        return moved

    def _make_key(self, published: Published) -> bool:
        """Make the collector's key for an open round of a shuffled task; nothing moves by that."""
        last = published.last
        place = (published.digest, last.number)
        if published.task.shuffle is None or last.state is not State.OPEN or place in self._keyed:
            return False
        key_exchange.make_own_key(self.store, self.folder, published, last.number)
        self._keyed.add(place)
        return False

    def _close_due(self, published: Published) -> bool:
        """Close the latest round if it is due; the store lets one of several nodes do it."""
        moved = False
        while self._must_turn(published):
            last = published.last
            new = State.CLOSING if last.state is State.OPEN else State.SEALING
            if self.store.turn(last.task, last.number, last.state, new, self.now):
                moved = True
            published = self._latest(published)
            _log_move(published)
        return moved

    def _must_turn(self, published: Published) -> bool:
        last, settings, now = published.last, published.collection, self.now
        if published.record.finished is not None:
            return False
        if last.state is State.OPEN and published.task.shuffle is not None:
            return False  # the last hop decides, by delivering a batch
        if last.state is State.OPEN:
            full = 0 < published.quota(last.number) <= last.users
            over = 0 < settings.seconds <= now - last.opened and last.users >= settings.minimum
            return full or over
        # A clock that was set back by more than the grace period does not prolong it.
        return last.state is State.CLOSING and abs(now - last.changed) >= settings.grace

    def _work_if_due(self, published: Published) -> bool:
        if not self._has_work(published):
            return False
        try:
            if self._work_apart is None:
                moved = self.work(published.digest)
            elif self._is_free(published.digest):
                moved = self._work_apart(published.digest, self.now, self._go_on)
            else:
                moved = False
        except Exception as error:
            self._note_trouble(published, _trouble(error))
            raise
        if moved:
            self._note_trouble(published, "")
        return moved

    def _go_on(self) -> None:
        """Close rounds that are due, and see what other nodes did; what fails is tried later."""
        with suppress(SottovoceError):
            for published in self.refresh():
                self._close_due(published)
            self.refresh()

    def _is_free(self, digest: str) -> bool:
        """Return whether no process works at a task.

        Asked before a worker is started, which would only find out the same.
        """
        with self.store.lease(digest) as mine:
            return mine

    def _note_trouble(self, published: Published, trouble: str) -> None:
        """Note why a task waits, for everybody who looks at it; the work itself counts more."""
        if published.record.trouble == trouble:
            return
        with suppress(UnavailableError):
            self.store.note_trouble(published.digest, trouble)
            self.refresh()

    def _has_work(self, published: Published) -> bool:
        return (
            self._has_step(published)
            or self._has_batch(published)
            or bool(self._expired(published))
        )

    def _has_batch(self, published: Published) -> bool:
        """Return whether the latest round has a complete batch, which waits to be opened."""
        last = published.last
        if published.task.shuffle is None or last.state not in TAKING:
            return False
        batch = self.store.batch(last.task, last.number)
        return batch is not None and batch.complete

    def _has_step(self, published: Published) -> bool:
        """Return whether the latest round has to be sealed, or the plan to be asked."""
        steps = (State.SEALING, State.SEALED)
        return published.record.finished is None and published.last.state in steps

    def work(self, digest: str) -> bool:
        """Do the work of the task with a digest, unless another process is at it.

        Return whether anything moved.
        """
        with self.store.lease(digest) as mine:
            if not mine:
                return False
            published, moved = self._stored(digest), False
            files.remove_leftovers(self._sealed(digest))
            if self._has_batch(published):
                opening.open_batch(self.store, published, published.last.number, self.now)
                published, moved = self._latest(published), True
                _log_move(published)
            while self._has_step(published):
                if published.last.state is State.SEALING:
                    self.seal_round(published, published.last)
                else:
                    self.ask_plan(published)
                published, moved = self._latest(published), True
                _log_move(published)
            for record in self._expired(published):  # last, because the plan may have needed them
                self.erase_round(published, record)
                moved = True
        return moved

    def clean(self) -> None:
        """Remove the files that processes left half-written when they were killed."""
        for published in self.refresh():
            with self.store.lease(published.digest) as mine:
                if mine:  # otherwise another process is writing
                    files.remove_leftovers(self._sealed(published.digest))

    def _stored(self, digest: str) -> Published:
        """Return a task as the store has it now: another process may have moved it."""
        known = next((task for task in self.tasks() if task.digest == digest), None)
        if known is None:
            raise NoDataError("there is no task with this digest")
        return self._latest(known)

    def _latest(self, published: Published) -> Published:
        record = next(task for task in self.store.tasks() if task.digest == published.digest)
        return published.after(record, self.store.rounds(record.digest))

    def seal_round(self, published: Published, last: RoundRecord) -> None:
        """Write the log of a round, note what it holds, and forget the reports in the store."""
        messages = self.store.segments(last.task, last.number)
        first = next(messages, None)
        log = parquet.Log(0, "")
        if first is not None:
            asked = published.asked[last.number]
            log = parquet.write(self.log(last), chain([first], messages), asked, self._memory)
        self.store.seal(last.task, last.number, log.count, log.checksum, self.now)

    def ask_plan(self, published: Published) -> None:
        """Let the plan look at the sealed rounds: open its next round, or finish the task."""
        last, minimum = published.last, published.least_users
        if published.users_of(last) < minimum:
            failure = (
                f"fewer than {minimum} users answered round {last.number}: nothing is released"
            )
            self.store.finish(last.task, self.now, failure)
            return
        # A missing log is an error, not the end of a task: it can be put back.
        collected = self.collected(published)
        self.examine_round(published, last, collected)
        try:
            stepped = published.task.plan.step(collected)
            if isinstance(stepped, Round):
                codec.publish(published.task).check(stepped)
        except UnavailableError:
            raise  # it may pass
        except SottovoceError as error:
            self.verify(published)  # a log that cannot be read is not the end of a task either
            self.store.finish(last.task, self.now, str(error))
            return
        if not isinstance(stepped, Round):
            self.store.finish(last.task, self.now)
            return
        if stepped.number != last.number + 1:
            raise MismatchError("the plan asked for a round out of order")
        self.store.open_round(
            last.task, stepped.number, codec.canonical(codec.document(stepped)), self.now
        )

    def examine_round(
        self, published: Published, record: RoundRecord, collected: Collected
    ) -> None:
        """Test whether the reports of a sealed round can be honest, and keep what was found.

        It is done before the plan goes on.  After a crash it is done again, with the same result.
        What a test cannot do must not hold up a collection.
        """
        path = self._integrity_path(record)
        if path.exists() or not collected.report_counts(record.number):
            return
        try:
            integrity = examine(published.task.plan, collected, record.number)
        except Exception:  # whatever it is, the reports are sealed and their answer is due
            facts = {"task": published.record.name, "round": record.number}
            _log.warning("not examined", exc_info=True, extra=facts)
            return
        integrity_file.write(path, integrity)
        if integrity.alarm:
            names = ", ".join(integrity.alarms)
            facts = {"task": published.record.name, "round": record.number, "tests": names}
            _log.warning("implausible reports", extra=facts)

    def integrity(self, published: Published) -> list[Integrity]:
        """Return what the tests of the sealed rounds said, also of those that are erased."""
        rounds = []
        for record in published.rounds:
            path = self._integrity_path(record)
            if record.state is not State.SEALED:
                continue
            if path not in self._examined:
                integrity = integrity_file.read(path)
                if integrity is None:
                    continue
                self._examined[path] = integrity  # it never changes
            rounds.append(self._examined[path])
        return rounds

    def _integrity_path(self, record: RoundRecord) -> AnyPath:
        return self.log(record).with_suffix(".integrity.json")

    def collected(self, published: Published) -> MemoryCollected | SealedCollected:
        """Return the reports of the sealed rounds, or their sums once they are erased.

        Small logs are loaded at once; large ones are loaded lazily, part by part.
        """
        if _report_bytes(published) <= self._memory // _SHARE_OF_REPORTS:
            return self._collected(published, MemoryCollected(published.task), parquet.read)
        sealed = SealedCollected(published.task, self._memory)
        return self._collected(published, sealed, parquet.open_log)

    def _collected(
        self,
        published: Published,
        collected: AnyCollected,
        read: Callable[[AnyPath, Round, str], Any],
    ) -> AnyCollected:
        for record in published.rounds:
            if record.state is not State.SEALED or not record.count:
                break
            asked = published.asked[record.number]
            if parquet.exists(self.log(record)):
                reports = read(self.log(record), asked, record.checksum)
                collected = collected.after(asked, reports)
            else:
                sums = parquet.tallies(self._sums(record), asked)
                collected = collected.after_erasing(asked, sums)
        return collected

    def answer(self, name: str, *, defence: str = "none") -> Outcome:
        """Return the answer of a task, or what its plan can say before the task has finished.

        With the ``defence`` ``"auto"`` reports that cannot be honest are left out or get less
        weight, if a test of the round alarmed.
        """
        return self.answer_of(self.find(name), defence=defence)

    def answer_of(self, published: Published, *, defence: str = "none") -> Outcome:
        """Return the answer of a task as it was found."""
        defence = self._applied(published, defence)
        answer = self._answers.get((_key(published), defence))
        if answer is None:
            try:
                answer = self._answered(published, defence)
            except MemoryError as error:
                _log.warning("not enough memory", extra={"task": published.record.name})
                raise UnavailableError(parquet.NOT_ENOUGH_MEMORY) from error
            self.keep_answer(published, answer, defence=defence)
        return answer

    def keep_answer(self, published: Published, answer: Outcome, *, defence: str) -> None:
        """Keep an answer until it is outdated, or others are asked for more often."""
        self._answers[_key(published), self._applied(published, defence)] = answer
        for oldest in list(self._answers)[:-_KEPT_ANSWERS]:
            self._answers.pop(oldest, None)  # another thread may have removed it

    def needs_process(self, published: Published, defence: str) -> bool:
        """Return whether a server should have an answer computed by a process of its own.

        That is so if it is not kept yet, and has to be corrected or reads many reports.
        """
        defence = self._applied(published, defence)
        if (_key(published), defence) in self._answers or published.record.failure:
            return False
        if defence != "none":
            return published.record.finished is not None
        if _report_bytes(published) <= self._memory // _SHARE_AT_THE_DOOR:
            return False
        return not archive.exists(self._archive(published))

    def _applied(self, published: Published, defence: str) -> str:
        """Return the defence that is applied: none where no test alarmed."""
        checked_defence(defence)
        return defence if self._has_alarm(published) else "none"

    def _has_alarm(self, published: Published) -> bool:
        return any(integrity.alarm for integrity in self.integrity(published))

    def _answered(self, published: Published, defence: str = "none") -> Outcome:
        record = published.record
        if record.failure:
            few = any(
                published.users_of(record) < published.least_users for record in published.rounds
            )
            raise RequestError("too-few-users" if few else "no-data", record.failure)
        if defence != "none":
            return self._defended(published)
        if archive.exists(self._archive(published)):
            return archive.read(self._archive(published)).named(record.name)
        collected = self.collected(published)
        if record.finished is None:
            early = published.task.plan.so_far(collected) if collected.rounds else None
            if early is None:
                raise StateError("this task has not finished collecting")
            return finished(published.task, collected, early)
        stepped = published.task.plan.step(collected)
        if isinstance(stepped, Round):
            raise NoDataError(
                "the sealed rounds of this task are not enough for its plan: a log is missing"
            )
        return finished(published.task, collected, stepped)

    def _defended(self, published: Published) -> Outcome:
        """Return the answer after the corrections that the alarms of a task call for."""
        if published.record.finished is None:
            raise StateError("`defence` applies to answers of tasks that have finished collecting")
        task = published.task
        outcome = self._answered(published)
        max_reports = self._memory // CORRECTION_BYTES
        if sum(record.count for record in published.rounds) <= max_reports:
            collected = self._collected(published, MemoryCollected(task), parquet.read)
            return defended_outcome(collected, outcome)
        sealed = SealedCollected(task, self._memory)
        sealed = self._collected(published, sealed, parquet.open_log)
        return corrected_outcome(task, sealed, defended_sample(sealed, max_reports), outcome)

    def verify(self, published: Published) -> None:
        """Refuse logs that are missing, or that are not those that were sealed."""
        for record in published.rounds:
            if record.state is State.SEALED and parquet.exists(self.log(record)):
                asked = published.asked[record.number]
                for _ in parquet.open_log(self.log(record), asked, record.checksum).tables():
                    pass  # every part is checked when it is read
        self.collected(published)

    def log(self, record: RoundRecord) -> AnyPath:
        """Return the path of the sealed log of a round."""
        return self._sealed(record.task) / f"round-{record.number:05d}.parquet"

    def _sealed(self, digest: str) -> AnyPath:
        """Return the folder of everything that is kept of a task."""
        return self._logs / digest

    def _sums(self, record: RoundRecord) -> AnyPath:
        return self.log(record).with_suffix(".npz")

    def _expired(self, published: Published) -> list[RoundRecord]:
        """Return the rounds whose reports have to be erased now."""
        newest = self.now - published.collection.retention * DAY
        return [
            record
            for record in published.rounds
            if record.state is State.SEALED and record.erased is None and record.changed <= newest
        ]

    def _archive(self, published: Published) -> AnyPath:
        return self._sealed(published.digest) / "answer.json"

    def erase_round(self, published: Published, record: RoundRecord) -> None:
        """Erase the reports of a round and their ids; sums and the answer stay."""
        asked = published.asked[record.number]
        try:
            self._keep(published)
            if parquet.exists(self.log(record)):
                log = parquet.open_log(self.log(record), asked, record.checksum)
                parquet.condense(self._sums(record), tally_all(log))
        except MismatchError:  # a damaged log is erased too: the promise counts
            _log.warning(
                "erased unread", extra={"task": published.record.name, "round": record.number}
            )
        parquet.erase(self.log(record))
        self.store.erase(record.task, record.number, self.now)

    def _keep(self, published: Published) -> None:
        """Keep the answer of a finished task before the reports that it needs are erased."""
        record, path = published.record, self._archive(published)
        if record.finished is not None and not record.failure and not archive.exists(path):
            archive.write(path, self._answered(published))


def _key(published: Published) -> _Key:
    """Return what an answer depends on: sealed rounds, and reports that are left."""
    done = sum(record.state is State.SEALED for record in published.rounds)
    erased = sum(record.erased is not None for record in published.rounds)
    return published.digest, done, erased, published.record.finished


def _report_bytes(published: Published) -> int:
    """Return the bytes of all sealed reports of a task, as far as they are not erased."""
    return sum(
        record.count * (published.asked[record.number].width + 2 * ID_BYTES)
        for record in published.rounds
        if record.state is State.SEALED and record.erased is None
    )


def _trouble(error: Exception) -> str:
    """Return what to tell about an error; one that is not ours may quote anything."""
    if isinstance(error, SottovoceError):
        return str(error)
    if isinstance(error, MemoryError):  # of this process, when it asks another one to work
        return parquet.NOT_ENOUGH_MEMORY
    return f"an unexpected error ({type(error).__name__}); the log of the collector shows where"


def _log_move(published: Published) -> None:
    last = published.last
    facts = {"task": published.record.name, "round": last.number, "state": last.state.value}
    _log.info("finished" if published.record.finished is not None else "moved", extra=facts)


def _over(published: Published) -> bool:
    erased = all(record.erased is not None for record in published.rounds)
    return published.record.finished is not None and erased
