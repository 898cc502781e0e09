"""The same tasks, the same sealed logs, the same answers on Spark, with two executors in processes of their own."""

import os
import shutil
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
from engine.spark_session import cluster, executors
from plans.tables.plans import table_plan
from sottovoce.domains.bits import Bits
from sottovoce.engine import parquet
from sottovoce.engine.memory import MemoryCollected, drive
from sottovoce.engine.spark import frames, spark, workers
from sottovoce.errors import MismatchError, MissingExtraError, NoDataError, ParameterError, UnavailableError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.source import Source
from sottovoce.sql.reading import read
from sottovoce.tasks.collected import Scored
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task
from sottovoce.wire.envelope import ID_BYTES

pyarrow = pytest.importorskip("pyarrow", reason="the spark extra is not installed")
pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
sqlglot = pytest.importorskip("sqlglot")

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
    "SELECT COUNT(*), SUM(age), AVG(age), STDDEV(age) FROM users WHERE age BETWEEN 30 AND 50 OR kind = 'a'",
    "SELECT region, kind, COUNT(*), AVG(age) FROM users GROUP BY region, kind",
    "SELECT AVG(amount), COUNT(*) FROM orders JOIN users USING (uid) WHERE age > 30 AND region <> 'it''s west'",
    "SELECT SUM(stars), COUNT(*) FROM users WHERE stars >= 2 AND (kind = 'b' OR region = 'it''s west')",
)


@pytest.fixture(scope="module")
def session():
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    with cluster() as made:
        yield made


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
    return all(one.tally(address) == other.tally(address) for address in other.answered(number))


def same_answers(one, other):
    """Groups and people alike; values and errors up to the order in which numbers were added."""
    assert (one.groups, one.users) == (other.groups, other.users)
    for left, right in zip(one.figures, other.figures, strict=True):
        assert [figure.value for figure in left] == pytest.approx([figure.value for figure in right], rel=1e-9)
        assert [figure.variance for figure in left] == pytest.approx([figure.variance for figure in right], rel=1e-9)
    return True


def changed(table, name, entries, kind=None):
    return table.set_column(table.column_names.index(name), name, pyarrow.array(entries, kind or table[name].type))


def scored(task, question, place):
    """What an answer needs to know of every report of a factor."""
    layout = task.plan.layout(task.epsilon)
    scoring = plan_query(read(question, layout.tables), Source(layout)).scorings[place]
    return Scored(tuple(slot.number for slot in scoring.factor.slots), len(scoring.columns), scoring)


def same_scores(one, other, task, question):
    """Every report's scores for a question, bit by bit."""
    relations = {"factor_0": scored(task, question, 0)}
    columns = [f"s{at}" for at in range(relations["factor_0"].width)]
    statement = sqlglot.parse_one(f"SELECT {', '.join(columns)} FROM factor_0")
    rows = [np.array(list(engine.select(0, relations, {}, statement).values())) for engine in (one, other)]
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
    many, alone = database.collected, local.answered(0)
    assert many.answered(0) == alone
    assert (many.users(0), many.single(0), many.epsilon, many.seed) == (PEOPLE, True, local.epsilon, local.seed)
    assert {task.opening.question(address).mechanism.kind for address in alone} == {"affine", "grr"}
    assert same_tallies(many, local)
    assert same_scores(many, local, task, QUESTIONS[0])
    assert same_votes(many, local, next(iter(alone)), task.opening.question(next(iter(alone))).mechanism)
    here = task.plan.step(local)
    with ThreadPoolExecutor(2) as pool:
        for question, found in zip(QUESTIONS, pool.map(database.sql, QUESTIONS), strict=True):
            assert same_answers(found, here.sql(question))
    assert not session.catalog.listTables(), "no view is left behind"


