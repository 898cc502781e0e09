"""The same tasks, the same sealed logs, the same answers on Spark, with two executors in processes
of their own.
"""

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from engine.spark_session import executors
from plans.tables.plans import table_plan
from sottovoce.domains.bits import Bits
from sottovoce.engine import parquet, spark
from sottovoce.engine.base import finished
from sottovoce.engine.memory import MemoryCollected, drive
from sottovoce.errors import (
    MismatchError,
    NoDataError,
    ParameterError,
)
from sottovoce.lab import crowd
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.source import Source
from sottovoce.sql.reading import read
from sottovoce.tasks.collected import Scored, yes_counts
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task
from sottovoce.wire.envelope import ID_BYTES
from tasks.toys import shuffle

pyarrow = pytest.importorskip("pyarrow", reason="the spark extra is not installed")
pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
sqlglot = pytest.importorskip("sqlglot")

pytestmark = pytest.mark.spark

PEOPLE = 2500
PARTS = 4
SHOP = Joint(
    {
        "users": {
            "columns": {"age": range(20, 60), "kind": ["a", "b", "c"]},
            "public": {"region": ["north", "south", "it's west"], "stars": range(1, 6)},
        },
        "orders": {"columns": {"amount": range(1, 33)}, "most": 3},
    }
)
QUESTIONS = (
    "SELECT COUNT(*), SUM(age), AVG(age), STDDEV(age) FROM users"
    " WHERE age BETWEEN 30 AND 50 OR kind = 'a'",
    "SELECT region, kind, COUNT(*), AVG(age) FROM users GROUP BY region, kind",
    "SELECT AVG(amount), COUNT(*) FROM orders JOIN users USING (uid)"
    " WHERE age > 30 AND region <> 'it''s west'",
    "SELECT SUM(stars), COUNT(*) FROM users"
    " WHERE stars >= 2 AND (kind = 'b' OR region = 'it''s west')",
)


def people(count=PEOPLE, seed=1):
    """What so many people hold in the two services."""
    dice = np.random.default_rng(seed)
    owners = np.repeat(np.arange(count), dice.integers(0, 4, count))
    users = {
        "age": dice.integers(20, 60, count),
        "kind": dice.choice(["a", "b", "c"], count),
        "region": dice.choice(["north", "south", "it's west"], count),
        "stars": dice.integers(1, 6, count),
    }
    return {"users": users, "orders": {"uid": owners, "amount": dice.integers(1, 33, len(owners))}}


