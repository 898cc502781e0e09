"""The life of a task: rounds open, close, are sealed once and erased in time, whoever crashes in
between.
"""

import json
import threading

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import sottovoce as sv
from collector.people import (
    Clock,
    Early,
    Ladder,
    Stumble,
    counting,
    envelope,
    honest,
    numbered,
    once,
    question,
    text,
)
from collector.sending import held, send, states
from sottovoce.collector.collector import DAY, Collector
from sottovoce.collector.resources import Resources
from sottovoce.collector.store.base import State
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.domains.integers import Integers
from sottovoce.engine import parquet
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.engine.sealed import SealedCollected
from sottovoce.errors import (
    CodecError,
    MismatchError,
    NoDataError,
    ParameterError,
    StateError,
    UnavailableError,
)
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.web.problems import RequestError
from sottovoce.wire import codec


def publish(collector, task):
    collector.create(text(task), toml=False)
    return task


def filled(collector, task, count=5):
    """Publish a counting task and send it the values 0, 1, 2 and so on."""
    publish(collector, task)
    assert set(send(collector, task.name, numbered(task, *range(count)))) == {"accepted"}
    return task


def code(action, *arguments):
    with pytest.raises(RequestError) as caught:
        action(*arguments)
    return caught.value.code


def ladder(**settings):
    made = Collection(**({"minimum": 2, "quota": 40, "grace": 0} | settings))
    return Task("ladder", Ladder(Integers(0, 15)), 2.0, collection=made)


def test_publishing_the_same_task_again_changes_nothing(collector, clock):
    task = publish(collector, counting())
    before = collector.find("count").record
    clock.pass_(5)
    published, new = collector.create(text(task), toml=False)
    assert not new
    assert published.record == before


def test_another_task_of_the_same_name_is_refused(collector):
    publish(collector, counting())
    with pytest.raises(MismatchError):
        collector.create(text(counting(quota=3)), toml=False)
    assert len(collector.tasks()) == 1


def test_a_task_that_the_collector_could_not_read_back_is_never_published(
    collector, tmp_path, clock
):
    """A mean over whole numbers reads as a plan and writes a document that is none: it would stop
    every start.
    """
    file = {
        "name": "odd",
        "epsilon": 1.0,
        "plan": {"kind": "mean", "domain": {"low": 0, "high": 9}},
    }
    with pytest.raises((CodecError, ParameterError)):
        collector.create(json.dumps(file), toml=False)
    assert collector.store.tasks() == []
    assert Collector(collector.store, tmp_path, clock).tasks() == []


@pytest.mark.parametrize("place", ["name", "description"])
def test_text_that_is_no_text_is_refused(collector, place):
    file = {
        "name": "odd",
        "epsilon": 1.0,
        "plan": {"kind": "histogram", "domain": ["a", "b"]},
        place: "\ud800",
    }
    with pytest.raises((CodecError, ParameterError)):
        collector.create(json.dumps(file), toml=False)
    assert collector.store.tasks() == []


@pytest.mark.parametrize("minimum", [0, 1])
def test_a_minimum_that_is_no_crowd_is_refused(collector, minimum):
    file = {"name": "small", "epsilon": 1.0, "plan": {"kind": "histogram", "domain": ["a", "b"]}}
    rules = {"minimum": "must be a whole number from 2", "crowd": "must be 0 or at least 2"}
    for settings in ({"minimum": minimum}, {"crowd": 1}):
        (name,) = settings
        with pytest.raises(ParameterError, match=f"`{name}` {rules[name]}"):
            collector.create(json.dumps({**file, "collection": settings}), toml=False)
    document = codec.document(counting())
    document["collection"]["minimum"] = minimum
    with pytest.raises(ParameterError, match="`minimum` must be a whole number from 2"):
        collector.create(codec.canonical(document), toml=False)


def test_a_round_closes_on_its_quota_and_not_before(collector):
    task = filled(collector, counting(quota=6), 5)
    assert not collector.advance()
    assert states(collector, "count") == ["open"]
    send(collector, "count", numbered(task, 5))
    assert collector.advance()
    assert states(collector, "count") == ["sealed"]
    assert collector.find("count").state == "finished"
    assert held(collector, "count") == dict.fromkeys(range(6), 1)


