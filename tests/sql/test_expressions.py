"""Expressions in every clause mean what they mean in DuckDB.

The true answer to a query (``Truth``: the moments of a query that was read, summed over people who
are known) is compared with DuckDB's own answer to the same text over the same people.
"""

import duckdb
import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli.truths import Truth
from sottovoce.domains.base import Domain

PLAN = sv.Table(
    {"age": range(16, 46), "size": range(1, 9), "region": ["north", "east", "south-east"]},
    public={"plan": ["free", "premium"], "year": range(1950, 1956)},
)
COUNT = 600
QUERIES = [
    "SELECT COUNT(1), COUNT(age), COUNT(DISTINCT uid) FROM people WHERE 1 = 1 AND NOT FALSE",
    "SELECT SUM(age + 5), SUM(age / 100), SUM(-age), AVG(2 * age - size + 1) FROM people",
    "SELECT SUM(age * age), SUM(ABS(age - 30)), AVG(FLOOR(age / 10)) FROM people WHERE size > 2",
    "SELECT SUM(7), AVG(3) FROM people WHERE region = 'north'",
    "SELECT 100.0 * COUNT(*) FILTER (WHERE age < 30) / COUNT(*) AS young FROM people",
    "SELECT ROUND(AVG(age), 1), -COUNT(*), (SUM(age) - SUM(size)) / COUNT(*) + 1 FROM people",
    "SELECT COUNT_IF(age > 30), COUNT_IF(region = 'north' AND size < 4) FROM people WHERE age > 20",
    "SELECT SUM(CASE WHEN region = 'north' AND age > 30 THEN size ELSE 0 END) FROM people",
    "SELECT AVG(CASE WHEN region = 'north' THEN age END) AS a FROM people",
    "SELECT COUNT(CASE WHEN age > 30 THEN 1 END) AS c FROM people WHERE plan = 'free'",
    "SELECT SUM(CASE size WHEN 1 THEN 10 WHEN 2 THEN 20 ELSE 0 END) AS s FROM people",
    "SELECT SUM(CASE WHEN age < 20 THEN size WHEN region = 'north' THEN age ELSE 1 END) AS s"
    " FROM people",
    "SELECT FLOOR(age / 10) AS decade, COUNT(*) AS n FROM people GROUP BY decade ORDER BY decade",
    "SELECT FLOOR(age / 10) * 10 AS decade, AVG(size) AS a FROM people GROUP BY 1 ORDER BY 1 DESC",
    "SELECT CASE WHEN age < 25 THEN 'young' ELSE 'old' END AS band, region, COUNT(*) AS n"
    " FROM people GROUP BY 1, region ORDER BY band, n DESC",
    "SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 190 ORDER BY n",
    "SELECT region AS r, SUM(age) s FROM people GROUP BY r HAVING s > 10 AND AVG(size) > 4.4"
    " ORDER BY SUM(size) DESC",
    "SELECT size, COUNT(*) AS n FROM people GROUP BY size ORDER BY n DESC, size LIMIT 3 OFFSET 2",
    "SELECT COUNT(*) FROM people WHERE region LIKE '%th%' AND NOT region LIKE 'n%'",
    "SELECT COUNT(*) FROM people WHERE region ILIKE 'NOR_H' OR age * 2 > 80",
    "SELECT COUNT(*) FROM people WHERE age BETWEEN SYMMETRIC 40 AND 30 AND age IS NOT NULL",
    "SELECT COUNT(*) FROM people WHERE age % 2 = 0 AND age NOT IN (20, 10 + 12, (-5))",
    "SELECT COUNT(*) FROM people WHERE age > 3 * size AND size < age - 20",
    "SELECT COUNT(*) FROM people WHERE CASE WHEN age < 30 THEN size ELSE 8 - size END > 4",
    "SELECT COUNT(*) FROM people WHERE year + 1 > 1952 AND (year % 2 = 0 OR plan LIKE 'f%')",
    "SELECT year, SUM(age) AS s FROM people GROUP BY year ORDER BY year DESC LIMIT 2",
    "SELECT COUNT(*) FROM people WHERE age > NULL OR size = 3",
]


@pytest.fixture(scope="module")
def people():
    dice = np.random.default_rng(8)
    return {
        "age": dice.integers(16, 46, COUNT),
        "size": dice.integers(1, 9, COUNT),
        "region": dice.choice(["north", "east", "south-east"], COUNT),
        "plan": dice.choice(["free", "premium"], COUNT),
        "year": dice.integers(1950, 1956, COUNT),
    }


@pytest.fixture(scope="module")
def database(people):
    """The same people, privately collected: rows and their order follow the estimates."""
    return sv.simulate(sv.Task("people", PLAN, epsilon=20.0), people, seed=1)


@pytest.fixture(scope="module")
def plain(people):
    connection = duckdb.connect()
    columns = [
        "uid INTEGER",
        "age INTEGER",
        "size INTEGER",
        "region TEXT",
        "plan TEXT",
        "year INTEGER",
    ]
    connection.execute(f"CREATE TABLE people ({', '.join(columns)})")
    rows = zip(range(COUNT), *(column.tolist() for column in people.values()), strict=True)
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", list(rows))
    yield connection
    connection.close()


def labelled(entry):
    return entry if isinstance(entry, str) else f"{float(entry):.6g}"


