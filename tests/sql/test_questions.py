"""Questions that analysts type: each means what it means in DuckDB, or is refused by a rule.

The true answer (``Truth``: the moments of the query that was read, over people who are known) is
compared with DuckDB's own answer to the same text over the same people.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import isnan, prod
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.cli.truths import Truth
from sottovoce.domains.dates import Dates
from sottovoce.plans.tables.result import Result
from sottovoce.sql.errors import RULES, QueryError
from sottovoce.sql.reading import read

COUNT = 400
REGIONS = ["north", "east", "south", "west"]
SHOP = sv.Joint(
    {
        "customers": sv.Table(
            {
                "age": range(16, 80),
                "visits": range(1, 9),
                "income": sv.Buckets(0, 100_000, 10),
                "region": REGIONS,
                "married": ["yes", "no"],
            },
            public={
                "plan": ["free", "premium"],
                "since": range(2010, 2021),
                "opened": Dates("2024-01-01", "2024-12-31"),
                "spent": sv.Buckets(0, 100, 4),
            },
        ),
        "purchases": sv.Table(
            {"amount": range(1, 21), "quantity": range(1, 5), "category": ["food", "books"]}, most=3
        ),
        "devices": sv.Table(
            {
                "os": ["ios", "android"],
                "screen": range(4, 8),
                "bought": Dates("2023-01-01", "2024-12-31"),
                "returned": Dates("2024-01", "2024-12"),
            }
        ),
    }
)


@dataclass(frozen=True)
class AnalystQuestion:
    """A line of the list: a query, and the rule that refuses it or how DuckDB spells it."""

    text: str
    refused: str = ""
    duckdb: str = ""
    unlike: float = 1e-9

    @classmethod
    def of(cls, line):
        text, _, note = line.partition(" -- ")
        word, _, rest = note.partition(" ")
        known = {word: float(rest) if word == "unlike" else rest} if word else {}
        return cls(text, **known)


LINES = (Path(__file__).parent / "questions.sql").read_text(encoding="utf-8").splitlines()
ALL = [AnalystQuestion.of(line) for line in LINES if line and not line.startswith("--")]
ANSWERED = [each for each in ALL if not each.refused]
REFUSED = [each for each in ALL if each.refused]


@pytest.fixture(scope="module")
def people():
    dice = np.random.default_rng(11)
    owners = np.repeat(np.arange(COUNT), dice.integers(0, 4, COUNT))
    return {
        "customers": {
            "uid": np.arange(COUNT),
            "age": np.clip(dice.normal(42, 14, COUNT), 16, 79).astype(int),
            "visits": dice.integers(1, 9, COUNT),
            "income": 5000 + 10_000 * np.minimum(dice.poisson(3, COUNT), 9),
            "region": dice.choice(REGIONS, COUNT),
            "married": dice.choice(["yes", "no"], COUNT),
            "plan": dice.choice(["free", "premium"], COUNT),
            "since": dice.integers(2010, 2021, COUNT),
            "opened": np.datetime64("2024-01-01") + np.arange(COUNT) * 7 % 366,
            "spent": np.arange(COUNT) / 4,
        },
        "purchases": {
            "uid": owners,
            "amount": dice.integers(1, 21, len(owners)),
            "quantity": dice.integers(1, 5, len(owners)),
            "category": dice.choice(["food", "books"], len(owners)),
        },
        "devices": {
            "uid": np.arange(COUNT),
            "os": dice.choice(["ios", "android"], COUNT),
            "screen": dice.integers(4, 8, COUNT),
            "bought": np.datetime64("2023-01-01") + np.arange(COUNT) * 37 % 731,
            "returned": np.datetime64("2024-01") + np.arange(COUNT) * 5 % 12,
        },
    }


@pytest.fixture(scope="module")
def database(people):
    with pytest.warns(sv.errors.ConcernWarning):
        return sv.simulate(sv.Task("shop", SHOP, epsilon=20.0), people, seed=1)


@pytest.fixture(scope="module")
def truth(people):
    return Truth(SHOP.domain, SHOP.domain.indices(people))


@pytest.fixture(scope="module")
def plain(people):
    connection = duckdb.connect()
    for name, columns in people.items():
        table = pa.table({column: values.tolist() for column, values in columns.items()})
        connection.register(f"{name}_view", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_view")
    yield connection
    connection.close()


def labelled(entry):
    if isinstance(entry, date):
        return entry.strftime("%Y-%m-%d")
    return entry if isinstance(entry, str) else f"{float(entry):.6g}"


def number_of(entry):
    """Return a number, or the days from 1970 to a date."""
    if isinstance(entry, datetime):
        return (entry - datetime(1970, 1, 1)) / timedelta(days=1)
    return float((entry - date(1970, 1, 1)).days if isinstance(entry, date) else entry)


def uncut(text):
    """Return a query without what leaves rows out: which ones, estimates decide."""
    return re.split(r" (?:HAVING|ORDER BY (?!\w+\))|LIMIT) ?", text.rstrip(";"))[0]


def expected_rows(question, plain, key_count):
    """Return DuckDB's numbers by group."""
    rows = plain.execute(uncut(question.duckdb or question.text)).fetchall()
    return {tuple(map(labelled, row[:key_count])): list(row[key_count:]) for row in rows}


def test_there_are_two_hundred_questions_of_every_kind():
    assert len(ALL) >= 200
    assert len(ANSWERED) >= 150
    assert {each.refused for each in REFUSED} <= set(RULES)
    assert len({each.text for each in ALL}) == len(ALL)