def test_refused_and_repeated_messages_do_not_count_towards_the_quota(collector):
    task = filled(collector, counting(quota=6), 4)
    mine = numbered(task, 9)
    assert send(collector, "count", [*mine, *mine, *mine, b"junk"]) == [
        "accepted",
        "duplicate",
        "duplicate",
        "malformed",
    ]
    assert not collector.advance()


def test_a_round_closes_on_its_deadline_once_the_minimum_is_in(collector, clock):
    task = filled(collector, counting(seconds=100, minimum=6), 5)
    clock.pass_(99)
    assert not collector.advance()
    clock.pass_(10)
    assert not collector.advance(), "the deadline is over, but too few people have answered"
    assert send(collector, "count", numbered(task, 5)) == ["accepted"]
    assert collector.advance()
    assert collector.find("count").state == "finished"


def test_a_deadline_closes_a_round_with_its_minimum_to_the_second(collector, clock):
    filled(collector, counting(seconds=100), 5)
    clock.pass_(99)
    assert not collector.advance()
    clock.pass_(1)
    assert collector.advance()


def test_a_clock_that_is_set_back_does_not_prolong_the_time_of_grace(collector, clock):
    task = publish(collector, counting(quota=2, grace=60))
    send(collector, "count", numbered(task, 1, 2))
    collector.advance()
    clock.pass_(-59)
    assert not collector.advance(), "a small correction changes nothing"
    clock.pass_(-DAY)
    assert collector.advance()
    assert collector.find("count").state == "finished"


def test_late_reports_are_taken_for_the_time_of_grace(collector, clock):
    task = filled(collector, counting(quota=5, grace=60), 5)
    collector.advance()
    assert collector.find("count").state == "closing"
    clock.pass_(59)
    assert not collector.advance()
    assert send(collector, "count", numbered(task, 77)) == ["accepted"]
    clock.pass_(1)
    assert collector.advance()
    late = numbered(task, 78)
    assert send(collector, "count", late) == ["too-late"]
    assert held(collector, "count") == dict.fromkeys([*range(5), 77], 1)
    assert collector.store.refusals(collector.find("count").digest) == {"too-late": 1}


def test_a_report_that_was_counted_is_acknowledged_after_sealing_too(collector):
    task = publish(collector, counting(quota=2))
    sent = numbered(task, 1, 2)
    send(collector, "count", sent)
    collector.advance()
    assert send(collector, "count", sent) == ["duplicate"] * 2
    assert held(collector, "count") == {1: 1, 2: 1}


def test_an_operator_closes_a_round_with_or_without_grace(collector, clock):
    filled(collector, counting("slow", grace=60))
    filled(collector, counting("fast", grace=60))
    assert collector.close("slow")
    assert collector.close("fast", at_once=True)
    assert collector.advance()
    assert (collector.find("slow").state, collector.find("fast").state) == ("closing", "finished")
    assert not collector.close("slow"), "it is closing already"
    assert collector.close("slow", at_once=True)
    assert not collector.close("fast", at_once=True)
    collector.advance()
    assert collector.find("slow").state == "finished"


def test_a_closing_round_is_told_apart_from_a_sealed_one(collector, clock):
    task = filled(collector, counting(grace=60))
    collector.close("count", at_once=True)
    assert collector.find("count").state == "sealed"
    assert send(collector, "count", numbered(task, 99)) == ["too-late"]


def test_a_round_without_reports_releases_nothing(collector):
    publish(collector, counting(minimum=50))
    collector.close("count", at_once=True)
    collector.advance()
    record = collector.find("count").record
    assert record.failure == "fewer than 50 users answered round 0: nothing is released"
    assert code(collector.answer, "count") == "too-few-users"
    assert not list(collector.folder.rglob("*.parquet"))
    collector.verify(collector.find("count"))


def test_too_few_users_release_nothing(collector):
    filled(collector, counting(minimum=6), 5)
    collector.close("count", at_once=True)
    collector.advance()
    assert collector.find("count").state == "finished"
    assert code(collector.answer, "count") == "too-few-users"


