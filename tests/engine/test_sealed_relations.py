"""SQL over a log that stays on the disk: the answers of reports in memory."""

import numpy as np
import pytest

from sottovoce.engine import parquet, tables
from sottovoce.engine.memory import MemoryCollected
from sottovoce.engine.sealed import SealedCollected
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.tables.joint import Joint
from sottovoce.tasks.task import Task
from sottovoce.wire import envelope

PEOPLE = 600
SHOP = Joint(
    {
        "users": {
            "columns": {"age": range(20, 60), "kind": ["a", "b", "c"]},
            "public": {"region": ["north", "south", "it's west"], "stars": range(1, 6)},
        },
        "orders": {"columns": {"amount": range(1, 33)}, "most": 2},
    }
)
TASK = Task("shop", SHOP, 4.0)
ONE_SERVICE = (
    "SELECT COUNT(*), SUM(age), AVG(age), STDDEV(age) FROM users"
    " WHERE age BETWEEN 30 AND 50 OR kind = 'a'",
    "SELECT region, kind, COUNT(*), AVG(age) FROM users GROUP BY region, kind",
    "SELECT SUM(stars), COUNT(*) FROM users"
    " WHERE stars >= 2 AND (kind = 'b' OR region = 'it''s west')",
)
JOINED = (
    "SELECT AVG(amount), COUNT(*) FROM orders JOIN users USING (uid)"
    " WHERE age > 30 AND region <> 'it''s west'"
)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parquet, "PART_BYTES", 4_000)
    monkeypatch.setattr(tables, "MAX_SCORES_AT_ONCE", 64)


@pytest.fixture(scope="module")
def messages():
    dice = np.random.default_rng(1)
    owners = np.repeat(np.arange(PEOPLE), dice.integers(0, 3, PEOPLE))
    users = {
        "age": dice.integers(20, 60, PEOPLE),
        "kind": dice.choice(["a", "b", "c"], PEOPLE),
        "region": dice.choice(["north", "south", "it's west"], PEOPLE),
        "stars": dice.integers(1, 6, PEOPLE),
    }
    orders = {"uid": owners, "amount": dice.integers(1, 33, len(owners))}
    return crowd.messages(TASK, {"users": users, "orders": orders}, rng=SeededRng(5))


def databases(folder, messages):
    """Return the database of the reports in memory, and that of the log."""
    path, asked = folder / "round.parquet", TASK.opening
    log = parquet.write(path, messages, asked)
    batches = parquet.read(path, asked, log.checksum)
    sealed = parquet.open_log(path, asked, log.checksum)
    assert len(sealed.parts) > 3
    memory = MemoryCollected(TASK).after(asked, batches)
    return [
        TASK.plan.step(collected)
        for collected in (memory, SealedCollected(TASK).after(asked, sealed))
    ]


def test_queries_about_one_service_have_the_same_digits(tmp_path, messages):
    memory, sealed = databases(tmp_path, messages)
    assert sealed.collected.relations(0).one_report_each
    for query in ONE_SERVICE:
        assert sealed.sql(query).to_dict() == memory.sql(query).to_dict()
    assert [path.name for path in tmp_path.iterdir()] == ["round.parquet"], "nothing is left over"


def test_joins_give_the_same_up_to_the_order_of_addition(tmp_path, messages):
    memory, sealed = databases(tmp_path, messages)
    for ours, theirs in zip(sealed.sql(JOINED).figures, memory.sql(JOINED).figures, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.value == pytest.approx(other.value, rel=1e-9)
            assert one.variance == pytest.approx(other.variance, rel=1e-9)


def test_whoever_answered_twice_is_left_out(tmp_path, messages):
    first, *others = messages
    width = len(first) // TASK.opening.slots
    again = bytearray(first)
    place = envelope.version_of(TASK).header_bytes - 16
    for start in range(0, len(again), width):
        again[start + place] ^= 1  # another report id of the same person
    memory, sealed = databases(tmp_path, [first, bytes(again), *others])
    assert not sealed.collected.relations(0).one_report_each
    for query in ONE_SERVICE:
        ours, theirs = sealed.sql(query), memory.sql(query)
        assert ours.users == theirs.users
        values = [[figure.value for figure in row] for row in theirs.figures]
        for row, expected in zip(ours.figures, values, strict=True):
            assert [figure.value for figure in row] == pytest.approx(expected, rel=1e-9)


def test_reports_without_subjects_have_no_relations(tmp_path):
    from collector.people import honest, once, question

    task = once(question("olh"))
    path = tmp_path / "round.parquet"
    log = parquet.write(path, honest(task, 300), task.opening)
    sealed = parquet.open_log(path, task.opening, log.checksum)
    collected = SealedCollected(task).after(task.opening, sealed)
    with pytest.raises(ParameterError, match="carry the subject"):
        collected.relations(0).one_report_each  # noqa: B018 - is computed here


def test_a_query_beyond_its_memory_and_disk_is_unavailable(tmp_path, messages):
    path, asked = tmp_path / "round.parquet", TASK.opening
    log = parquet.write(path, messages, asked)
    sealed = parquet.open_log(path, asked, log.checksum)
    collected = SealedCollected(TASK, memory=2 << 20).after(asked, sealed)
    with pytest.raises(UnavailableError, match="could not answer"):
        TASK.plan.step(collected).sql(JOINED)
