"""Reports by person: whose each is, who has one in every slot, and what a statement sees of
them.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sottovoce.engine.duckdb import PEOPLE, ReportsByPerson
from sottovoce.engine.memory import ReportBatch
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.tasks.collected import Scored
from sottovoce.tasks.question import Address

sqlglot = pytest.importorskip("sqlglot")


def batch(values, subjects, public=None):
    texts = None if public is None else np.array(public, object)
    return ReportBatch(np.asarray(values), np.asarray(subjects), texts)


def select(persons, text, scored=None, public=None):
    """Return the rows of a statement over everybody's reports, sorted."""
    columns = persons.select(scored or {}, public or {}, sqlglot.parse_one(text))
    return sorted(zip(*(column.tolist() for column in columns.values()), strict=True))


def value_of(slot, member, reports):
    """Two targets: the report itself, and where it was made."""
    return np.stack([reports, np.full(len(reports), 10 * slot + member)], axis=1).astype(float)


def test_rows_of_bytes_and_numbers_say_alike_whose_a_report_is():
    names = np.frombuffer(bytes(16) + b"b" * 16 + bytes(15) + b"a", np.uint8).reshape(3, 16)
    by_bytes = ReportsByPerson.of({Address(): batch([0, 1, 2, 3], names[[2, 1, 0, 2]])})
    owners = by_bytes.owners[Address()].tolist()
    assert owners[0] == owners[3]
    assert len(set(owners)) == 3
    by_number = ReportsByPerson.of({Address(): batch([0, 1, 2, 3], [7, 3, 9, 7])})
    assert by_number.owners[Address()].tolist() == [7, 3, 9, 7]


def test_reports_without_subjects_are_nobodys():
    with pytest.raises(ParameterError, match="subject"):
        ReportsByPerson.of({Address(): ReportBatch(np.arange(3))})


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [3, 1, 2], True),
        ([1, 2, 2], [1, 2, 2], False),
        ([1, 2, 3], [1, 2, 4], False),
        ([1, 2, 3], [1, 2], False),
    ],
)
def test_everybody_has_one_report_in_every_slot_or_not(first, second, expected):
    batches = {
        Address(0, 0, 0): batch(first, first),
        Address(0, 1, 1): batch(second, second),
    }
    assert ReportsByPerson.of(batches).one_report_each is expected


def test_scores_stand_beside_their_person():
    persons = ReportsByPerson.of(
        {
            Address(0, 0, 0): batch([5, 6], [1, 2]),
            Address(0, 3, 0): batch([7], [3]),
            Address(0, 0, 1): batch([8, 9, 4], [3, 2, 1]),
        }
    )
    text = "SELECT person, s0, s1 FROM scored"
    assert select(persons, text, {"scored": Scored((0,), 2, value_of)}) == [
        (1, 5.0, 0.0),
        (2, 6.0, 0.0),
        (3, 7.0, 3.0),
    ]
    both = {"scored": Scored((0, 1), 2, value_of)}
    assert select(persons, "SELECT COUNT(*), SUM(s0) FROM scored", both) == [(6, 39.0)]


def test_people_have_their_public_columns_and_nobody_is_there_twice():
    texts = [b'{"age":30,"os":"a"}', b'{"age":41,"os":"b"}', b'{"age":52,"os":"b"}']
    persons = ReportsByPerson.of({Address(): batch([0, 0, 0], [1, 2, 2], texts)})
    text = f"SELECT person, p0, p1 FROM {PEOPLE}"
    assert select(persons, text, public={"age": True, "os": False}) == [(1, 30.0, "a")]


def test_a_statement_that_the_engine_cannot_run_is_unavailable():
    persons = ReportsByPerson.of({Address(): batch([0], [1])})
    with pytest.raises(UnavailableError, match="could not answer this query"):
        select(persons, "SELECT nothing FROM nowhere")


def test_a_query_sees_nothing_of_others_and_a_failed_one_spoils_none():
    """Queries of one process share an engine, but neither reports nor people."""
    first = ReportsByPerson.of({Address(): batch([5], [1])})
    second = ReportsByPerson.of({Address(): batch([6, 7], [2, 3])})
    scored = {"scored": Scored((0,), 2, value_of)}
    assert select(first, "SELECT person, s0 FROM scored", scored) == [(1, 5.0)]
    for left in ("scored", "seen"):
        with pytest.raises(UnavailableError):
            select(second, f"SELECT person, s0 FROM {left}")
    assert select(second, f"SELECT person FROM {PEOPLE}") == [(2,), (3,)]


def test_queries_that_run_at_once_do_not_meet():
    def ask(number):
        persons = ReportsByPerson.of({Address(): batch(np.arange(500), np.arange(500) + number)})
        return select(persons, f"SELECT MIN(person), COUNT(*) FROM {PEOPLE}")

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(40)))
    assert answers == [[(number, 500)] for number in range(40)]