def test_there_is_no_answer_before_the_round_is_sealed(collector):
    filled(collector, counting())
    with pytest.raises(StateError):
        collector.answer("count")


def test_an_unknown_task_is_not_found(collector):
    assert code(collector.find, "nothing") == "not-found"
    assert code(collector.close, "nothing") == "not-found"
    assert code(collector.answer, "nothing") == "not-found"


@pytest.mark.parametrize("dear", [False, True])
def test_a_plan_that_fails_ends_its_task_with_the_reason(collector, dear):
    task = Task(
        "stumble", Stumble(Integers(0, 15), dear), 1.0, collection=Collection(minimum=2, quota=2)
    )
    publish(collector, task)
    send(collector, "stumble", honest(task, 2))
    collector.close("stumble", at_once=True)
    assert collector.advance()
    record = collector.find("stumble").record
    assert ("more than" if dear else "never answers") in record.failure
    assert code(collector.answer, "stumble") == "no-data"
    assert not collector.advance()


def test_advancing_twice_does_nothing_more(collector, clock):
    filled(collector, counting(quota=5))
    assert collector.advance()
    before = collector.store.tasks(), collector.store.rounds(collector.find("count").digest)
    clock.pass_(1000)
    assert not collector.advance()
    assert (
        collector.store.tasks(),
        collector.store.rounds(collector.find("count").digest),
    ) == before


def dies_once_sealed(collector, monkeypatch):
    """Let the collector go on until a round is sealed, and die before the plan is asked."""

    def dies(*_):
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(collector, "collected", dies)
        with pytest.raises(CrashError):
            collector.advance()


def test_an_early_answer_gives_way_to_the_final_one(collector, clock, monkeypatch):
    task = Task(
        "early", Early(Integers(0, 15)), 1.0, collection=Collection(minimum=2, quota=3, grace=0)
    )
    publish(collector, task)
    with pytest.raises(StateError):
        collector.answer("early")
    send(collector, "early", honest(task, 3))
    collector.advance()
    assert list(collector.answer("early").figures) == ["so far"]
    second = collector.find("early").asked[1]
    send(collector, "early", honest(task, 3, second))
    dies_once_sealed(collector, monkeypatch)
    assert collector.refresh()[0].last.state is State.SEALED
    assert list(collector.answer("early").figures) == ["so far"]
    collector.advance()
    assert list(collector.answer("early").figures) == ["at the end"]
    assert collector.answer("early").users == 6


class CrashError(Exception):
    """The process dies here."""


class Fragile(SqliteStore):
    """A store whose process dies before or after its n-th change of a round; then a new one must go
    on.
    """

    def __init__(self, path, left=None, *, after=False):
        super().__init__(path)
        self.left, self.after = left, after

    def _dying(self, change, *arguments):
        if self.left is not None:
            self.left -= 1
        if self.left == 0 and not self.after:
            raise CrashError
        done = change(*arguments)
        if self.left == 0:
            raise CrashError
        return done

    def turn(self, *arguments):
        return self._dying(super().turn, *arguments)

    def seal(self, *arguments):
        return self._dying(super().seal, *arguments)

    def open_round(self, *arguments):
        return self._dying(super().open_round, *arguments)

    def finish(self, *arguments):
        return self._dying(super().finish, *arguments)

    def erase(self, *arguments):
        return self._dying(super().erase, *arguments)


def run_ladder(folder, clock, left=None, *, after=False):
    """Run the ladder to its end with a crash on the way; returns round documents, checksums and the
    answer.
    """
    store, task = Fragile(folder / "collector.db", left, after=after), ladder()
    collector, crashed = Collector(store, folder, clock), False
    publish(collector, task)
    while collector.find("ladder").record.finished is None:
        asked = collector.find("ladder").asked[collector.find("ladder").last.number]
        fates = send(collector, "ladder", messages(task, asked))
        assert set(fates) <= {"accepted", "duplicate", "too-late"}
        try:
            collector.advance()
        except CrashError:
            crashed = True
            store.close()
            store = Fragile(folder / "collector.db")
            collector = Collector(store, folder, clock)
            collector.advance()
    published = collector.find("ladder")
    documents = [one.document for one in published.rounds]
    logs = [(one.checksum, one.count, collector.log(one).read_bytes()) for one in published.rounds]
    said = collector.answer("ladder").to_dict()
    store.close()
    return crashed, documents, logs, said