def truths(text, database, people):
    """The rows of the answer in any order: groups, and the true numbers."""
    from sottovoce.sql.reading import read

    query = read(text, PLAN.domain)
    result = database.sql(text)
    numbers = Truth(PLAN.domain, PLAN.domain.indices(people)).rows(query, result)
    return {row.labels: found for row, found in zip(result.table, numbers, strict=True)}


@pytest.mark.parametrize("text", QUERIES)
def test_an_expression_means_what_it_means_in_duckdb(text, database, plain, people):
    # Which rows HAVING and LIMIT leave depends on estimates: every row there is must be true.
    uncut = text.partition(" HAVING ")[0].partition(" ORDER BY ")[0]
    keys = len(next(iter(truths(uncut, database, people))))
    found = plain.execute(uncut.replace("SYMMETRIC 40 AND 30", "30 AND 40")).fetchall()
    expected = {tuple(map(labelled, row[:keys])): list(row[keys:]) for row in found}
    for labels, numbers in truths(text, database, people).items():
        assert numbers == pytest.approx([float(number) for number in expected[labels]])


def test_another_meaning_would_be_noticed(database, plain, people):
    asked, other = (f"SELECT COUNT(*) FROM people WHERE age * 2 > {bound}" for bound in (80, 79))
    (found,) = truths(asked, database, people).values()
    assert found == [plain.execute(asked).fetchone()[0]]
    assert found != [plain.execute(other.replace("* 2", "* 3")).fetchone()[0]]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 195",
        "SELECT size, COUNT(*) AS n FROM people GROUP BY size HAVING SUM(age) < 2300 OR n > 80",
    ],
)
def test_having_is_about_the_estimates(text, database):
    uncut = {row.labels: row for row in database.sql(text.partition(" HAVING ")[0]).table}
    kept = {row.labels for row in database.sql(text).table}
    sums = database.sql("SELECT size, SUM(age) AS s FROM people GROUP BY size").table
    sums_by_size = {row.labels: row.figures[0].value for row in sums}
    for labels, row in uncut.items():
        count = row.figures[0].value
        many = count > 195 if "region" in text else sums_by_size[labels] < 2300 or count > 80
        assert (labels in kept) == many


def test_rows_are_ordered_by_several_items(database):
    result = database.sql(
        "SELECT FLOOR(size / 4) AS big, size, COUNT(*) AS n FROM people"
        " GROUP BY big, size HAVING n > 20 ORDER BY big DESC, 3"
    )
    pairs = [(-float(row.labels[0]), row.figures[0].value) for row in result.table]
    assert pairs == sorted(pairs)
    assert len({first for first, _ in pairs}) == 3


# As text, "10" comes before "9", and "-1" before "-2".
FLOORS = sv.Table({"size": range(1, 9)}, public={"floor": range(-2, 13), "year": range(1990, 2001)})
ORDERED_BY_NUMBERS = [
    "SELECT floor, COUNT(*) AS n FROM people GROUP BY floor ORDER BY floor",
    "SELECT floor, COUNT(*) AS n FROM people GROUP BY floor ORDER BY floor DESC",
    "SELECT year, COUNT(*) AS n FROM people GROUP BY year ORDER BY year DESC",
    "SELECT year, floor, COUNT(*) AS n FROM people GROUP BY 1, 2 ORDER BY floor, year DESC",
]


@pytest.fixture(scope="module")
def floors():
    numbers = np.arange(COUNT)
    years = np.array([1990, 1991, 2000])[numbers // 15 % 3]
    people = {"size": numbers % 8 + 1, "floor": numbers % 15 - 2, "year": years}
    return people, sv.simulate(sv.Task("people", FLOORS, epsilon=4.0), people, seed=2)


def labels_in_duckdb(text, people):
    """Return the labels of the rows of a query, in DuckDB's order: whole numbers without a point.

    The last item of a row is a number.
    """
    import pyarrow as pa

    with duckdb.connect() as connection:
        connection.register("people", pa.table(people))
        return [tuple(map(str, row[:-1])) for row in connection.execute(text).fetchall()]


@pytest.mark.parametrize("text", ORDERED_BY_NUMBERS)
def test_public_numbers_are_ordered_and_written_as_numbers(text, floors):
    people, database = floors
    assert [row.labels for row in database.sql(text).table] == labels_in_duckdb(text, people)


@pytest.mark.parametrize("text", ORDERED_BY_NUMBERS[:2])
def test_public_numbers_in_the_order_of_their_text_are_caught(text, floors, monkeypatch):
    people, database = floors
    monkeypatch.setattr(Domain, "public_rank", lambda kind, label: label)
    found = [row.labels for row in database.sql(text).table]
    expected = labels_in_duckdb(text, people)
    assert sorted(found) == sorted(expected)
    assert found != expected


def test_labels_with_a_decimal_point_are_caught(floors, monkeypatch):
    people, database = floors
    monkeypatch.setattr(Domain, "public_label", lambda kind, value: str(float(value)))
    (text,) = (text for text in ORDERED_BY_NUMBERS if text.startswith("SELECT year, COUNT"))
    found = [row.labels for row in database.sql(text).table]
    assert found == [("2000.0",), ("1991.0",), ("1990.0",)]
    assert found != labels_in_duckdb(text, people)


def test_hidden_numbers_are_not_shown(database):
    result = database.sql(
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
        " HAVING SUM(age) > 0 ORDER BY AVG(size)"
    )
    assert result.columns == ("region", "n")
    assert all(len(row.figures) == 1 for row in result.table)
