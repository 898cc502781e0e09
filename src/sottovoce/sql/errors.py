"""Why a query is refused: the rule that it breaks, what to ask instead, and the position."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sottovoce.core.located import LocatedError
from sottovoce.sql.aggregates.base import aggregates
from sottovoce.sql.aggregates.call import MAX_PUBLIC_VALUES


def _listed(names: list[str], word: str) -> str:
    """Return names joined by commas, with ``word`` before the last one."""
    *rest, last = names
    return f"{', '.join(rest)} {word} {last}" if rest else last


_BY_NAME = {kind.sql_names[0]: kind for kind in aggregates().values()}
_MEASURES = [name for name, kind in _BY_NAME.items() if kind.argument not in ("star", "condition")]
_SINGLE = [name for name, kind in _BY_NAME.items() if kind.argument in ("column", "ordered")]
_ANY_OF = _listed(list(_BY_NAME), "or")
_OF_NUMBERS = _listed(_MEASURES, "and")
_OF_COLUMN = _listed(_SINGLE, "and")


class QueryRule(NamedTuple):
    """A rule of queries: what breaks it, and what to ask instead."""

    broken: str
    instead: str


RULES = {
    "empty": QueryRule(
        "the query is empty", "ask for a number, such as SELECT COUNT(*) FROM table"
    ),
    "too-long": QueryRule("the query is too long", "use fewer characters, conditions or terms"),
    "nesting": QueryRule(
        "parentheses and signs are nested too deeply", "leave out the unnecessary ones"
    ),
    "syntax": QueryRule(
        "this is not expected here",
        "write SELECT ... FROM table, then JOIN, WHERE, GROUP BY, HAVING, ORDER BY and LIMIT in "
        "this order",
    ),
    "not-select": QueryRule(
        "only statements that read are supported",
        "begin with SELECT, WITH, EXPLAIN SELECT, DESCRIBE or SHOW TABLES",
    ),
    "several-statements": QueryRule("this is more than one query", "send one query at a time"),
    "union": QueryRule(
        "UNION, INTERSECT and EXCEPT are not supported",
        "send one query for each part, or combine their conditions with OR, AND and NOT in WHERE",
    ),
    "subquery": QueryRule(
        "a subquery is not supported at this position",
        "put it into FROM or uid IN (SELECT uid ...), or ask for its number first and write that "
        "number here",
    ),
    "inner-query": QueryRule(
        "a subquery may only select columns",
        "put aggregates, GROUP BY, ORDER BY and LIMIT into the outer query",
    ),
    "semi-join": QueryRule(
        "the reports do not tell who has a record in a list table", "JOIN it to count the records"
    ),
    "exists-key": QueryRule(
        "the subquery of EXISTS must compare the uid", "write inner.uid = outer.uid in its WHERE"
    ),
    "select-star": QueryRule(
        "the records of individual people are not known",
        f"select a number instead of *: {_ANY_OF}",
    ),
    "select-expression": QueryRule(
        "this is neither a column of GROUP BY nor an aggregate",
        f"select a column of GROUP BY, or {_ANY_OF}",
    ),
    "no-aggregate": QueryRule("the query selects no number", f"select at least one of {_ANY_OF}"),
    "not-grouped": QueryRule(
        "this column is not in GROUP BY", "add it there, or select a number such as AVG(column)"
    ),
    "duplicate-name": QueryRule(
        "two selected items have the same name", "rename one of them with AS"
    ),
    "name": QueryRule(
        "this is not a valid name", "use at most 63 characters: letters, digits and _"
    ),
    "distinct": QueryRule(
        "this use of DISTINCT is not supported",
        "use COUNT(DISTINCT uid) to count people, or COUNT(*) with GROUP BY to count each value",
    ),
    "public-quantile": QueryRule(
        "a public column in MEDIAN, QUANTILE, MIN or MAX must stand alone and hold at most "
        f"{MAX_PUBLIC_VALUES:,} whole numbers or dates",
        "GROUP BY the public column, or ask for AVG",
    ),
    "quantile-formula": QueryRule(
        "quantiles, MIN and MAX can only be added, subtracted and multiplied by a constant, and "
        "those of dates only subtracted",
        "select each of them as a number of its own, and compute with the answers",
    ),
    "parameter": QueryRule(
        "a parameter, ? or :name, has no value",
        "pass a text, a number, True, False or None for it",
    ),
    "share": QueryRule("this is not a valid level of a quantile", "write a number from 0 to 1"),
    "function": QueryRule(
        "this function is not supported",
        f"use {_ANY_OF}, ABS, CEIL, FLOOR, MOD, ROUND, SQRT, EXTRACT, DATE_TRUNC or YEAR",
    ),
    "date": QueryRule(
        "this is not a date", "write 'YYYY-MM-DD', or 'YYYY-MM-DD HH:MM' with a time"
    ),
    "date-unit": QueryRule("this is not a unit of time", "use one of the units, in single quotes"),
    "date-part": QueryRule(
        "this is not a part of a date", "use one of the parts, in single quotes"
    ),
    "not-a-date": QueryRule("this is not a date", "write a date column, or a date in quotes"),
    "interval": QueryRule(
        "this is not an interval", "write a whole number of units, such as INTERVAL '7 days'"
    ),
    "date-arithmetic": QueryRule(
        "this calculation with dates is not supported",
        "add or subtract an INTERVAL or whole days, or ask for the days between two dates: d - e",
    ),
    "date-measure": QueryRule(
        "dates cannot be added up or averaged",
        "ask for COUNT(*) by month, MEDIAN(d), or AVG(d - DATE '2024-01-01')",
    ),
    "date-difference": QueryRule(
        "the days between a public and a private date are not supported",
        "GROUP BY the public date",
    ),
    "now": QueryRule(
        "the current time cannot be used: the answer would depend on when the query runs",
        "write the date, as in DATE '2024-05-17'",
    ),
    "aggregate-condition": QueryRule(
        "an aggregate such as COUNT cannot be used in a condition on records",
        "compare aggregates in HAVING",
    ),
    "window": QueryRule(
        "window functions are not supported",
        "GROUP BY the column of PARTITION BY, and rank with ORDER BY and LIMIT",
    ),
    "cast": QueryRule(
        "only casts of a text to DATE or TIMESTAMP are supported",
        "compare a number with a number, and round it with ROUND, FLOOR or CEIL",
    ),
    "product": QueryRule(
        "this product or function of columns is not supported",
        "write a sum of products, with one expression for each column in every product",
    ),
    "empty-sum": QueryRule("the columns cancel each other out", "ask for COUNT(*)"),
    "number": QueryRule("this is not a finite number", "write one, such as 12 or 0.5"),
    "category-measure": QueryRule(
        "labels cannot be added",
        f"use {_OF_NUMBERS} on columns of numbers, and COUNT(*) with GROUP BY on labels",
    ),
    "one-column": QueryRule(
        "this aggregate takes one column, not a sum or product of columns",
        f"write one column in {_OF_COLUMN}, or ask for AVG of the sum or product",
    ),
    "outer-join": QueryRule(
        "RIGHT and FULL joins, and LEFT JOIN with further conditions in ON, are not supported",
        "use JOIN, or LEFT JOIN from the other side, and put conditions into WHERE",
    ),
    "outer-list": QueryRule(
        "after LEFT JOIN of a list table, people without a record cannot be counted",
        "count or add up columns of that table, or use JOIN",
    ),
    "cross-join": QueryRule(
        "CROSS, NATURAL and LATERAL joins are not supported", "use JOIN ... USING (uid)"
    ),
    "join-key": QueryRule(
        "tables can only be joined on uid", "use ON a.uid = b.uid, or USING (uid)"
    ),
    "join-without-key": QueryRule(
        "this join has no key", "use USING (uid), or a.uid = b.uid in ON or WHERE"
    ),
    "self-join": QueryRule(
        "a table cannot be joined with itself: both sides would be the same report",
        "name it once, and put the conditions of both sides into WHERE",
    ),
    "duplicate-alias": QueryRule(
        "two tables have the same name or alias", "rename one of them with AS"
    ),
    "unknown-table": QueryRule("there is no such table", "use SHOW TABLES to list the tables"),
    "unknown-column": QueryRule(
        "there is no such column", "use DESCRIBE table to list its columns"
    ),
    "ambiguous-column": QueryRule(
        "several tables have this column", "write the table in front of it, as in table.column"
    ),
    "uid": QueryRule(
        "uid can only be used to join tables and to count people",
        "count people with COUNT(uid) or COUNT(DISTINCT uid), and group by other columns",
    ),
    "large-column": QueryRule(
        "this column has more than 2^18 values, which is too many for conditions",
        "leave this column out, or collect it in buckets",
    ),
    "column-comparison": QueryRule(
        "two private columns can be compared only if one of them has at most 64 values",
        "compare each with constants, or compare months instead of days",
    ),
    "chained-comparison": QueryRule("comparisons cannot be chained", "use AND or BETWEEN"),
    "bare-column": QueryRule(
        "a column alone is not a condition", "compare it with something, as in column = 1"
    ),
    "like": QueryRule(
        "LIKE needs a column of labels and a pattern in quotes",
        "write % for any text and _ for any character, and compare numbers with = or BETWEEN",
    ),
    "null": QueryRule(
        "IS must be followed by NULL or NOT NULL", "write one of these, or compare with ="
    ),
    "range-category": QueryRule("labels have no order", "use =, <>, IN, NOT IN or LIKE"),
    "literal-type": QueryRule(
        "values of two different types are compared",
        "compare numbers with numbers, and labels and dates with texts in quotes",
    ),
    "too-many-terms": QueryRule(
        "the condition needs too many terms", "use fewer columns, or several queries"
    ),
    "group-expression": QueryRule(
        "this cannot be used in GROUP BY", "GROUP BY a column, or an expression of one column"
    ),
    "public-group": QueryRule(
        "GROUP BY cannot compute with a public column that has buckets or too many values",
        "GROUP BY the column itself",
    ),
    "ordinal": QueryRule(
        "there is no selected item at this position", "write a position counted from 1, or a name"
    ),
    "having-item": QueryRule(
        "HAVING can only compare aggregates such as COUNT(*)",
        "put conditions on columns into WHERE",
    ),
    "public-filter": QueryRule(
        "FILTER and CASE cannot use public columns", "put them into WHERE or GROUP BY"
    ),
    "public-expression": QueryRule(
        "this calculation with a public column is not supported",
        "compare it with constants in WHERE, or GROUP BY the expression",
    ),
    "distinct-people": QueryRule(
        "people cannot be counted in a list table",
        "use COUNT(*) to count its records, or count people in a single-record table",
    ),
    "expression": QueryRule(
        "this expression is not supported here",
        "use + - * /, comparisons, CASE, AND, OR and NOT over columns and constants",
    ),
    "arguments": QueryRule(
        "this function is given too few or too many arguments",
        "write the same arguments as in DuckDB, such as QUANTILE(column, 0.9)",
    ),
    "case-types": QueryRule(
        "the branches of CASE have different types", "write only numbers, or only texts"
    ),
    "duplicate-group": QueryRule("this column is in GROUP BY twice", "leave the second one out"),
    "too-many-groups": QueryRule(
        "there are too many groups",
        "group by fewer columns or by bands such as FLOOR(column / 10), or send several queries "
        "that each select some of the groups with WHERE",
    ),
    "too-many-numbers": QueryRule(
        "the answer has too many numbers", "select fewer, or group by fewer columns"
    ),
    "order-item": QueryRule(
        "ORDER BY cannot use what the query does not select",
        "ORDER BY the name of something selected, or a column of GROUP BY",
    ),
    "offset": QueryRule("FETCH is not supported", "use LIMIT and OFFSET"),
    "limit": QueryRule("this is not a valid number of rows", "write a whole number below 10^18"),
    "unknown-option": QueryRule("there is no such option", "use one of the options, or none"),
    "option-twice": QueryRule("this option is given twice", "leave the second one out"),
    "option-value": QueryRule("this is not a valid value of the option", "use an allowed value"),
}


class QueryError(LocatedError):
    """A query that is refused: the broken ``rule``, and where.

    ``line`` and ``column`` count from 1.
    """

    def __init__(self, rule: str, text: str = "", start: int = 0, detail: str = "") -> None:
        line = text.count("\n", 0, start) + 1
        column = start - text.rfind("\n", 0, start)
        position = f"(line {line}, column {column})"
        message = f"{RULES[rule].broken}{detail}; {RULES[rule].instead} {position}"
        super().__init__(message, line, column, text)
        self.rule = rule
        self._arguments = (rule, text, start, detail)


class Refusal(Exception):  # noqa: N818 - never leaves this package
    """A rule that is broken at an offset of the text."""

    def __init__(self, rule: str, start: int, detail: str = "") -> None:
        super().__init__(rule)
        self.rule = rule
        self.start = start
        self.detail = detail


@contextmanager
def located(text: str) -> Iterator[None]:
    """Turn a refusal at an offset into an error with line and column."""
    try:
        yield
    except Refusal as refusal:
        raise QueryError(refusal.rule, text, refusal.start, refusal.detail) from None