_made = {}


def messages(task, asked):
    """The same messages for the same round, in every run."""
    key = codec.canonical(codec.document(asked))
    if key not in _made:
        _made[key] = honest(task, 40, asked, seed=asked.number)
    return _made[key]


CHANGES = (
    3 * 3 + 2 + 1
)  # three rounds close, go to sealing and are sealed; two more are opened; the plan finishes
# What is durable before a change is what was durable after the one before it, but for the log that
# sealing writes.
CRASHES = [
    *((change, False) for change in range(1, CHANGES + 1)),
    *((change, True) for change in (2, 6, 10, CHANGES)),
]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    crashed, *result = run_ladder(tmp_path_factory.mktemp("whole"), Clock())
    assert not crashed
    return result


@pytest.mark.parametrize(("change", "after"), CRASHES)
def test_a_crash_at_any_step_changes_nothing_about_the_rounds_and_the_answer(
    uninterrupted, tmp_path, clock, change, after
):
    crashed, *result = run_ladder(tmp_path, clock, change, after=after)
    assert crashed
    assert result == uninterrupted, "bit for bit"


def test_there_is_no_step_that_the_crashes_above_leave_out(uninterrupted, tmp_path, clock):
    crashed, *result = run_ladder(tmp_path, clock, CHANGES + 1)
    assert not crashed
    assert result == uninterrupted


def test_the_collector_answers_as_the_engine_does(uninterrupted):
    task = ladder()
    collected, asked = MemoryCollected(task), task.opening
    while isinstance(asked, Round):
        collected = collected.after(asked, batches_of(task, asked, messages(task, asked)))
        asked = task.plan.step(collected)
    assert {**asked.to_dict(), "name": "ladder"} == uninterrupted[2]


def test_two_collectors_over_one_store_seal_once(open_store, tmp_path, clock):
    sealings = []

    class Counted(SqliteStore):
        def seal(self, *arguments):
            sealings.append(super().seal(*arguments))
            return sealings[-1]

    one, other = (Collector(open_store(kind=Counted), tmp_path, clock) for _ in range(2))
    names = [f"count-{number}" for number in range(6)]
    for name in names:
        filled(one, counting(name, quota=5))
    barrier, errors = threading.Barrier(2), []

    def run(collector):
        barrier.wait()
        try:
            for _ in range(4):
                collector.advance()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(collector,)) for collector in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sealings.count(True) == len(names)
    one.refresh()
    assert all(held(one, name) == dict.fromkeys(range(5), 1) for name in names)


def test_a_collector_that_comes_late_sees_what_another_one_did(open_store, tmp_path, clock):
    """It has read the state before the other sealed, and gets the lease after."""

    class Slow(SqliteStore):
        first = None

        def lease(self, name):
            if self.first is not None:
                first, self.first = self.first, None
                first.advance()
            return super().lease(name)

    slow = open_store(kind=Slow)
    late, early = Collector(slow, tmp_path, clock), Collector(open_store(), tmp_path, clock)
    filled(late, counting(quota=5))
    late.close("count", at_once=True)
    slow.first = early
    assert not late.advance(), "there was nothing left to do"
    assert late.refresh()[0].state == "finished"
    assert held(late, "count") == dict.fromkeys(range(5), 1)


def test_a_task_that_cannot_move_does_not_hold_up_the_others(collector):
    filled(collector, counting("first", quota=5))
    filled(collector, counting("second", quota=5))
    first = collector.find("first")
    in_the_way = collector.log(first.last) / "a folder where the log should go"
    in_the_way.mkdir(parents=True)
    with pytest.raises(UnavailableError):
        collector.advance()
    assert collector.find("second").state == "finished"
    assert collector.find("first").state == "sealed"
    in_the_way.rmdir()
    assert collector.advance()
    assert held(collector, "first") == dict.fromkeys(range(5), 1)


def erased(collector, clock, task, days=90):
    collector.advance()
    clock.pass_(days * DAY)
    return task