def in_parts(path, count):
    """A folder with the same log in many files."""
    whole, folder = pyarrow_parquet.read_table(path), path.with_suffix("")
    folder.mkdir()
    size = -(-len(whole) // count)
    for part in range(count):
        pyarrow_parquet.write_table(whole.slice(part * size, size), folder / f"part-{part}.parquet")
    return folder


def collected(folder, task, values, parts=PARTS):
    """A sealed log, the folder with its parts, its checksum, and what one machine has of it."""
    path = folder / f"{task.name}.parquet"
    log = parquet.write(path, crowd.messages(task, values, rng=SeededRng(5)), task.opening)
    return (
        in_parts(path, parts),
        log,
        MemoryCollected(task).after(task.opening, parquet.read(path, task.opening, log.checksum)),
    )


def same_tallies(one, other, number=0):
    return all(
        one.tally(address) == other.tally(address) for address in other.report_counts(number)
    )


def same_answers(one, other):
    """Groups and people alike; values and errors up to the order in which numbers were added."""
    assert (one.groups, one.users) == (other.groups, other.users)
    for left, right in zip(one.figures, other.figures, strict=True):
        assert [figure.value for figure in left] == pytest.approx(
            [figure.value for figure in right], rel=1e-9
        )
        assert [figure.variance for figure in left] == pytest.approx(
            [figure.variance for figure in right], rel=1e-9
        )
    return True


def changed(table, name, entries, kind=None):
    return table.set_column(
        table.column_names.index(name), name, pyarrow.array(entries, kind or table[name].type)
    )


def scored(task, question, place):
    """What an answer needs to know of every report of a factor."""
    layout = task.plan.layout(task.epsilon)
    scoring = plan_query(read(question, layout.tables), Source(layout)).scorings[place]
    return Scored(
        tuple(slot.number for slot in scoring.factor.slots), len(scoring.columns), scoring
    )


def same_scores(one, other, task, question):
    """Every report's scores for a question, bit by bit."""
    relations = {"factor_0": scored(task, question, 0)}
    columns = [f"s{at}" for at in range(relations["factor_0"].width)]
    statement = sqlglot.parse_one(f"SELECT {', '.join(columns)} FROM factor_0")
    rows = [
        np.array(list(engine.relations(0).select(relations, {}, statement).values()))
        for engine in (one, other)
    ]
    left, right = (found[:, np.lexsort(found)] for found in rows)
    return left.shape == (len(columns), other.users(0)) and np.array_equal(left, right)


def same_votes(one, other, address, mechanism):
    target = np.random.default_rng(3).normal(size=mechanism.size)
    left, right = one.scores(address, target), other.scores(address, target)
    return np.array_equal(left[0], right[0]) and np.array_equal(left[1], right[1])


def test_tables_of_two_services_have_the_same_integers_scores_and_answers(session, tmp_path):
    task = Task("shop", SHOP, 4.0)
    folder, log, local = collected(tmp_path, task, people())
    database = spark.answer(task, session, {0: folder}, {0: log.checksum})
    many, alone = database.collected, local.report_counts(0)
    assert many.report_counts(0) == alone
    assert (many.users(0), many.one_report_each(0), many.epsilon, many.seed) == (
        PEOPLE,
        True,
        local.epsilon,
        local.seed,
    )
    assert {task.opening.question(address).mechanism.kind for address in alone} == {"affine", "grr"}
    assert same_tallies(many, local)
    assert same_scores(many, local, task, QUESTIONS[0])
    assert same_votes(
        many, local, next(iter(alone)), task.opening.question(next(iter(alone))).mechanism
    )
    here = task.plan.step(local)
    with ThreadPoolExecutor(2) as pool:
        for question, found in zip(QUESTIONS, pool.map(database.sql, QUESTIONS), strict=True):
            assert same_answers(found, here.sql(question))
    assert not session.catalog.listTables(), "no view is left behind"


def test_tables_as_published_are_the_same_and_one_report_less_is_noticed(session, tmp_path):
    task = Task("published", table_plan({"age": range(16)}, fanout=4, published=True), 2.0)
    folder, log, local = collected(tmp_path, task, {"age": people()["users"]["age"] % 16})
    database = spark.answer(task, session, {0: str(folder)}, {0: log.checksum})
    assert {
        task.opening.question(address).mechanism.kind for address in local.report_counts(0)
    } == {"olh"}
    assert same_tallies(database.collected, local)
    assert same_scores(database.collected, local, task, "SELECT COUNT(*) FROM people WHERE age < 5")
    question = "SELECT age, COUNT(*) FROM people WHERE age < 3 GROUP BY age"
    assert same_answers(database.sql(question), task.plan.step(local).sql(question))
    first = folder / "part-0.parquet"
    pyarrow_parquet.write_table(pyarrow_parquet.read_table(first).slice(1), first)
    session.catalog.refreshByPath(str(folder))
    files = [one for one in sorted(folder.iterdir()) if one.suffix == ".parquet"]
    changed_log = {0: spark.checksum(task, session, files)}
    less = spark.answer(task, session, {0: files}, changed_log)
    assert less.users == PEOPLE - 1
    assert not same_tallies(less.collected, local)
    with pytest.raises(MismatchError, match="not the one that was sealed"):
        spark.answer(task, session, {0: folder}, {0: log.checksum})


def test_a_folder_of_the_collector_is_read_in_place_and_checked_part_by_part(
    session, tmp_path, monkeypatch
):
    monkeypatch.setattr(parquet, "PART_BYTES", 6_000)
    task = Task("histogram", sv.Histogram(range(40), mechanism="olh"), 3.0)
    path = tmp_path / "round-00000.parquet"
    messages = crowd.messages(task, np.arange(900) % 40, rng=SeededRng(8))
    log = parquet.write(path, messages, task.opening)
    assert len(list(path.glob("part-*.parquet"))) > 2
    here = parquet.read(path, task.opening, log.checksum)
    expected = task.plan.step(MemoryCollected(task).after(task.opening, here))
    answer = spark.answer(task, session, {0: path}, {0: log.checksum})
    assert answer.to_dict() == expected.named(task.name).to_dict()
    first, second, *_ = sorted(path.glob("part-*.parquet"))
    good = first.read_bytes()
    for damage in (good[:-9], second.read_bytes()):
        first.write_bytes(damage)
        with pytest.raises(MismatchError):
            spark.answer(task, session, {0: path}, {0: log.checksum})
    first.unlink()
    with pytest.raises(MismatchError, match="not the one that was sealed"):
        spark.answer(task, session, {0: path}, {0: log.checksum})
    first.write_bytes(good)
    with pytest.raises(MismatchError, match="not the one that was sealed"):
        spark.answer(task, session, {0: path}, {0: "another"})


def test_people_with_too_many_reports_are_left_out_and_nobody_is_a_sum_too(session, tmp_path):
    task = Task("shop", SHOP, 4.0)
    path = tmp_path / "shop.parquet"
    parquet.write(path, crowd.messages(task, people(300), rng=SeededRng(5)), task.opening)
    whole = pyarrow_parquet.read_table(path)
    first = [place for place, slot in enumerate(whole["slot"].to_pylist()) if slot == 0][:20]
    again = changed(whole.take(first), "id", [bytes([place]) * ID_BYTES for place in range(20)])
    pyarrow_parquet.write_table(pyarrow.concat_tables([whole, again]), path)
    reports = parquet.read(path, task.opening, parquet.checksum_of(path))
    here = task.plan.step(MemoryCollected(task).after(task.opening, reports))
    # Spark reads a log in the order of its ids, which this one has lost.
    there = spark.answer(task, session, {0: path}, {0: spark.checksum(task, session, path)})
    assert not there.collected.one_report_each(0)
    for question, count in {
        "SELECT SUM(stars), COUNT(*) FROM users": 280,
        "SELECT COUNT(*) FROM users"
        " WHERE kind = 'a' AND region = 'north' AND region = 'south'": None,
    }.items():
        found = there.sql(question)
        assert same_answers(found, here.sql(question))
        assert count in (None, found.users)


DICE = np.random.default_rng(2)
TASKS = {
    "histogram": (sv.Histogram(range(40)), DICE.integers(0, 40, 1000)),
    "yes or no": (BaselineMarginals({name: ["x", "y"] for name in "abc"}, "inp_ht", order=2), None),
    "prefixes": (
        sv.HeavyHitters(Bits(16), 3, groups=2),
        DICE.choice([7, 77, 7777, 50000], 1000).tolist(),
    ),
    "rounds": (
        TopItems(range(30), 4),
        [DICE.choice(8, 3, replace=False).tolist() for _ in range(1000)],
    ),
}


@pytest.mark.parametrize("name", TASKS)
def test_other_plans_come_to_the_same_answer(session, tmp_path, name):
    plan, values = TASKS[name]
    if values is None:
        values = [
            {one: "xy"[bit] for one, bit in zip("abc", bits, strict=True)}
            for bits in DICE.integers(0, 2, (1000, 3))
        ]
    task, logs, checksums, rng = Task(name, plan, 3.0), {}, {}, SeededRng(8)

    def gather(asked):
        path = logs[asked.number] = tmp_path / f"{asked.number}.parquet"
        log = parquet.write(path, crowd.messages(task, values, asked, rng), asked)
        checksums[asked.number] = log.checksum
        return parquet.read(path, asked, log.checksum)

    here = drive(task, gather)
    assert spark.answer(task, session, logs, checksums).to_dict() == here.to_dict()


def test_a_part_that_is_missing_or_there_twice_is_refused_and_so_is_a_log_without_a_seal(
    session, tmp_path
):
    task = Task("histogram", TASKS["histogram"][0], 3.0)
    folder, log, local = collected(tmp_path, task, TASKS["histogram"][1])
    parts = sorted(folder.iterdir())
    whole = spark.answer(task, session, {0: parts}, {0: log.checksum})
    assert whole.estimate.users == local.users(0) == 1000
    for wrong in (parts[1:], [*parts, parts[0]]):
        with pytest.raises(MismatchError, match="not the one that was sealed"):
            spark.answer(task, session, {0: wrong}, {0: log.checksum})
    with pytest.raises(ParameterError, match="`checksums` must have the checksum of round 0"):
        spark.answer(task, session, {0: parts}, {})


def test_chosen_candidates_and_reports_are_the_same(session, tmp_path):
    task = Task("histogram", TASKS["histogram"][0], 3.0)
    path = tmp_path / "round.parquet"
    messages = crowd.messages(task, TASKS["histogram"][1], rng=SeededRng(8))
    checksum = parquet.write(path, messages, task.opening).checksum
    reports = parquet.read(path, task.opening, checksum)
    local = MemoryCollected(task).after(task.opening, reports)
    many = spark.SparkCollected(task, session).after(task.opening, path, checksum)
    among = np.array([3, 1, 39])
    one, other = many.estimate(Address(), among), local.estimate(Address(), among)
    assert np.array_equal(one.totals, other.totals)
    assert np.array_equal(one.variance, other.variance)
    found, alone = (np.concatenate(list(engine.reports(Address()))) for engine in (many, local))
    assert np.array_equal(np.sort(found, axis=0), np.sort(alone, axis=0))
    with pytest.raises(NoDataError):
        many.tally(Address(0, 3))
    with pytest.raises(ParameterError, match="subject"):
        many.relations(0)
    with pytest.raises(ParameterError, match="yes and no"):
        yes_counts(many, 0)


@dataclass(frozen=True)
class Slow:
    """A score that takes its time, so that there is some to kill an executor in."""

    score: Any

    def __call__(self, slot, member, reports):
        time.sleep(0.03)
        return self.score(slot, member, reports)


def test_a_killed_executor_changes_nothing(session, tmp_path):
    from pyspark import cloudpickle

    task = Task("shop", SHOP, 4.0)
    folder, log, local = collected(tmp_path, task, people(800), parts=8)
    many = spark.SparkCollected(task, session).after(task.opening, folder, log.checksum)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    plain = scored(task, QUESTIONS[0], 0)
    relations = {"factor_0": replace(plain, score=Slow(plain.score))}
    statement = sqlglot.parse_one("SELECT COUNT(*) AS n, SUM(s0) AS t FROM factor_0")
    before, killed, done = executors(), [], Event()

    def kill():
        tracker = session.sparkContext.statusTracker()
        while not killed and not done.wait(0.05):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage and 1 <= stage.numCompletedTasks < stage.numTasks for stage in stages):
                os.kill(before[0], signal.SIGKILL)
                killed.append(before[0])

    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill)
        try:
            found = many.relations(0).select(relations, {}, statement)
        finally:
            done.set()
        killing.result()
    expected = local.relations(0).select({"factor_0": plain}, {}, statement)
    assert found["n"][0] == expected["n"][0] == 800
    assert found["t"][0] == pytest.approx(expected["t"][0], rel=1e-9)
    assert killed == before[:1], "there was a task to do, and one had been done"
    assert before[0] not in executors()
    assert same_tallies(many, local)


