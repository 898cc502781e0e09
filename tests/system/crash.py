"""Crashes on purpose: a collector is killed again and again while people answer, and every report
is accounted for.

A trial publishes a task of several rounds, uploads from several threads, kills the server, starts
it again, resends what was not acknowledged and some of what was, until the task has finished.
``findings`` is then empty, or says what was lost, doubled or changed.  The moments are random; the
checks are exact.
"""

import base64
import json
import random
import shutil
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from sottovoce.collector import access
from sottovoce.collector.store.base import State
from sottovoce.wire import codec
from system.chain import Message, People, chain_task
from system.checks import check, log_path
from system.servers import Server, Wire, bearer, open_store
from system.serving import POINTS

QUOTA, EXTRA, ROUNDS, UPLOADERS = 40, 12, 3, 3
_MOST_AT_ONCE = 9
_PATIENCE = 60.0  # seconds until a trial that does not get on is itself a finding
_STUCK = 2.0
_NO_LOG = "sealed: no log"


@dataclass(frozen=True)
class Kill:
    """When a server dies: at a point of its own code, or some time after its start or after a share
    of a round.
    """

    point: str = ""
    times: int = 1
    round: int | None = None
    share: float = 0.0
    delay: float = 0.0
    database: bool = False  # the database server dies, and the collector has to live on

    @property
    def name(self) -> str:
        if self.point:
            return self.point
        return "the database server" if self.database else "a random moment"


NEVER = Kill(delay=float("inf"))


@dataclass
class Result:
    """What a trial saw."""

    seed: int
    store: str
    findings: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    acknowledged: int = 0
    too_late: int = 0
    resent: int = 0
    replayed: int = 0
    turned_away: int = 0
    seconds: float = 0.0