def test_tables_as_published_are_the_same_and_one_report_less_is_noticed(session, tmp_path):
    task = Task("published", table_plan({"age": range(16)}, fanout=4, published=True), 2.0)
    folder, log, local = collected(tmp_path, task, {"age": people()["users"]["age"] % 16})
    database = spark.answer(task, session, {0: str(folder)})
    assert {task.opening.question(address).mechanism.kind for address in local.answered(0)} == {"olh"}
    assert same_tallies(database.collected, local)
    assert same_scores(database.collected, local, task, "SELECT COUNT(*) FROM people WHERE age < 5")
    question = "SELECT age, COUNT(*) FROM people WHERE age < 3 GROUP BY age"
    assert same_answers(database.sql(question), task.plan.step(local).sql(question))
    first = folder / "part-0.parquet"
    pyarrow_parquet.write_table(pyarrow_parquet.read_table(first).slice(1), first)
    session.catalog.refreshByPath(str(folder))
    less = spark.answer(task, session, {0: [one for one in sorted(folder.iterdir()) if one.suffix == ".parquet"]})
    assert less.users == PEOPLE - 1
    assert not same_tallies(less.collected, local)
    with pytest.raises(MismatchError, match="not the one that was sealed"):
        spark.answer(task, session, {0: folder}, {0: log.checksum})


def test_people_with_too_many_reports_are_left_out_and_nobody_is_a_sum_too(session, tmp_path):
    task = Task("shop", SHOP, 4.0)
    path = tmp_path / "shop.parquet"
    parquet.write(path, crowd.messages(task, people(300), rng=SeededRng(5)), task.opening)
    whole = pyarrow_parquet.read_table(path)
    first = [place for place, slot in enumerate(whole["slot"].to_pylist()) if slot == 0][:20]
    again = changed(whole.take(first), "id", [bytes([place]) * ID_BYTES for place in range(20)])
    pyarrow_parquet.write_table(pyarrow.concat_tables([whole, again]), path)
    here = task.plan.step(MemoryCollected(task).after(task.opening, parquet.read(path, task.opening)))
    there = spark.answer(task, session, {0: path})
    assert not there.collected.single(0)
    for question, count in {
        "SELECT SUM(stars), COUNT(*) FROM users": 280,
        "SELECT COUNT(*) FROM users WHERE kind = 'a' AND region = 'north' AND region = 'south'": None,
    }.items():
        found = there.sql(question)
        assert same_answers(found, here.sql(question))
        assert count in (None, found.users)


DICE = np.random.default_rng(2)
TASKS = {
    "histogram": (sv.Histogram(range(40)), DICE.integers(0, 40, 1000)),
    "yes or no": (Marginals({name: ["x", "y"] for name in "abc"}, order=2, method="inp_ht"), None),
    "prefixes": (sv.HeavyHitters(Bits(16), 3, groups=2), DICE.choice([7, 77, 7777, 50000], 1000).tolist()),
    "rounds": (TopItems(range(30), 4), [DICE.choice(8, 3, replace=False).tolist() for _ in range(1000)]),
}


@pytest.mark.parametrize("name", TASKS)
def test_other_plans_come_to_the_same_answer(session, tmp_path, name):
    plan, values = TASKS[name]
    if values is None:
        values = [
            {one: "xy"[bit] for one, bit in zip("abc", bits, strict=True)} for bits in DICE.integers(0, 2, (1000, 3))
        ]
    task, logs, rng = Task(name, plan, 3.0), {}, SeededRng(8)

    def gather(asked):
        logs[asked.number] = tmp_path / f"{asked.number}.parquet"
        parquet.write(logs[asked.number], crowd.messages(task, values, asked, rng), asked)
        return parquet.read(logs[asked.number], asked)

    here = drive(task, gather)
    assert spark.answer(task, session, logs).to_dict() == here.to_dict()


