"""What must hold after any number of crashes: every acknowledged message is in one log once, and
nothing else is.
"""

import hashlib
import json
import time
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from collector.store.places import Place
from sottovoce.collector.release import release
from sottovoce.collector.store.base import RoundRecord, State, Store
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.integrity.examine import examine
from sottovoce.tasks.round import Round
from sottovoce.web import uploads
from sottovoce.wire import codec
from system.servers import open_store

if TYPE_CHECKING:
    from system.crash import Trial

_LOOKS = 50  # at what a collector is still moving or erasing


def check(trial: "Trial", answer: bytes) -> list[str]:
    """Return everything that is wrong with what the server left behind."""
    store = open_store(trial.folder, trial.database)
    try:
        return [*_check_store(trial, store), *_check_answer(trial, store, answer)]
    finally:
        store.close()


def check_erased(trial: "Trial") -> list[str]:
    """Return everything that is wrong once the time of retention is over."""
    store = open_store(trial.folder, trial.database)
    try:
        (task,) = store.tasks()
        rounds = store.rounds(task.digest)
        _wait_for_moves(trial, ("seen", "new_ids", "id_runs"))
        seen = _place(trial).rows("select count(*) from seen")[0][0]
        new = _place(trial).rows("select count(*) from new_ids")[0][0]
    finally:
        store.close()
    found = [what for one in rounds for what in _check_tests(trial, one)]
    found += [f"{seen} ids are left of erased reports"] if seen else []
    found += [f"{new} rows of ids are left of erased reports"] if new else []
    found += _files_of_runs(trial)
    found += [
        f"lost: round {one.number} is erased and has no sums"
        for one in rounds
        if not sums_path(trial.folder, one).exists()
    ]
    expected = {path(trial.folder, one) for path in (sums_path, tests_path) for one in rounds}
    expected.add(trial.folder / "sealed" / task.digest / "answer.json")
    return [*found, *_check_files(trial.folder / "sealed", expected)]


def _check_store(trial: "Trial", store: Store) -> list[str]:
    (task,) = store.tasks()
    rounds, found = store.rounds(task.digest), []
    if task.finished is None or task.failure:
        found.append(f"the task has not finished well: {task.failure!r}")
    for one in rounds:
        found += [f"round {one.number}: {what}" for what in _check_round(trial, one)]
        found += _check_tests(trial, one)
    expected = {path(trial.folder, one) for path in (log_path, tests_path) for one in rounds}
    return [*found, *_check_tables(trial, rounds), *_check_files(trial.folder / "sealed", expected)]


def _check_round(trial: "Trial", one: RoundRecord) -> list[str]:
    messages = [
        message
        for message in trial.messages
        if message.round == one.number and message.acknowledged
    ]
    path = log_path(trial.folder, one)
    if one.state is not State.SEALED or not path.exists():
        return [
            f"lost: the round is {one.state} and its log "
            f"{'is there' if path.exists() else 'is missing'}"
        ]
    columns = read_log(path)
    rows = list(zip(*(columns[name] for name in ("id", "member", "slot", "payload")), strict=True))
    ids = [bytes(name) for name in columns["id"]]
    logged = Counter(
        (bytes(name), int(member), int(slot), bytes(data)) for name, member, slot, data in rows
    )
    expected = Counter(report for message in messages for report in message.reports)
    asked = trial.documents.get(one.number)
    lost, unknown = expected - logged, logged - expected
    doubled = logged - Counter(set(logged))
    unsent = logged.keys() - {report for message in trial.messages for report in message.reports}
    found = [
        (f"lost: {len(lost)} acknowledged reports are not in the log", lost),
        (f"doubled: {sum(doubled.values())} reports", doubled),
        (f"doubled: {len(ids) - len(set(ids))} ids", len(ids) > len(set(ids))),
        (f"{len(unsent)} reports in the log that nobody sent", unsent),
        (f"{len(unknown)} reports in the log that were never acknowledged", unknown),
        (f"the store says {one.count} reports and the log has {len(rows)}", one.count != len(rows)),
        (f"the store says {one.users} users and {len(messages)} sent", one.users != len(messages)),
        ("the checksum in the store is not that of the log", one.checksum != checksum(columns)),
        ("the reports are not ordered by their ids", ids != sorted(ids)),
        ("the questions are not those that devices saw", asked != one.document),
    ]  # fmt: skip
    return [what for what, wrong in found if wrong]


def _check_tests(trial: "Trial", one: RoundRecord) -> list[str]:
    """Look for the file of the tests of a round, which holds no report."""
    path = tests_path(trial.folder, one)
    if not path.exists():
        return [f"lost: round {one.number} is sealed and its tests are missing"]
    text = path.read_text()
    if json.loads(text)["reports"] != one.count:
        return [f"the tests of round {one.number} are not of its {one.count} reports"]
    ids = [name for message in trial.messages for name, *_ in message.reports]
    told = [name for name in ids if name.hex() in text or b64encode(name).decode() in text]
    return [f"the tests of round {one.number} hold ids of reports"] if told else []


