"""COUNT_IF counts the records that meet the condition in parentheses."""

from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.sql.aggregates.count_if import CountIf
from sottovoce.sql.query import Column
from sottovoce.sql.reading import read
from sql.aggregates.derivatives import check_slopes

PEOPLE = Tables(("people",), (Records(("age",), (Integers(0, 9),)),))


def test_a_condition_narrows_what_is_counted():
    query = read("SELECT COUNT_IF(age > 6) FROM people WHERE age < 8", PEOPLE)
    (number,) = query.aggregates
    assert isinstance(number, CountIf)
    (term,) = number.moments[0].measure
    (monomial,) = term.where
    assert monomial.sets[Column(0, 0)].tolist() == [False] * 7 + [True, False, False]
    assert number.counts_records
    check_slopes(number, [5.0])


def test_both_names_mean_the_same():
    for name in CountIf.sql_names:
        assert read(f"SELECT {name}(age = 1) FROM people", PEOPLE).shown == ("count_if",)
