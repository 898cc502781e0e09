"""Crashes on purpose: a collector is killed again and again while people answer, and every report
is accounted for.

A trial publishes a task of several rounds, uploads from several threads, kills the server, starts
it again, resends what was not acknowledged and some of what was, until the task has finished and,
where the scenario says so, until its reports are erased.  ``findings`` is then empty, or says what
was lost, doubled or changed.  The moments are random; the checks are exact.

A trial has no time limit of its own for a collector that is stuck, because the machine may be
busy: a collector is stuck if it answers very many requests and nothing changes meanwhile, or if
it leaves many in a row without an answer.
"""

import base64
import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import duckdb
import msgspec
import numpy as np

from collector.store.places import Place
from sottovoce.collector import access
from sottovoce.collector.store.base import State
from sottovoce.wire import codec
from sottovoce.wire.envelope import ID_BYTES
from system.chain import Message, People, chain_task
from system.checks import check, check_erased, checksum, log_path, read_log, sums_path
from system.disk import Disk
from system.orders import points_of
from system.servers import Server, Wire, bearer, open_store

QUOTA, EXTRA, ROUNDS, UPLOADERS = 40, 12, 3, 3
# Users who upload one by one: even if every commit takes the uploads of all threads together, a
# round has more segments than a store reads at once (64).
MANY = 220 * ROUNDS
_MAX_ANSWERS = 20_000  # requests that are answered while nothing changes
_MAX_STATUSES = 50  # of them requests for the status of a round that must be complete
_MAX_SILENCES = 10  # requests in a row that are not answered within their time limit
_DAY = 86_400
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
    worker: bool = False  # one of the workers at the door dies, and the collector has to live on
    node: bool = False  # one of several nodes dies alone, and the others have to go on meanwhile
    away: float = 0.0  # seconds until that node is started again
    goes_on: bool = False  # the next death follows that of the database server

    @property
    def name(self) -> str:
        if self.point:
            return self.point
        if self.node:
            return "one node alone"
        if self.worker:
            return "a worker at the door"
        return "the database server" if self.database else "a random moment"


NEVER = Kill(delay=float("inf"))


@dataclass(frozen=True)
class Scenario:
    """What happens to a collector during a trial.

    ``at_once`` is the most messages in one upload.  ``nodes`` collectors share one database and one
    folder; they die together, or one of them alone.  Each has ``workers`` at its door.  ``jumps``
    are the seconds by which the clock jumps when half of a round has answered, by round.
    """

    kills: tuple[Kill, ...] = ()
    twin: str = ""
    passes: str = ""  # a folder where passes of all points are counted
    quota: int = QUOTA
    at_once: int = 9
    nodes: int = 1
    workers: int = 1
    erase: bool = False
    jumps: Mapping[int, int] = field(default_factory=dict)

    @property
    def sent_each_round(self) -> int:
        """Return how many people answer a round: more than it needs, so that some are too late."""
        share = self.quota // ROUNDS if self.quota == MANY else self.quota
        return share + EXTRA


@dataclass(frozen=True)
class Database:
    """The URL of a database, and what kills its server and starts it again."""

    url: str = ""
    restart: Callable[[], None] | None = None


NO_DATABASE = Database()


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
    planned: str = ""  # the point of the first death
    lost_in_cuts: int = 0  # acknowledged messages that a power cut took
    taken_without: int = 0  # messages that other nodes acknowledged while one was away
    seconds: float = 0.0