def _place(trial: "Trial") -> Place:
    """Return where the database of a trial is."""
    if trial.database:
        return Place("postgres", trial.database)
    return Place("sqlite", str(trial.folder / "collector.db"))


def _check_tables(trial: "Trial", rounds: list[RoundRecord]) -> list[str]:
    """Look at the tables themselves: payloads are gone after sealing, ids stay against replays."""
    place = _place(trial)
    _wait_for_moves(trial, ("new_ids", "id_runs"))
    tables = ("segments", "seen", "claims", "new_ids")
    segments, seen, claims, new = (
        place.rows(f"select count(*) from {name}")[0][0] for name in tables
    )
    users = sum(one.users for one in rounds)
    found = [
        (f"{segments} segments are left of sealed rounds", segments),
        (f"{seen} ids are remembered", seen != sum(one.count for one in rounds)),
        (f"{new} rows of ids are left of sealed rounds", new),
        (f"{claims} tokens are spent for {users} messages", claims not in (0, users)),
    ]
    return [*(what for what, wrong in found if wrong), *_files_of_runs(trial)]


def _wait_for_moves(trial: "Trial", tables: tuple[str, ...]) -> None:
    """Give a collector that has just started again the time to finish what a crash cut off."""
    for _ in range(_LOOKS):
        is_empty = [not _place(trial).rows(f"select * from {table} limit 1") for table in tables]
        if all(is_empty) and not _files_of_runs(trial):
            return
        time.sleep(0.1)


def _files_of_runs(trial: "Trial") -> list[str]:
    left = sorted(path.name for path in trial.folder.glob("collector.db.*.ids"))
    return [f"{len(left)} files of ids are left"] if left else []


def _check_files(folder: Path, expected: set[Path]) -> list[str]:
    there = {path for path in folder.rglob("*") if path.is_file()}
    # What the tests of a round said stays beside its log, or what is left of the log.
    examined = {path for path in there if path.match("round-?????.integrity.json")}
    return [f"a file is left behind: {path.name}" for path in there - examined - expected]


def _check_answer(trial: "Trial", store: Store, answer: bytes) -> list[str]:
    """Go from round to round with the messages alone, and compare documents and answer bit for
    bit.
    """
    (task,) = store.tasks()
    records = {one.number: one for one in store.rounds(task.digest)}
    collected = MemoryCollected(trial.task)
    while True:
        stepped = trial.task.plan.step(collected)
        if not isinstance(stepped, Round):
            break
        record = records.get(stepped.number)
        if record is None or record.document != codec.canonical(codec.document(stepped)):
            return [f"round {stepped.number} asked something else than its messages lead to"]
        messages = [
            one.data for one in trial.messages if one.acknowledged and one.round == stepped.number
        ]
        collected = collected.after(stepped, batches_of(trial.task, stepped, messages))
        tests = examine(trial.task.plan, collected, stepped.number).to_dict()
        path = tests_path(trial.folder, record)
        if not path.exists() or json.loads(path.read_text()) != json.loads(json.dumps(tests)):
            return [f"the tests of round {stepped.number} are not those of its messages"]
    assert trial.task.collection is not None
    expected = uploads.as_json(
        release(replace(stepped, name=trial.task.name), trial.task.collection)
    )
    same = json.loads(expected) == json.loads(answer) and expected == answer
    return [] if same else ["the answer is not the one that the messages give"]


def log_path(folder: Path, one: RoundRecord) -> Path:
    """Return where the log of a round is."""
    return folder / "sealed" / one.task / f"round-{one.number:05d}.parquet"


def sums_path(folder: Path, one: RoundRecord) -> Path:
    """Return where the sums of an erased round are."""
    return log_path(folder, one).with_suffix(".npz")


def tests_path(folder: Path, one: RoundRecord) -> Path:
    """Return where the tests of a sealed round are, which stay when its reports are erased."""
    return log_path(folder, one).with_suffix(".integrity.json")


def read_log(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a log, read with nothing of ours."""
    with duckdb.connect(":memory:", config={"preserve_insertion_order": True}) as engine:
        table = engine.execute(f"select * from read_parquet('{path}')")
        names = [column[0] for column in table.description or ()]
        rows = table.fetchall()
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def checksum(columns: dict[str, list[Any]]) -> str:
    """Return the checksum of a log as its description says, computed in another way."""
    total = hashlib.sha256()
    for name in sorted(columns):
        values = columns[name]
        total.update(f"{name}:{len(values)}:".encode())
        numbers = [value if isinstance(value, int) else len(value) for value in values]
        total.update(b"".join(value for value in values if isinstance(value, bytes)))
        total.update(b"".join(number.to_bytes(4, "little") for number in numbers))
    return total.hexdigest()