class Trial:
    """One task from its publication to its answer, through some crashes."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        *,
        database: str = "",
        kills: list[Kill],
        twin: str = "",
        restart: Any = None,
    ) -> None:
        self.folder, self.database, self.twin, self._restart = folder, database, twin, restart
        self.random = random.Random(seed)
        self.result = Result(seed, "postgres" if database else "sqlite")
        enrolment = seed % 2 == 1
        self.task = chain_task(ROUNDS, QUOTA, enrolment=enrolment)
        self.people = People(self.task, seed)
        with_store = open_store(folder, database)
        now = int(time.time())
        self._operator = access.issue(with_store, "operator", now)[0]
        if enrolment:
            self.people.tokens = access.issue(
                with_store, "enrolment", now, count=2 * ROUNDS * (QUOTA + EXTRA)
            )
        with_store.close()
        self._kills = list(kills)
        self._lock = threading.Lock()
        self._pending: list[Message] = []
        self.messages: list[Message] = []
        self.documents: dict[int, str] = {}
        self._accepted = 0
        self._done = threading.Event()
        self._up = threading.Event()
        self._kill = NEVER
        self._timers: list[threading.Timer] = []

    def run(self) -> Result:
        """Return what happened, with findings if anything is wrong."""
        started = time.monotonic()
        self._deadline = started + _PATIENCE
        self._start()
        threads = [
            threading.Thread(target=self._watch),
            *(self._uploader(n) for n in range(UPLOADERS)),
        ]
        for thread in threads:
            thread.start()
        answer = b""
        try:
            answer = self._drive()
        except _Stopped as stopped:
            self.find(str(stopped))
        finally:
            self._done.set()
            self._up.set()
            for timer in self._timers:
                timer.cancel()
            for thread in (*threads, *self._timers):
                thread.join()
            self._finish(answer)
        self.result.seconds = time.monotonic() - started
        return self.result

    def find(self, finding: str) -> None:
        with self._lock:
            self.result.findings.append(finding)

    def _finish(self, answer: bytes) -> None:
        try:
            code = self.server.stop() if self.server.alive else 0
        finally:
            self.server.discard()
        result = self.result
        if code not in (0, -15):
            self.find(f"the server stopped with exit code {code}")
        for line in self.server.errors():
            self.find(f"the server's log tells of an error: {line}")
        result.messages = len(self.messages)
        result.acknowledged = sum(one.acknowledged for one in self.messages)
        result.too_late = sum(bool(one.refused) for one in self.messages)
        if self._accepted > result.acknowledged:
            self.find(f"doubled: {self._accepted} acceptances for {result.acknowledged} messages")
        if answer:
            result.findings += check(self, answer)

    # The server and its deaths

    def _start(self) -> None:
        self._kill = self._kills.pop(0) if self._kills else NEVER
        orders: dict[str, Any] = {"twin": self.twin}
        if self._kill.point:
            orders["point"] = [self._kill.point, self._kill.times]
        self.server = Server(self.folder, self.database, orders)
        self._fired = self._kill is NEVER or bool(self._kill.point)
        self._up.set()
        if self._kill.round is None:
            self._fire()
        else:  # a round that is over already counts as the one that is under way
            self._kill = replace(self._kill, round=max(self._kill.round, len(self.documents) - 1))
            self._maybe_fire()

    def _watch(self) -> None:
        """Start the server again whenever it has died."""
        while not self._done.wait(0.002):
            if self.server.alive:
                continue
            self._up.clear()
            self.server.discard()
            if self.server.process.returncode != -9:
                self.find(
                    f"the server died by itself with exit code {self.server.process.returncode}"
                )
                self._done.set()
            else:
                self.result.kills[self._kill.name] += 1
                self._look()
            self._start()

    def _look(self) -> None:
        state = state_after_death(self.folder, self.database)
        self.result.states[state] += 1
        if state == _NO_LOG:
            self.find("lost: a round is sealed and its log is missing")
            self._done.set()

    def _fire(self) -> None:
        """Kill this server, and only this one, after the delay."""
        with self._lock:
            if self._fired:
                return
            self._fired = True
        crash = self._crash_database if self._kill.database else self.server.kill
        self._timers.append(threading.Timer(self._kill.delay, crash))
        self._timers[-1].start()

    def _crash_database(self) -> None:
        self.result.kills[self._kill.name] += 1
        self._restart()

    def _maybe_fire(self) -> None:
        """Fire when so many messages of the round have an outcome."""
        if self._fired:
            return
        of_round = [one for one in self.messages if one.round == self._kill.round]
        settled = sum(one.acknowledged or bool(one.refused) for one in of_round)
        if of_round and settled >= self._kill.share * len(of_round):
            self._fire()

    # What an operator does

    def _drive(self) -> bytes:
        document = codec.canonical(codec.document(self.task)).encode()
        self._call("POST", "/v1/tasks", document, content_type="application/json")
        for number in range(ROUNDS):
            asked = codec.round_(codec.parse(self._document(number)))
            self._send_all(self.people.messages(asked, QUOTA + EXTRA), number)
        while json.loads(self._call("GET", "/v1/tasks/chain/round"))["state"] != "finished":
            time.sleep(0.01)
        self._replay_everything()
        return self._call("GET", "/v1/tasks/chain/answer")

    def _document(self, number: int) -> str:
        """Return the document of a round as soon as it is open."""
        while True:
            current = json.loads(self._call("GET", "/v1/tasks/chain/round"))
            if current.get("round"):
                text = codec.canonical(current["round"])
                seen = self.documents.setdefault(current["round"]["number"], text)
                if seen != text:
                    self.find(f"round {current['round']['number']} changed after a crash")
            if number in self.documents:
                return self.documents[number]
            if current["state"] == "finished":
                raise _Stopped(f"the task finished before round {number}")
            time.sleep(0.01)

    def _send_all(self, messages: list[Message], number: int) -> None:
        with self._lock:
            self.messages += messages
            self._pending = list(messages)
        while any(not one.acknowledged and not one.refused for one in messages):
            self._check_time()
            time.sleep(0.003)
        self._maybe_fire()
        self._compare_users(messages, number)

    def _compare_users(self, messages: list[Message], number: int) -> None:
        """Refuse to go on with a round of which the store has more or less than was acknowledged."""
        expected, since = sum(one.acknowledged for one in messages), time.monotonic()
        while True:
            status = json.loads(self._call("GET", "/v1/tasks/chain/status"))
            users = status["rounds"][number]["users"]
            if users == expected:
                return
            if time.monotonic() - since > _STUCK:
                word = "lost" if users < expected else "doubled"
                raise _Stopped(
                    f"{word}: round {number} has {users} users and {expected} were acknowledged"
                )
            time.sleep(0.05)

    def _replay_everything(self) -> None:
        """Send every message again: what was counted is a duplicate, what came too late still is."""
        for start in range(0, len(self.messages), 50):
            batch = self.messages[start : start + 50]
            body = encoded(batch, packed=False)
            outcome = json.loads(
                self._call("POST", "/v1/tasks/chain/reports", body, content_type="application/json")
            )
            self.result.replayed += len(batch)
            counted = sum(one.acknowledged for one in batch)
            if (outcome["accepted"], outcome["duplicates"]) != (0, counted):
                self.find(
                    f"doubled or lost: a replay after the end of {counted} messages gave {outcome}"
                )

    def _call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> bytes:
        """Ask until there is an answer; crashes and waits are what this is about."""
        while True:
            self._check_time()
            self._up.wait(1.0)
            wire = Wire(self.server.address)
            try:
                status, content, _ = wire.request(
                    method,
                    path,
                    body,
                    authorization=bearer(self._operator),
                    connection="close",
                    **headers,
                )
            except ConnectionError:
                time.sleep(0.005)
                continue
            finally:
                wire.close()
            if status < 300:
                return content
            if status not in (429, 503):
                raise _Stopped(f"{method} {path} was refused with {status}: {content!r}")
            time.sleep(0.02)

    def _check_time(self) -> None:
        if self._done.is_set():
            raise _Stopped("the trial was given up")
        if time.monotonic() > self._deadline:
            raise _Stopped(f"the task did not get on for {_PATIENCE:.0f} seconds")

    # What devices do

    def _uploader(self, index: int) -> threading.Thread:
        return threading.Thread(
            target=self._upload, args=(random.Random(self.random.random() + index),)
        )

    def _upload(self, dice: random.Random) -> None:
        wire: Wire | None = None
        while not self._done.is_set():
            batch, replay = self._batch(dice)
            if not batch or not self._up.wait(0.05):
                time.sleep(0.01)
                continue
            if wire is None or wire.address != self.server.address:
                wire = self._reconnected(wire)
            packed = dice.random() < 0.5
            kind = "application/msgpack" if packed else "application/json"
            fresh = not any(one.sent for one in batch)
            self._note_sent(batch)
            try:
                answered = wire.request(
                    "POST",
                    "/v1/tasks/chain/reports",
                    encoded(batch, packed=packed),
                    content_type=kind,
                    accept="application/json",
                )
            except ConnectionError:
                time.sleep(0.005)
                continue
            self._told(batch, answered[0], answered[1], fresh=fresh, replay=replay)
        if wire is not None:
            wire.close()

    def _reconnected(self, wire: Wire | None) -> Wire:
        if wire is not None:
            wire.close()
        return Wire(self.server.address)

    def _batch(self, dice: random.Random) -> tuple[list[Message], bool]:
        """Return what to send next; it stays pending meanwhile, so that now and then two threads
        send the same.
        """
        count = dice.randint(1, _MOST_AT_ONCE)
        with self._lock:
            if dice.random() < 0.15:
                known = [one for one in self.messages if one.acknowledged]
                if known:
                    return dice.sample(known, min(count, len(known))), True
            self._pending = [
                one for one in self._pending if not one.acknowledged and not one.refused
            ]
            unsent = [one for one in self._pending if not one.sent]
            return (unsent or dice.sample(self._pending, len(self._pending)))[:count], False

    def _note_sent(self, batch: list[Message]) -> None:
        with self._lock:
            self.result.resent += sum(one.sent > 0 and not one.acknowledged for one in batch)
            self.result.replayed += sum(one.acknowledged for one in batch)
            for one in batch:
                one.sent += 1

    def _told(
        self, batch: list[Message], status: int, content: bytes, *, fresh: bool, replay: bool
    ) -> None:
        if status in (429, 503):
            self.result.turned_away += 1
            time.sleep(0.02)
            return
        if status != 200:
            self.find(f"an upload was refused with {status}: {content!r}")
            self._done.set()
            return
        outcome = json.loads(content)
        refused = {one["index"]: one for one in outcome["refused"]}
        if outcome["accepted"] + outcome["duplicates"] + len(refused) != len(batch):
            self.find(f"an outcome does not add up: {outcome} for {len(batch)} messages")
        if replay and outcome["duplicates"] != len(batch):
            self.find(
                f"doubled or lost: a replay of {len(batch)} acknowledged messages gave {outcome}"
            )
        with self._lock:
            self._accepted += outcome["accepted"]
            for index, message in enumerate(batch):
                self._note(message, refused.get(index))
        self._maybe_fire()

    def _note(self, message: Message, refused: dict[str, Any] | None) -> None:
        if refused is None:
            message.acknowledged = True
        elif refused["code"] == "too-late":
            message.refused = refused["code"]
        elif not refused["retry"]:
            self.result.findings.append(f"an honest message was refused: {refused['code']}")
            message.refused = refused["code"]
        if message.acknowledged and message.refused:
            self.result.findings.append(
                f"lost: a message was acknowledged, and then {message.refused}"
            )


class _Stopped(Exception):  # noqa: N818 - not an error of the tests
    """The trial cannot go on, for the reason stated."""


def encoded(batch: list[Message], *, packed: bool) -> bytes:
    """Return the body of an upload."""
    reports: list[Any] = [
        one.data if packed else base64.b64encode(one.data).decode() for one in batch
    ]
    content = {"reports": reports} | (
        {"tokens": [one.token for one in batch]} if batch[0].token else {}
    )
    return msgspec.msgpack.encode(content) if packed else json.dumps(content).encode()


def state_after_death(folder: Path, database: str) -> str:
    """Return in which state a crash has left the task; the files are looked at in a copy, recovery
    is the server's.
    """
    seen = folder
    if not database:
        seen = folder.parent / f"{folder.name}-copy"
        shutil.rmtree(seen, ignore_errors=True)
        seen.mkdir()
        for path in folder.glob("collector.db*"):
            if not path.name.endswith(("-shm", ".lock")):
                shutil.copy(path, seen)
    store = open_store(seen, database)
    try:
        tasks = store.tasks()
        return "publishing" if not tasks else _state(store, tasks[0], folder)
    finally:
        store.close()


def _state(store: Any, task: Any, folder: Path) -> str:
    if task.finished is not None:
        return "finished"
    rounds = store.rounds(task.digest)
    if any(one.state is State.SEALED and not log_path(folder, one).exists() for one in rounds):
        return _NO_LOG
    last = rounds[-1]
    if last.state is State.OPEN:
        return "open: uploading" if last.users < QUOTA else "open: quota reached"
    if last.state is State.SEALED:
        return "sealed: before the next step"
    if last.state is State.SEALING:
        path = log_path(folder, last)
        written, partly = path.exists(), any(path.parent.glob(f".{path.stem}*"))
        return (
            f"sealing: log {'written' if written else 'half written' if partly else 'not written'}"
        )
    return str(last.state)


def random_kills(dice: random.Random, *, database: bool = False) -> list[Kill]:
    """Return one to three deaths, half of them at random moments and half at the points between two
    writes.
    """
    return [_random_kill(dice, database=database) for _ in range(dice.choice((1, 1, 2, 3)))]


def _random_kill(dice: random.Random, *, database: bool) -> Kill:
    if dice.random() < 0.5:
        phase = dice.choice(sorted({point.split(":")[0] for point in POINTS}))
        point = dice.choice([point for point in POINTS if point.startswith(f"{phase}:")])
        most = {"upload": 20, "turn": 2 * ROUNDS, "seal": ROUNDS, "step": ROUNDS - 1}.get(phase, 1)
        return Kill(point=point, times=dice.randint(1, most))
    database = database and dice.random() < 0.2
    number, draw = dice.randrange(ROUNDS), dice.random()
    if draw < 0.4:
        return Kill(
            round=number, share=dice.random(), delay=dice.uniform(0, 0.005), database=database
        )
    if draw < 0.7:
        return Kill(round=number, share=1.0, delay=dice.uniform(0, 0.2), database=database)
    return Kill(delay=dice.uniform(0, 1.0), database=database)