def test_chosen_candidates_and_reports_are_the_same(session, tmp_path):
    task = Task("histogram", TASKS["histogram"][0], 3.0)
    path = tmp_path / "round.parquet"
    parquet.write(path, crowd.messages(task, TASKS["histogram"][1], rng=SeededRng(8)), task.opening)
    local = MemoryCollected(task).after(task.opening, parquet.read(path, task.opening))
    many = spark.SparkCollected(task, session).after(task.opening, path)
    among = np.array([3, 1, 39])
    one, other = many.estimate(Address(), among), local.estimate(Address(), among)
    assert np.array_equal(one.totals, other.totals)
    assert np.array_equal(one.variance, other.variance)
    found, alone = (np.concatenate(list(engine.reports(Address()))) for engine in (many, local))
    assert np.array_equal(np.sort(found, axis=0), np.sort(alone, axis=0))
    with pytest.raises(NoDataError):
        many.tally(Address(0, 3))
    with pytest.raises(ParameterError, match="subject"):
        many.select(0, {}, {}, sqlglot.parse_one("SELECT 1"))
    with pytest.raises(ParameterError, match="yes or no"):
        many.yes(0)


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
    folder, _, local = collected(tmp_path, task, people(800), parts=8)
    many = spark.SparkCollected(task, session).after(task.opening, folder)
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
            found = many.select(0, relations, {}, statement)
        finally:
            done.set()
        killing.result()
    expected = local.select(0, {"factor_0": plain}, {}, statement)
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

    def refused(table, message):
        pyarrow_parquet.write_table(table, tmp_path / "other.parquet")
        session.catalog.refreshByPath(str(tmp_path / "other.parquet"))
        with pytest.raises(MismatchError, match=message):
            spark.answer(task, session, {0: tmp_path / "other.parquet"})

    refused(whole.drop_columns(["payload"]), "columns")
    refused(changed(whole, "member", ["0"] * 40, pyarrow.string()), "columns")
    refused(changed(whole, "member", [9] * 40), "no device")
    refused(changed(whole, "payload", [bytes(width + 1)] * 40), f"{width} bytes")
    (tmp_path / "text.parquet").write_text("not a log, whatever it is called")
    with pytest.raises(MismatchError, match="damaged"):
        spark.answer(task, session, {0: tmp_path / "text.parquet"})
    for logs in ({}, {0: tmp_path / "nothing.parquet"}):
        with pytest.raises(NoDataError):
            spark.answer(task, session, logs)
    pyarrow_parquet.write_table(whole.slice(0, 0), path)
    with pytest.raises(NoDataError, match="no reports"):
        spark.answer(task, session, {0: path})


def test_damaged_parts_are_refused_where_they_are_read(tmp_path):
    task = Task("histogram", sv.Histogram(range(40)), 3.0)
    path, asked = tmp_path / "round.parquet", task.opening
    parquet.write(path, crowd.messages(task, np.arange(40), rng=SeededRng(8)), asked)
    table = pyarrow_parquet.read_table(path)
    ((_, places, reports),) = workers.pieces(table.slice(3, 20), asked)
    assert np.array_equal(reports, parquet.read(path, asked)[Address()].reports[3:23])
    assert places.tolist() == list(range(20))
    payloads = ([bytes(asked.width + 1)] * 40, [None] * 40, [b""] * 40, [b"\xff" * asked.width] * 40)
    for bad in (*(changed(table, "payload", one) for one in payloads), changed(table, "slot", [1] * 40)):
        with pytest.raises(MismatchError):
            list(workers.pieces(bad, asked))


@pytest.mark.parametrize("name", ["pyspark", "pyarrow", "pandas"])
def test_a_missing_part_is_named_with_the_extra_that_brings_it(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    task = Task("histogram", sv.Histogram(range(4)), 1.0)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[spark\]"):
        spark.answer(task, None, {0: "nowhere"})


def test_errors_of_executors_keep_their_kind():
    told = "Traceback (most recent call last):\n  ...\nsottovoce.errors.{}: a rule\n\tat org.apache.spark"
    error = frames._typed(told.format("MismatchError"))
    assert (type(error), str(error)) == (MismatchError, "a rule")
    assert type(frames._typed(told.format("os"))) is UnavailableError
    assert type(frames._typed("[PATH_NOT_FOUND] no such path")) is NoDataError
    assert type(frames._typed("ModuleNotFoundError: No module named 'sottovoce'")) is MissingExtraError


def test_small_batches_are_put_together_and_empty_ones_left_out():
    batches = [pyarrow.RecordBatch.from_pydict({"n": list(range(size))}) for size in (3, 0, 2, 4, 0)]
    assert [len(table) for table in workers.tables(batches)] == [9]
    assert [len(table) for table in workers.tables(batches, 5)] == [5, 4]
    assert list(workers.tables(batches[1:2])) == []
