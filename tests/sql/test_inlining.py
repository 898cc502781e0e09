"""Queries inside queries: the same query over tables, and refusals where there is none.

What they mean is compared with DuckDB in test_questions.
"""

import pytest

import sottovoce as sv
from sottovoce.sql.errors import QueryError
from sottovoce.sql.grammar import parsed
from sottovoce.sql.inlining import inlined
from sottovoce.sql.reading import read

DOMAIN = sv.Joint(
    {
        "people": sv.Table({"age": range(9), "home": ["flat", "house"]}),
        "pets": sv.Table({"legs": range(9)}),
        "sales": sv.Table({"amount": range(9)}, most=3),
    }
).domain

EQUAL = [
    (
        "WITH a AS (SELECT * FROM people WHERE age > 3) SELECT COUNT(*) FROM a WHERE home = 'flat'",
        "SELECT COUNT(*) FROM people WHERE age > 3 AND home = 'flat'",
    ),
    (
        "SELECT SUM(double) FROM (SELECT 2 * age AS double FROM people) t",
        "SELECT SUM(2 * age) FROM people",
    ),
    (
        "SELECT COUNT(*) FROM people p, sales s WHERE p.uid = s.uid AND s.amount > 2",
        "SELECT COUNT(*) FROM people p JOIN sales s ON p.uid = s.uid WHERE s.amount > 2",
    ),
    (
        "SELECT COUNT(*) FROM people JOIN pets ON people.uid = pets.uid AND legs = 4",
        "SELECT COUNT(*) FROM people JOIN pets ON people.uid = pets.uid WHERE legs = 4",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE uid IN (SELECT uid FROM pets WHERE legs = 4)",
        "SELECT COUNT(*) FROM people JOIN pets USING (uid) WHERE pets.legs = 4",
    ),
    (
        "SELECT COUNT(*) FROM people p WHERE age > 1 AND EXISTS"
        " (SELECT 1 FROM pets q WHERE q.uid = p.uid AND q.legs = 4)",
        "SELECT COUNT(*) FROM people p JOIN pets q USING (uid) WHERE age > 1 AND q.legs = 4",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE uid IN (SELECT uid FROM people WHERE age = 4)",
        "SELECT COUNT(*) FROM people WHERE people.age = 4",
    ),
    (
        "WITH a AS (SELECT uid, age AS years FROM people), b AS (SELECT * FROM sales)"
        " SELECT SUM(b.amount) FROM a JOIN b ON a.uid = b.uid WHERE years > 3",
        "SELECT SUM(amount) FROM people JOIN sales ON people.uid = sales.uid WHERE age > 3",
    ),
]


def written(text):
    return inlined(parsed(text), DOMAIN).sql().replace("sales.amount", "amount")


@pytest.mark.parametrize(("text", "plain"), EQUAL, ids=[text[:60] for text, _ in EQUAL])
def test_an_inner_query_becomes_part_of_the_outer_one(text, plain):
    assert written(text) == written(plain)


def test_a_column_that_an_inner_query_does_not_list_is_unknown_outside():
    text = "SELECT COUNT(*) FROM (SELECT age FROM people) a WHERE a.home = 'flat'"
    with pytest.raises(
        QueryError,
        match=r"the inner query has age; use DESCRIBE .* columns \(line 1, column 55\)",
    ):
        read(text, DOMAIN)