def test_reports_are_kept_as_long_as_promised_and_then_only_sums(collector, clock, tmp_path):
    filled(collector, counting(quota=5, retention=30))
    collector.advance()
    before = collector.answer("count").to_dict()
    log = collector.log(collector.find("count").last)
    clock.pass_(30 * DAY - 1)
    assert not collector.advance()
    assert log.exists()
    clock.pass_(1)
    assert collector.advance()
    assert not log.exists()
    assert collector.find("count").last.erased == clock.now
    fresh = Collector(collector.store, tmp_path, clock)
    assert fresh.answer("count").to_dict() == before, "bit for bit, from the sums"
    fresh.verify(fresh.find("count"))
    assert not fresh.advance()


def test_after_erasing_a_replay_is_too_late_and_changes_nothing(collector, clock):
    task = publish(collector, counting(quota=2, retention=1))
    sent = numbered(task, 1, 2)
    send(collector, "count", sent)
    collector.advance()
    clock.pass_(DAY)
    collector.advance()
    assert send(collector, "count", sent) == ["too-late"] * 2
    assert held(collector, "count") == {1: 1, 2: 1}


@pytest.mark.parametrize("kind", ["oue", "olh", "hadamard", "square_wave", "hybrid"])
def test_the_answer_from_sums_is_the_answer_from_reports(collector, clock, tmp_path, kind):
    settings = Collection(quota=60, minimum=50, grace=0, retention=1)
    plans = {"square_wave": sv.Distribution(0, 1, 16), "hybrid": sv.Mean(0, 1)}
    plan = plans.get(kind) or sv.Histogram(Integers(0, 15), kind)
    task = publish(collector, Task("task", plan, 2.0, collection=settings))
    send(collector, "task", honest(task, 60))
    collector.advance()
    before = collector.answer("task").to_dict()
    clock.pass_(DAY)
    collector.advance()
    assert Collector(collector.store, tmp_path, clock).answer("task").to_dict() == before


def test_a_crash_between_the_sums_and_the_erasing_is_made_good(open_store, clock, tmp_path):
    store = open_store(kind=Fragile)
    collector = Collector(store, tmp_path, clock)
    filled(collector, counting(quota=5, retention=1))
    collector.advance()
    before, published = collector.answer("count").to_dict(), collector.find("count")
    clock.pass_(DAY)
    store.left = 1
    with pytest.raises(CrashError):
        collector.advance()
    assert not collector.log(published.last).exists()
    again = Collector(open_store(), tmp_path, clock)
    assert again.answer("count").to_dict() == before
    assert again.advance()
    assert again.find("count").last.erased is not None


def test_erasing_a_round_of_a_task_that_goes_on_leaves_the_next_one_open(
    open_store, tmp_path, clock, monkeypatch
):
    """Another collector that looked in between must see the next round all the same."""
    settings = Collection(minimum=2, quota=3, grace=0, retention=1)
    task = Task("early", Early(Integers(0, 15)), 1.0, collection=settings)
    one, other = (Collector(open_store(), tmp_path, clock) for _ in range(2))
    publish(one, task)
    send(one, "early", honest(task, 3))
    one.close("early", at_once=True)
    dies_once_sealed(one, monkeypatch)
    clock.pass_(DAY)
    (last,) = one.refresh()
    one.store.erase(last.digest, last.last.number, one.now)
    other.refresh()
    one.advance()
    other.refresh()
    assert [len(one.rounds) for one in (one.find("early"), other.find("early"))] == [2, 2]
    assert list(one.answer("early").figures) == ["so far"]


def test_payloads_leave_the_database_when_the_round_is_sealed(collector, tmp_path):
    task = publish(collector, once(question("bloom"), quota=3))
    sent = honest(task, 3)
    send(collector, "once", sent)
    database = [tmp_path / name for name in ("collector.db", "collector.db-wal")]
    assert any(sent[0][44:] in one.read_bytes() for one in database if one.exists())
    collector.advance()
    for one in database:
        content = one.read_bytes() if one.exists() else b""
        assert not any(message[44:] in content for message in sent)