class Trial:
    """One task from its publication to its answer, through some crashes."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        scenario: Scenario,
        database: Database = NO_DATABASE,
        disk: Disk | None = None,
    ) -> None:
        self.folder, self.scenario = folder, scenario
        self.database, self._restart = database.url, database.restart
        self._disk = disk
        self.random = random.Random(seed)
        self.result = Result(seed, "postgres" if self.database else "sqlite")
        if scenario.kills:
            self.result.planned = scenario.kills[0].point
        enrolment = seed % 2 == 1
        self._sent_each_round = scenario.sent_each_round
        self.task = chain_task(ROUNDS, scenario.quota, enrolment=enrolment)
        self.people = People(self.task, seed)
        with_store = open_store(folder, self.database)
        now = int(time.time())
        self._operator = access.issue(with_store, "operator", now)[0]
        if enrolment:
            batch = access.TokenBatch(2 * ROUNDS * self._sent_each_round)
            self.people.tokens = access.issue(with_store, "enrolment", now, batch=batch)
        with_store.close()
        # Refusals that pass.  A node learns at its next look what another node has published, or
        # that a task has finished.
        is_alone = scenario.nodes * scenario.workers == 1
        self._passing = (429, 503) if is_alone else (429, 503, 404, 409)
        self._clock = folder.parent / f"{folder.name}.clock"
        self._clock.write_text("0")
        self._doors = folder.parent / f"{folder.name}.doors"  # the ids of workers at the door
        self._kills = list(scenario.kills)
        self._starts = 0
        self._lock = threading.Lock()
        self._pending: list[Message] = []
        self.messages: list[Message] = []
        self.documents: dict[int, str] = {}
        self._accepted = 0
        self._erased = 0
        self._is_erased = False
        self._is_published = False
        self._answers = 0  # since anything changed
        self._silences = 0  # since anything was answered
        self._last_progress: tuple[int, ...] = ()
        self._done = threading.Event()
        self._up = threading.Event()
        self._kill = NEVER
        self._dying: Server | None = None  # the node that dies alone
        self._timers: list[threading.Timer] = []

    def run(self) -> Result:
        """Return what happened, with findings if anything is wrong."""
        started = time.monotonic()
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
            if self.scenario.erase:
                self._erase(answer)
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
        codes = []
        try:
            codes = [server.stop() for server in self.servers if server.alive]
        finally:
            for server in self.servers:
                server.discard()
        result = self.result
        for code in codes:
            if code not in (0, -15):
                self.find(f"the server stopped with exit code {code}")
        for line in self.servers[0].errors():  # the nodes write to one file
            self.find(f"the server's log tells of an error: {line}")
        result.messages = len(self.messages)
        result.acknowledged = sum(one.acknowledged for one in self.messages)
        result.too_late = sum(bool(one.refused) for one in self.messages)
        if self._accepted > result.acknowledged:
            self.find(f"doubled: {self._accepted} acceptances for {result.acknowledged} messages")
        if answer and not self._is_erased:
            result.findings += check(self, answer)

    # The server and its deaths

    def _server(self, orders: dict[str, Any]) -> Server:
        return Server(self.folder, self.database, orders, workers=self.scenario.workers)

    def _orders(self) -> dict[str, Any]:
        """Return what every server is told when it starts."""
        files = {"clock": str(self._clock), "doors": str(self._doors)}
        told = {"twin": self.scenario.twin, "passes": self.scenario.passes}
        return {"few": True, **told, **files}

    def _start(self) -> None:
        self._kill = self._kills.pop(0) if self._kills else NEVER
        self._starts += 1
        orders = self._orders()
        self._doors.write_text("")
        if self._kill.point:
            counter = self.folder.parent / f"{self.folder.name}.passed-{self._starts}"
            orders["point"] = [self._kill.point, self._kill.times, str(counter)]
        self.servers = [self._server(orders) for _ in range(self.scenario.nodes)]
        self._fired = self._kill is NEVER or bool(self._kill.point)
        self._up.set()
        if self._kill.round is None:
            self._fire()
        else:  # a round that is over already counts as the one that is under way
            self._kill = replace(self._kill, round=max(self._kill.round, len(self.documents) - 1))
            self._maybe_fire()

    def _watch(self) -> None:
        try:
            self._restart_dead()
        except Exception as error:
            self.find(f"the servers could not be started again: {error!r}")
            self._done.set()

    def _restart_dead(self) -> None:
        """Start the servers again whenever one has died; the others die with it."""
        while not self._done.wait(0.002):
            dead = [server for server in self.servers if not server.alive]
            if not dead:
                continue
            if dead == [self._dying]:
                self._replace_node(dead[0])
                continue
            self._up.clear()
            self._kill_all()
            for server in self.servers:
                server.discard()
            if self._disk is not None:
                self._disk.restore_power()
            code = dead[0].process.returncode
            if code != -9:
                self.find(f"the server died by itself with exit code {code}")
                self._done.set()
            else:
                self.result.kills[self._kill.name] += 1
                self._look()
            self._start()

    def _replace_node(self, dead: Server) -> None:
        """Start a node again that died alone, after a while in which the others go on."""
        acknowledged = self._acknowledged()
        self._look()
        self._done.wait(self._kill.away)
        dead.discard()
        self.result.taken_without += self._acknowledged() - acknowledged
        started = self._server(self._orders())
        self.servers = [started if server is dead else server for server in self.servers]
        self._starts += 1
        self._dying = None
        self.result.kills[self._kill.name] += 1
        self._next_kill()

    def _acknowledged(self) -> int:
        with self._lock:
            return sum(one.acknowledged for one in self.messages)

    def _kill_all(self) -> None:
        """Kill all servers; where they have a disk of their own, its power is cut."""
        if self._disk is not None:
            self._disk.cut_power()
        for server in self.servers:
            server.kill()

    def _look(self) -> None:
        if self._disk is not None:
            self._look_at_disk()
        state = state_after_death(self.folder, self.database)
        self.result.states[state] += 1
        if state == "publishing" and self._is_published:
            self.find("lost: the task that was published")
            self._done.set()
        if state == _NO_LOG:
            self.find("lost: a round is sealed and its log is missing")
            self._done.set()

    def _look_at_disk(self) -> None:
        """Compare what was acknowledged before the cut with what the disk holds after it."""
        with self._lock:
            acknowledged = [one for one in self.messages if one.acknowledged]
        lost = missing_messages(self.folder, acknowledged) if not self._is_erased else 0
        self.result.lost_in_cuts += lost
        damaged = damaged_rounds(self.folder)
        if lost:
            self.find(f"lost: {lost} of {len(acknowledged)} acknowledged messages in a power cut")
        if damaged:
            self.find(f"lost: {damaged} sealed rounds in a power cut")
        if lost or damaged:
            self._done.set()

    def _fire(self) -> None:
        """Kill this server, and only this one, after the delay."""
        with self._lock:
            if self._fired:
                return
            self._fired = True
        crash = self._kill_all
        if self._kill.database:
            crash = self._crash_database
        if self._kill.worker:
            crash = self._kill_worker
        if self._kill.node:
            crash = self._kill_node
        self._timers.append(threading.Timer(self._kill.delay, crash))
        self._timers[-1].start()

    def _crash_database(self) -> None:
        assert self._restart is not None, "this trial has no database server to kill"
        self.result.kills[self._kill.name] += 1
        self._restart()
        if self._kill.goes_on:
            self._next_kill()

    def _kill_node(self) -> None:
        """Kill one node, which the thread that watches them starts again alone."""
        self._dying = self.random.choice(self.servers)
        self._dying.kill()

    def _kill_worker(self) -> None:
        """Kill a worker at the door, and see to the next death: nobody else notices this one."""
        running = [int(line) for line in self._doors.read_text().split()]
        alive = [process for process in running if Path(f"/proc/{process}").exists()]
        os.kill(self.random.choice(alive), signal.SIGKILL)
        self.result.kills[self._kill.name] += 1
        self._next_kill()

    def _next_kill(self) -> None:
        """See to the next death, where the death before started no server again."""
        self._kill = self._kills.pop(0) if self._kills else NEVER
        self._fired = self._kill is NEVER
        self._maybe_fire()

    def _maybe_fire(self) -> None:
        """Fire when so many messages of the round have an outcome."""
        if self._fired:
            return
        of_round = [one for one in self.messages if one.round == self._kill.round]
        settled = sum(one.settled for one in of_round)
        if of_round and settled >= self._kill.share * len(of_round):
            self._fire()

    # What an operator does

    def _drive(self) -> bytes:
        document = codec.canonical(codec.document(self.task)).encode()
        self._call("POST", "/v1/tasks", document, content_type="application/json")
        self._is_published = True
        for number in range(ROUNDS):
            asked = codec.round_(codec.parse(self._document(number)))
            self._send_all(self.people.messages(asked, self._sent_each_round), number)
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
        jump = self.scenario.jumps.get(number, 0)
        with self._lock:
            self.messages += messages
            self._pending = list(messages)
        while True:
            self._check_progress()
            settled = sum(one.settled for one in messages)
            if jump and 2 * settled >= len(messages):
                self._set_clock(jump)
                jump = 0
            if settled == len(messages):
                break
            time.sleep(0.003)
        self._maybe_fire()
        self._compare_users(messages, number)

    def _set_clock(self, seconds: int) -> None:
        """Let the collector's clock be wrong by so much; the file is never half written."""
        new = self._clock.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self._clock)

    def _compare_users(self, messages: list[Message], number: int) -> None:
        """Refuse to go on with a round of which the store counts other users.

        It must have as many as were acknowledged.
        """
        expected = sum(one.acknowledged for one in messages)
        for _ in range(_MAX_STATUSES):
            status = json.loads(self._call("GET", "/v1/tasks/chain/status"))
            users = sum(line["users"] for line in status["rounds"] if line["number"] == number)
            if users == expected:
                return
            time.sleep(0.05)
        word = "lost" if users < expected else "doubled"
        raise _Stopped(f"{word}: round {number} has {users} users and {expected} were acknowledged")

    def _erase(self, answer: bytes) -> None:
        """Let the time of retention pass; the answer must outlive the reports."""
        self.result.findings += check(self, answer)
        assert self.task.collection is not None
        self._is_erased = True
        self._set_clock((self.task.collection.retention + 3) * _DAY)
        while self._erased < ROUNDS:
            status = json.loads(self._call("GET", "/v1/tasks/chain/status"))
            self._erased = sum(line["erased"] for line in status["rounds"])
            time.sleep(0.02)
        if self._call("GET", "/v1/tasks/chain/answer") != answer:
            self.find("lost: the answer changed when the reports were erased")
        self.result.findings += check_erased(self)

    def _replay_everything(self) -> None:
        """Send every message again: what was counted is a duplicate, what came too late still
        is.
        """
        for start in range(0, len(self.messages), 50):
            batch = self.messages[start : start + 50]
            body = encoded(batch, packed=False)
            outcome = self._replay(body)
            while self.scenario.nodes > 1 and "too-early" in _codes(outcome):
                time.sleep(0.02)  # this node does not know the last rounds yet
                outcome = self._replay(body)
            self.result.replayed += len(batch)
            counted = sum(one.acknowledged for one in batch)
            if (outcome["accepted"], outcome["duplicates"]) != (0, counted):
                self.find(
                    f"doubled or lost: a replay after the end of {counted} messages gave {outcome}"
                )

    def _replay(self, body: bytes) -> dict[str, Any]:
        path = "/v1/tasks/chain/reports"
        outcome: dict[str, Any] = json.loads(
            self._call("POST", path, body, content_type="application/json")
        )
        return outcome

    def _call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> bytes:
        """Ask until there is an answer; crashes and waits are what this is about."""
        while True:
            self._check_progress()
            self._up.wait(1.0)
            wire = Wire(self._address())
            try:
                status, content, _ = wire.request(
                    method,
                    path,
                    body,
                    authorization=bearer(self._operator),
                    connection="close",
                    **headers,
                )
            except ConnectionError as error:
                self._note_silence(error)
                time.sleep(0.005)
                continue
            finally:
                wire.close()
            self._note_answer()
            if status < 300:
                return content
            if status not in self._passing:
                raise _Stopped(f"{method} {path} was refused with {status}: {content!r}")
            time.sleep(0.02)

    def _address(self) -> str:
        return random.choice(self.servers).address

    # Whether the collector gets on

    def _note_answer(self) -> None:
        with self._lock:
            self._answers += 1
            self._silences = 0

    def _note_silence(self, error: ConnectionError) -> None:
        if isinstance(error.__cause__, TimeoutError):
            with self._lock:
                self._silences += 1

    def _check_progress(self) -> None:
        """Raise if the trial cannot go on, judged by what the collector does and not by time."""
        if self._done.is_set():
            raise _Stopped("the trial was given up")
        with self._lock:
            settled = sum(one.settled for one in self.messages)
            progress = (settled, len(self.documents), self._starts, self._erased, self._is_erased)
            if progress != self._last_progress:
                self._last_progress, self._answers = progress, 0
        if self._answers > _MAX_ANSWERS:
            raise _Stopped(f"stuck: nothing changed while {_MAX_ANSWERS:,} requests were answered")
        if self._silences > _MAX_SILENCES:
            raise _Stopped(f"stuck: {_MAX_SILENCES} requests in a row were not answered")

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
            if wire is None or wire.address not in [one.address for one in self.servers]:
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
            except ConnectionError as error:
                self._note_silence(error)
                wire.close()
                wire = None  # the next one may go to another node
                time.sleep(0.005)
                continue
            self._note_answer()
            self._told(batch, answered[0], answered[1], fresh=fresh, replay=replay)
        if wire is not None:
            wire.close()

    def _reconnected(self, wire: Wire | None) -> Wire:
        if wire is not None:
            wire.close()
        return Wire(self._address())

    def _batch(self, dice: random.Random) -> tuple[list[Message], bool]:
        """Return what to send next; it stays pending meanwhile, so that now and then two threads
        send the same.
        """
        count = dice.randint(1, self.scenario.at_once)
        with self._lock:
            if self._is_erased:
                return [], False  # the ids of erased reports are forgotten
            if dice.random() < 0.15:
                known = [one for one in self.messages if one.acknowledged]
                if known:
                    return dice.sample(known, min(count, len(known))), True
            self._pending = [one for one in self._pending if not one.settled]
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
        if status in self._passing:
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
        early = 0  # for a node that does not know yet which round another node has opened
        if self.scenario.nodes > 1:
            early = _codes(outcome).count("too-early")
        if replay and outcome["duplicates"] + early != len(batch):
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