def test_what_is_no_log_of_this_round_is_refused(session, tmp_path):
    task = Task("histogram", sv.Histogram(range(40)), 3.0)
    path = tmp_path / "round.parquet"
    parquet.write(path, crowd.messages(task, np.arange(40), rng=SeededRng(8)), task.opening)
    whole, width = pyarrow_parquet.read_table(path), task.opening.width

    def answer_unsealed(path):
        """Answer from a log as if its content were what was sealed."""
        checksums = {0: spark.checksum(task, session, path)}
        return spark.answer(task, session, {0: path}, checksums)

    def refused(table, message):
        pyarrow_parquet.write_table(table, tmp_path / "other.parquet")
        session.catalog.refreshByPath(str(tmp_path / "other.parquet"))
        with pytest.raises(MismatchError, match=message):
            answer_unsealed(tmp_path / "other.parquet")

    refused(whole.drop_columns(["payload"]), "columns")
    refused(changed(whole, "member", ["0"] * 40, pyarrow.string()), "columns")
    refused(changed(whole, "member", [9] * 40), "no device")
    longer = changed(whole, "payload", [bytes(width + 1)] * 40, pyarrow.binary())
    refused(longer, f"{width} bytes")
    (tmp_path / "text.parquet").write_text("not a log, whatever it is called")
    with pytest.raises(MismatchError, match="damaged"):
        answer_unsealed(tmp_path / "text.parquet")
    for logs in ({}, {0: tmp_path / "nothing.parquet"}):
        with pytest.raises(NoDataError):
            spark.answer(task, session, logs, {0: "unknown"})
    pyarrow_parquet.write_table(whole.slice(0, 0), path)
    with pytest.raises(NoDataError, match="no reports"):
        answer_unsealed(path)


def test_fakes_are_taken_out_as_on_one_machine(session, tmp_path):
    """Of these messages 1,000 count as fakes; who sent which is not known to any engine."""
    plan = sv.Survey({"pet": ["cat", "dog"], "age": range(12)})
    task = Task("mixed", plan, 3.0, shuffle=shuffle(3.0, fakes=500, hops=2))
    values = [{"pet": "cat", "age": 3}] * 1500 + [{"pet": "dog", "age": 7}] * 500
    folder, log, local = collected(tmp_path, task, values)
    there = spark.answer(task, session, {0: folder}, {0: log.checksum})
    assert there.guarantee.shuffled.users == (local.users(0),) == (1000,)
    assert there.to_dict() == finished(task, local, plan.step(local)).to_dict()
    many = spark.SparkCollected(task, session).after(task.opening, folder, log.checksum)
    address = Address(0, 1)
    candidates = np.array([7, 2])
    here = local.estimate(address, candidates)
    assert np.array_equal(many.estimate(address, candidates).votes, here.votes)
    assert np.array_equal(many.estimate(address, candidates).variance, here.variance)