def test_a_missing_or_changed_log_is_refused_and_can_be_put_back(collector, tmp_path, clock):
    filled(collector, counting(quota=5))
    collector.advance()
    published = collector.find("count")
    log = collector.log(published.last)
    good = log.read_bytes()
    before = collector.answer("count").to_dict()

    def fresh():
        return Collector(collector.store, tmp_path, clock)

    for bad in (good[:-1], good[:4] + bytes([good[4] ^ 1]) + good[5:], b"", b"not Parquet"):
        log.write_bytes(bad)
        with pytest.raises(MismatchError):
            fresh().verify(published)
        with pytest.raises(MismatchError):
            fresh().answer("count")
    log.unlink()
    with pytest.raises(NoDataError):
        fresh().verify(published)
    log.write_bytes(good)
    assert fresh().answer("count").to_dict() == before


def test_the_log_of_another_round_is_refused(collector):
    for name in ("one", "other"):
        filled(collector, counting(name, quota=5))
    collector.advance()
    one, other = collector.find("one"), collector.find("other")
    collector.log(one.last).write_bytes(collector.log(other.last).read_bytes())
    with pytest.raises(MismatchError, match="not the one that was sealed"):
        collector.verify(one)


def test_a_damaged_log_in_the_middle_of_a_task_does_not_end_it(collector, monkeypatch):
    task = publish(collector, ladder())
    send(collector, "ladder", messages(task, task.opening))
    collector.close("ladder", at_once=True)
    dies_once_sealed(collector, monkeypatch)
    log = collector.log(collector.refresh()[0].last)
    good = log.read_bytes()
    log.write_bytes(good[:-1])
    with pytest.raises(MismatchError):
        collector.advance()
    assert collector.refresh()[0].record.failure == ""
    log.write_bytes(good)
    assert collector.advance()
    assert len(collector.find("ladder").rounds) == 2


def test_the_sums_of_an_erased_round_are_read_strictly(collector, tmp_path, clock):
    filled(collector, counting(quota=5, retention=1))
    collector.advance()
    clock.pass_(DAY)
    collector.advance()
    fresh = Collector(collector.store, tmp_path, clock)
    (sums,) = tmp_path.rglob("*.npz")
    sums.write_bytes(sums.read_bytes()[:-30])
    with pytest.raises(MismatchError, match="damaged"):
        fresh.verify(fresh.find("count"))
    sums.unlink()
    with pytest.raises(NoDataError):
        fresh.verify(fresh.find("count"))


def test_a_task_with_subjects_and_public_fields_is_sealed_with_them(collector):
    task = publish(collector, once(question(), quota=3, declares=("subject", "public")))
    send(collector, "once", honest(task, 3))
    collector.advance()
    batches = collector.collected(collector.find("once")).batches
    (batch,) = batches.values()
    assert batch.subjects.shape == (3, 16)
    assert collector.answer("once")["people"].total == 3.0


def test_a_full_disk_at_sealing_leaves_the_round_for_later(collector):
    filled(collector, counting(quota=5))
    folder = collector.folder / "sealed"
    folder.write_text("in the way")
    with pytest.raises(UnavailableError):
        collector.advance()
    assert states(collector, "count") == ["sealing"]
    folder.unlink()
    assert collector.advance()
    assert held(collector, "count") == dict.fromkeys(range(5), 1)


def test_a_task_that_waits_says_why_until_it_goes_on(collector):
    filled(collector, counting(quota=5))
    (collector.folder / "sealed").write_text("a file where a folder should be")
    with pytest.raises(UnavailableError):
        collector.advance()
    trouble = collector.find("count").record.trouble
    assert trouble == "the file round-00000.parquet cannot be written now"
    (collector.folder / "sealed").unlink()
    assert collector.advance()
    assert collector.find("count").record.trouble == ""


def test_an_error_that_is_not_ours_is_told_by_its_class_alone(collector, monkeypatch):
    filled(collector, counting(quota=5))

    def broken(*_):
        raise KeyError("something that a person sent")

    monkeypatch.setattr(parquet, "write", broken)
    with pytest.raises(KeyError):
        collector.advance()
    assert "KeyError" in collector.find("count").record.trouble
    assert "person" not in collector.find("count").record.trouble


