"""Tables on the command line: which file is whose, and the truth beside every answer."""

import json

import click
import pytest

import sottovoce as sv
from sottovoce.cli.tables import DEFAULT_LEVEL, QueryRehearsal, TableOptions
from sottovoce.errors import ParameterError
from sottovoce.lab.truth.compare import ShownIntervals

QUERY = "SELECT pet, COUNT(*) FROM people GROUP BY pet"
PEOPLE = {"pet": ["cat", "dog"] * 100, "age": [3, 4, 5, 6] * 50}


@pytest.fixture(scope="module")
def collection():
    task = sv.Task("t", sv.Table({"pet": ["cat", "dog"], "age": range(30)}), epsilon=4.0)
    return task, sv.simulate(task, PEOPLE, seed=1)


def rehearsal(collection, *queries, level=DEFAULT_LEVEL):
    task, database = collection
    return QueryRehearsal.of(task, PEOPLE, database, queries, ShownIntervals(level))


def test_data_is_the_file_of_the_table_that_no_option_names(tmp_path):
    (tmp_path / "visits.csv").touch()
    options = TableOptions((f"visits={tmp_path / 'visits.csv'}",), ())
    files = options.files(tmp_path / "people.csv", ["people", "visits"])
    assert files == {"visits": tmp_path / "visits.csv", "people": tmp_path / "people.csv"}


@pytest.mark.parametrize(
    "stated", [(), ("other=a.csv",), ("people=a.csv", "visits=b.csv"), ("visits=a", "visits=b")]
)
def test_every_other_table_is_named_once(tmp_path, stated):
    with pytest.raises(ParameterError, match="names every other once"):
        TableOptions(stated, ()).files(tmp_path / "people.csv", ["people", "visits"])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(click.FileError, match="no such file"):
        TableOptions(("visits=/no/such.csv",), ()).files(tmp_path, ["people", "visits"])


def test_the_truth_stands_beside_every_row(collection):
    (query,) = rehearsal(collection, QUERY).answers
    assert query.truth == [[100.0], [100.0]]
    assert "truth: cat / 100" in str(query)


def test_without_queries_every_column_with_few_values_is_counted(collection):
    assert [query.sql for query in rehearsal(collection).answers] == [QUERY]


def test_another_level_widens_the_intervals(collection):
    ((usual,), (wide,)) = (
        rehearsal(collection, QUERY, level=level).answers for level in (0.95, 0.999)
    )
    assert wide.answer.rows()[0]["count_low"] < usual.answer.rows()[0]["count_low"]


def test_an_explanation_has_no_truth_and_everything_is_json(collection, capsys):
    made = rehearsal(collection, f"EXPLAIN {QUERY}", QUERY)
    assert [len(query.truth) for query in made.answers] == [0, 2]
    made.show(as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["name"] == "t"
    assert [answer["sql"] for answer in printed["answers"]] == [f"EXPLAIN {QUERY}", QUERY]