def _codes(outcome: dict[str, Any]) -> list[str]:
    """Return why messages of an upload were refused."""
    return [one["code"] for one in outcome["refused"]]


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
    """Return in which state a crash has left the task."""
    with left_behind(folder, database) as store:
        tasks = store.tasks()
        return "publishing" if not tasks else _state(store, tasks[0], folder)


@contextmanager
def left_behind(folder: Path, database: str = "") -> Iterator[Any]:
    """Open the store that a crash has left.

    Files are looked at in a copy, because their recovery is the server's.
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
        yield store
    finally:
        store.close()


def missing_messages(folder: Path, messages: Sequence[Message]) -> int:
    """Return how many messages the embedded store does not know."""
    with left_behind(folder):
        place = Place("sqlite", str(folder.parent / f"{folder.name}-copy" / "collector.db"))
        known = {bytes(name) for (name,) in place.rows("select id from seen")}
        for (ids,) in place.rows("select ids from new_ids"):
            known.update(ids[start : start + ID_BYTES] for start in range(0, len(ids), ID_BYTES))
    return sum(any(report[0] not in known for report in one.reports) for one in messages)


def damaged_rounds(folder: Path) -> int:
    """Return how many sealed rounds have neither the log that was sealed nor sums of it."""
    with left_behind(folder) as store:
        rounds = [one for task in store.tasks() for one in store.rounds(task.digest)]
    sealed = [one for one in rounds if one.state is State.SEALED]
    return sum(not _has_log(folder, one) and not _has_sums(folder, one) for one in sealed)


def _has_log(folder: Path, one: Any) -> bool:
    try:
        return checksum(read_log(log_path(folder, one))) == one.checksum
    except duckdb.Error:
        return False


def _has_sums(folder: Path, one: Any) -> bool:
    try:
        with np.load(sums_path(folder, one)) as arrays:
            return sum(arrays[name].size for name in arrays) > 0
    except (OSError, EOFError, ValueError, BadZipFile):
        return False


def _state(store: Any, task: Any, folder: Path) -> str:
    rounds = store.rounds(task.digest)
    if any(_is_lost(folder, one) for one in rounds):
        return _NO_LOG
    if any(one.erased is not None for one in rounds):
        return "erasing"
    if task.finished is not None:
        return "finished"
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


def _is_lost(folder: Path, one: Any) -> bool:
    """Return whether nothing is left of a sealed round: neither its log nor its sums."""
    left = log_path(folder, one).exists() or sums_path(folder, one).exists()
    return one.state is State.SEALED and not left


def random_scenario(dice: random.Random, turn: int, store: str = "sqlite") -> Scenario:
    """Return the scenario of a turn: one in four with many small uploads, one in two to the end of
    retention.

    The first death is at the point whose turn it is, and as early as every trial gets there.  The
    first turns reach each point of a store once, and twice as many do from any turn on.  Up to two
    further deaths come at random moments.
    """
    scenario = Scenario(quota=MANY, at_once=1) if dice.random() < 0.25 else Scenario()
    point = point_of_turn(turn, store)
    family = point.split(":")[0]
    first = Kill(point=point, times=dice.randint(1, least_passes(family, scenario)))
    further = [
        _random_moment(dice, database=store == "postgres") for _ in range(dice.choice((0, 1, 1, 2)))
    ]
    erase = dice.random() < 0.5 or family == "erase"
    return replace(scenario, kills=(first, *further), erase=erase)


def point_of_turn(turn: int, store: str) -> str:
    """Return the point at which the collector dies first; turns are counted from 1.

    All points come in turn.  The order moves by one from cycle to cycle, so that a point does not
    always fall to tasks with enrolment, which every second turn has.
    """
    points = points_of(store)
    cycle, place = divmod(turn - 1, len(points))
    return points[(place + cycle) % len(points)]


def least_passes(family: str, scenario: Scenario) -> int:
    """Return how often every trial passes the points of a family at least, if nothing kills it.

    A commit takes one upload of every thread at most.  Ids are merged by a thread that may be late,
    once at least in all rounds together.
    """
    commits_of_a_round = ceil(scenario.sent_each_round / (scenario.at_once * UPLOADERS))
    passes = {
        "upload": ROUNDS * commits_of_a_round,
        "turn": 2 * ROUNDS,
        "seal": ROUNDS,
        "examine": ROUNDS,
        "step": ROUNDS - 1,
        "erase": ROUNDS,
    }
    return passes.get(family, 1)


def missed_points(results: Sequence[Result]) -> list[str]:
    """Return at which points trials were to die first, and none died.

    Every such trial gets there, so the chance of missing a point by accident is 0.  Trials that
    ended early, with findings, say nothing.
    """
    planned = Counter(one.planned for one in results if one.planned and not one.findings)
    reached = sum((one.kills for one in results), Counter[str]())
    return [point for point in planned if not reached[point]]


def worker_kills(dice: random.Random) -> tuple[Kill, ...]:
    """Return one to three deaths: two of three are those of one worker at the door."""
    return tuple(
        Kill(
            round=number,
            share=dice.random(),
            delay=dice.uniform(0, 0.02),
            worker=dice.random() < 2 / 3,
        )
        for number in range(dice.choice((1, 2, 3)))
    )


def node_kills(dice: random.Random) -> tuple[Kill, ...]:
    """Return one to three deaths: two of three are those of one node, which stays away for up to
    half a second.
    """
    return tuple(
        Kill(
            round=number,
            share=dice.random(),
            delay=dice.uniform(0, 0.02),
            node=dice.random() < 2 / 3,
            away=dice.uniform(0, 0.5),
        )
        for number in range(dice.choice((1, 2, 3)))
    )


def database_kills(dice: random.Random) -> tuple[Kill, ...]:
    """Return one to three deaths of the database server, one in a round."""
    return tuple(
        Kill(
            round=number,
            share=dice.choice((dice.random(), 1.0)),
            delay=dice.uniform(0, 0.1),
            database=True,
            goes_on=True,
        )
        for number in range(dice.choice((1, 2, 3)))
    )


def _random_moment(dice: random.Random, *, database: bool) -> Kill:
    """Return a death at a random moment: one in five is that of the database server, if any."""
    database = database and dice.random() < 0.2
    number, draw = dice.randrange(ROUNDS), dice.random()
    if draw < 0.4:
        return Kill(
            round=number, share=dice.random(), delay=dice.uniform(0, 0.005), database=database
        )
    if draw < 0.7:
        return Kill(round=number, share=1.0, delay=dice.uniform(0, 0.2), database=database)
    return Kill(delay=dice.uniform(0, 1.0), database=database)