def without_labels(question):
    """Return whether a query does not select what it groups by: whose a row is, it does not say."""
    query = read(question.text, SHOP.domain)
    return len([item for item in query.shown if isinstance(item, int)]) < len(query.group_by)


LABELLED = [each for each in ANSWERED if not without_labels(each)]
UNLABELLED = [each for each in ANSWERED if without_labels(each)]


@pytest.mark.parametrize("question", LABELLED, ids=lambda each: each.text[:70])
def test_a_question_means_what_it_means_in_duckdb(question, plain, truth):
    query = read(question.text, SHOP.domain)
    keys = len([item for item in query.shown if isinstance(item, int)])
    assert keys == len(query.group_by)
    for labels, wanted in expected_rows(question, plain, keys).items():
        for number, other in zip(truth.row(query, labels), wanted, strict=True):
            if other is None:  # a sum of nothing is 0 here and NULL there
                assert number in (None, 0.0)
            else:
                assert number == pytest.approx(number_of(other), rel=question.unlike, abs=1e-6)


@pytest.mark.parametrize("question", UNLABELLED, ids=lambda each: each.text[:70])
def test_rows_without_labels_are_those_of_duckdb_in_some_order(question, plain, truth, database):
    query = read(question.text, SHOP.domain)
    rows = [truth.row(query, labels) for labels in database.sql(question.text).groups]
    expected = plain.execute(uncut(question.duckdb or question.text)).fetchall()
    assert np.array(sorted(rows)) == pytest.approx(np.array(sorted(expected)))


def test_few_questions_do_not_select_their_groups():
    assert 1 <= len(UNLABELLED) <= 5


def check_answer(question, database):
    result = database.sql(question.text)
    assert isinstance(result, Result)
    for row in result.table:
        for figure in row.figures:
            low, high = figure.interval()
            assert low <= figure.value <= high or isnan(figure.value) or low == -high


def counted(question):
    """Return how many sums over people an answer is made of: a quantile counts every value."""
    query = read(question.text, SHOP.domain)
    private = [group for group in query.group_by if not group.public]
    kinds = [SHOP.domain.records(each.column.table).attributes for each in private]
    sizes = [
        group.size(kind[group.column.index].size)
        for group, kind in zip(private, kinds, strict=True)
    ]
    return prod(sizes) * sum(len(number.moments) for number in query.numbers)


SHORT = [each for each in ANSWERED if counted(each) <= 24]
LONG = [each for each in ANSWERED if counted(each) > 24]


@pytest.mark.parametrize("question", SHORT, ids=lambda each: each.text[:70])
def test_a_question_is_answered(question, database):
    check_answer(question, database)


def test_few_questions_take_long():
    assert len(LONG) < len(ANSWERED) / 8


def test_extremes_of_dates_are_dates_wherever_they_are_written(database):
    result = database.sql("SELECT MIN(bought) AS first FROM devices")
    (row,) = result.rows()
    for part in ("first", "first_low", "first_high"):
        assert date(2023, 1, 1) <= date.fromisoformat(row[part]) <= date(2024, 12, 31)
    assert row["first_low"] <= row["first"] <= row["first_high"]
    assert isinstance(row["first_error"], float)
    assert row["first"] in result.to_csv()
    assert f"[{row['first_low']}, {row['first_high']}]" in str(result)


@pytest.mark.papers
@pytest.mark.parametrize("question", LONG, ids=lambda each: each.text[:70])
def test_a_question_that_takes_long_is_answered(question, database):
    check_answer(question, database)


@pytest.mark.parametrize("question", REFUSED, ids=lambda each: each.text[:70])
def test_what_is_not_answered_is_refused_by_its_rule(question):
    with pytest.raises(QueryError) as refused:
        read(question.text, SHOP.domain)
    assert refused.value.rule == question.refused
    check_says_what_to_ask_instead(refused.value)


# What a sentence that says what to do begins with, or has within it.
ADVICE = re.compile(
    r"\b(add|ask|ASK|begin|compare|compute|COUNT\(\*\)|count|DESCRIBE|give|GROUP BY|JOIN|leave|let|"
    r"name|ORDER BY|pass|put|rename|select|send|SHOW TABLES|use|write|there are|adds up)\b"
)


def check_says_what_to_ask_instead(error):
    """The message ends with a clause that begins with something to do, before the position."""
    sentence, _, place = str(error).rpartition(" (line ")
    assert place
    _, semicolon, instead = sentence.rpartition("; ")
    assert semicolon
    assert len(instead.split()) >= 3
    assert ADVICE.search(instead)


def test_every_rule_says_what_to_ask_instead():
    for rule, (broken, instead) in RULES.items():
        assert broken, rule
        check_says_what_to_ask_instead(f"{broken}; {instead} (line 1, column 1)")


def test_a_refusal_without_advice_would_be_noticed():
    with pytest.raises(AssertionError):
        check_says_what_to_ask_instead("window functions are not supported (line 1, column 8)")
    with pytest.raises(AssertionError):
        check_says_what_to_ask_instead("UNION is out; it is not supported (line 1, column 8)")


def test_another_meaning_would_be_noticed(plain, truth):
    wrong = AnalystQuestion(
        "SELECT COUNT(*) FROM customers WHERE age > 30",
        duckdb="SELECT COUNT(*) FROM customers WHERE age > 31",
    )
    with pytest.raises(AssertionError):
        test_a_question_means_what_it_means_in_duckdb(wrong, plain, truth)