def test_missing_memory_is_told_as_such(collector, monkeypatch):
    filled(collector, counting(quota=5))
    monkeypatch.setattr(collector, "work", lambda digest: [0] * (1 << 62))  # a real MemoryError
    with pytest.raises(MemoryError):
        collector.advance()
    assert collector.find("count").record.trouble == parquet.NOT_ENOUGH_MEMORY


def test_a_log_that_does_not_fit_into_memory_is_not_erased_as_a_damaged_one(
    collector, clock, monkeypatch
):
    filled(collector, counting(quota=5, retention=1))
    collector.advance()
    log = collector.log(collector.find("count").last)
    clock.pass_(DAY)

    def small(*_, **__):
        raise pyarrow.ArrowMemoryError("malloc of size 64 failed")

    with monkeypatch.context() as patched:
        patched.setattr(pyarrow.parquet, "read_table", small)
        with pytest.raises(UnavailableError, match="not enough memory"):
            collector.advance()
    assert log.exists()
    assert collector.advance()
    assert not log.exists()
    assert sum(held(collector, "count").values()) == 5


@pytest.mark.parametrize("start", [Collector.clean, Collector.advance])
def test_half_written_files_are_removed_unless_somebody_is_writing_them(
    open_store, collector, tmp_path, clock, start
):
    filled(collector, counting(quota=5))
    published = collector.find("count")
    half = tmp_path / "sealed" / published.digest / ".round-00000.00c0ffee.new.parquet"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"PAR1")
    with open_store().lease(published.digest) as mine:
        assert mine
        start(collector)
        assert half.exists()
    start(collector)
    assert not half.exists()


def test_a_hand_made_report_counts_as_what_it_holds(collector):
    """The helper of these tests is worth nothing if counting twice would not be seen."""
    task = publish(collector, counting(quota=3))
    digest = codec.digest_bytes(codec.document(task))
    send(
        collector,
        "count",
        [envelope(digest, bytes([200])), envelope(digest, bytes([200])), *numbered(task, 1)],
    )
    collector.advance()
    assert held(collector, "count") == {1: 1, 200: 2}
    assert np.sum(list(held(collector, "count").values())) == 3


@pytest.fixture
def little(collector, clock, monkeypatch):
    """A collector with hardly any memory, whose logs have parts of a few reports."""
    monkeypatch.setattr(parquet, "PART_BYTES", 50)
    return Collector(collector.store, collector.folder, clock, Resources(memory=1))


def test_reports_beyond_memory_stay_in_their_log_until_they_are_erased(collector, little, clock):
    filled(little, counting(quota=5, retention=1))
    assert little.advance()
    published = little.find("count")
    log = little.log(published.last)
    assert len(list(log.glob("part-*.parquet"))) > 2
    assert isinstance(little.collected(published), SealedCollected)
    little.verify(published)
    collector.refresh()
    assert isinstance(collector.collected(published), MemoryCollected)
    before = collector.answer("count").to_dict()
    assert little.answer("count").to_dict() == before
    clock.pass_(DAY)
    assert little.advance()
    assert not log.exists()
    assert little.answer("count").to_dict() == before


def test_a_part_that_is_missing_does_not_end_a_task(little, monkeypatch):
    task = publish(little, ladder())
    send(little, "ladder", messages(task, task.opening))
    little.close("ladder", at_once=True)
    dies_once_sealed(little, monkeypatch)
    first = min(little.log(little.refresh()[0].last).glob("part-*.parquet"))
    good = first.read_bytes()
    for damage, error in ((b"not Parquet", MismatchError), (None, NoDataError)):
        first.unlink() if damage is None else first.write_bytes(damage)
        with pytest.raises(error):
            little.advance()
        assert little.refresh()[0].record.failure == ""
    first.write_bytes(good)
    assert little.advance()
    assert len(little.find("ladder").rounds) == 2


def test_an_answer_without_memory_for_it_is_unavailable(collector, monkeypatch):
    filled(collector, counting(quota=5))
    collector.advance()

    def small(*_):
        raise MemoryError

    monkeypatch.setattr(type(collector.find("count").task.plan), "step", small)
    with pytest.raises(UnavailableError, match="not enough memory"):
        collector.answer("count")
