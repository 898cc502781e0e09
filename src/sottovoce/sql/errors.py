"""Why a query is refused: the rule that it breaks, what to ask instead, and the position."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sottovoce.core.located import LocatedError
from sottovoce.sql.aggregates.base import aggregates
from sottovoce.sql.aggregates.call import MAX_PUBLIC_VALUES


def _listed(names: list[str], word: str) -> str:
    """Return names as a list in words."""
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
        "parentheses and signs are nested too deeply", "leave out those that change nothing"
    ),
    "syntax": QueryRule(
        "this is not expected here",
        "write SELECT ... FROM table, then JOIN, WHERE, GROUP BY, HAVING, ORDER BY and LIMIT in "
        "this order",
    ),
    "not-select": QueryRule(
        "a query only reads", "begin with SELECT, WITH, EXPLAIN SELECT, DESCRIBE or SHOW TABLES"
    ),
    "several-statements": QueryRule("this is more than one query", "send one query at a time"),
    "union": QueryRule(
        "UNION, INTERSECT and EXCEPT are not supported",
        "send one query for each part, or put the parts together with OR, AND and NOT in WHERE",
    ),
    "subquery": QueryRule(
        "a query cannot stand here inside another",
        "ask for its number first and write that down, or put the query into FROM, or into "
        "uid IN (SELECT uid ...)",
    ),
    "inner-query": QueryRule(
        "a query inside a query selects columns alone",
        "compute numbers, groups and limits in the outer one",
    ),
    "semi-join": QueryRule(
        "who has a record in a table of lists is not known", "JOIN it to count the records"
    ),
    "exists-key": QueryRule("EXISTS needs the uid", "write inner.uid = outer.uid in its WHERE"),
    "select-star": QueryRule(
        "the records of single people are not known", f"select a number instead of *: {_ANY_OF}"
    ),
    "select-expression": QueryRule(
        "this is neither a group nor a number", f"select a column of GROUP BY, or {_ANY_OF}"
    ),
    "no-aggregate": QueryRule(
        "the query selects no number", f"select at least one: {_ANY_OF}, by groups if you like"
    ),
    "not-grouped": QueryRule(
        "this column is not in GROUP BY", "add it there, or select a number such as AVG(column)"
    ),
    "duplicate-name": QueryRule(
        "two things that are selected have the same name", "give one of them another one with AS"
    ),
    "name": QueryRule("this is not a name", "use letters, digits and _, and at most 63 of them"),
    "distinct": QueryRule(
        "the different values of single people are not known",
        "COUNT(*) GROUP BY the column says how often each value occurs, COUNT(DISTINCT uid) counts "
        "people",
    ),
    "public-quantile": QueryRule(
        "MEDIAN, QUANTILE, MIN and MAX take a public column of whole numbers or dates by itself, "
        f"of at most {MAX_PUBLIC_VALUES:,} values",
        "GROUP BY the public column, or ask for AVG",
    ),
    "quantile-formula": QueryRule(
        "of quantiles, MIN and MAX only sums, differences and multiples are computed, and of dates "
        "only differences",
        "select them and the other numbers one by one",
    ),
    "parameter": QueryRule(
        "a parameter, ? or :name, has no value",
        "pass one: a text, a number, True, False or None",
    ),
    "share": QueryRule("this is not the share of a quantile", "write a number from 0 to 1"),
    "function": QueryRule(
        "this is no function here",
        f"use {_ANY_OF}, ABS, CEIL, FLOOR, MOD, ROUND, SQRT, EXTRACT, DATE_TRUNC or YEAR",
    ),
    "date": QueryRule(
        "this is not a date", "write 'YYYY-MM-DD', or 'YYYY-MM-DD HH:MM' with a time"
    ),
    "date-unit": QueryRule(
        "dates are not truncated to, or counted in, this", "use one of the units"
    ),
    "date-part": QueryRule("a date has no such part", "use one of the parts"),
    "not-a-date": QueryRule("this is not a date", "write a column of dates, or a date in quotes"),
    "interval": QueryRule(
        "this is not an interval", "write a whole number of units, such as INTERVAL '7 days'"
    ),
    "date-arithmetic": QueryRule(
        "dates are not computed with like this",
        "add or take away an INTERVAL or whole days, or ask for the days between two dates: d - e",
    ),
    "date-measure": QueryRule(
        "dates are not added",
        "ask for COUNT(*) by month, MEDIAN(d), or AVG(d - DATE '2024-01-01')",
    ),
    "date-difference": QueryRule(
        "the days between a public and a private date are not known", "GROUP BY the public one"
    ),
    "now": QueryRule(
        "what is asked must not depend on when", "write the date, as in DATE '2024-05-17'"
    ),
    "aggregate-condition": QueryRule(
        "a condition on records is about columns, not about aggregates such as COUNT",
        "compare aggregates in HAVING",
    ),
    "window": QueryRule(
        "window functions are not supported",
        "GROUP BY the column of PARTITION BY, and rank with ORDER BY and LIMIT",
    ),
    "cast": QueryRule(
        "casts are not supported, except of a text to DATE or TIMESTAMP",
        "compare a number with a number, and round it with ROUND, FLOOR or CEIL",
    ),
    "product": QueryRule(
        "the columns are not multiplied, divided or put into a function like this",
        "an aggregate adds up products of expressions, each about another column",
    ),
    "empty-sum": QueryRule("the columns cancel out", "ask for COUNT(*)"),
    "number": QueryRule("this is not a finite number", "write one, such as 12 or 0.5"),
    "category-measure": QueryRule(
        "labels cannot be added",
        f"{_OF_NUMBERS} take columns of numbers; of labels ask for COUNT(*) GROUP BY the column",
    ),
    "one-column": QueryRule(
        "this takes one column, not a sum or product of columns",
        f"write one column in {_OF_COLUMN}, or ask for AVG of the sum or product",
    ),
    "outer-join": QueryRule(
        "RIGHT and FULL joins, and LEFT JOIN with more than ON a.uid = b.uid, are not supported",
        "use JOIN, or LEFT JOIN from the other side, and put conditions into WHERE",
    ),
    "outer-list": QueryRule(
        "after LEFT JOIN of a table of lists people without a record are not counted",
        "count and add up columns of that table, or JOIN it",
    ),
    "cross-join": QueryRule(
        "CROSS, NATURAL and LATERAL joins are not supported", "use JOIN ... USING (uid)"
    ),
    "join-key": QueryRule("tables are joined on uid alone", "use ON a.uid = b.uid, or USING (uid)"),
    "join-without-key": QueryRule(
        "this join has no key", "use USING (uid), or a.uid = b.uid in ON or WHERE"
    ),
    "self-join": QueryRule(
        "a table cannot be joined with itself: both sides would be the same report",
        "name it once, and put the conditions of both sides into WHERE",
    ),
    "duplicate-alias": QueryRule(
        "two tables have the same name or alias", "give one of them another one with AS"
    ),
    "unknown-table": QueryRule("there is no such table here", "SHOW TABLES lists them"),
    "unknown-column": QueryRule("there is no such column here", "DESCRIBE table lists them"),
    "ambiguous-column": QueryRule(
        "several tables have this column", "put the table's name in front, as in table.column"
    ),
    "uid": QueryRule(
        "uid joins tables, and cannot be selected, compared, added or grouped by",
        "count people with COUNT(uid) or COUNT(DISTINCT uid), and group by other columns",
    ),
    "large-column": QueryRule(
        "conditions are about columns of at most 2^18 values",
        "leave this column out, or collect it in buckets",
    ),
    "column-comparison": QueryRule(
        "two private columns are compared only if one of them has at most 64 values",
        "compare each with constants, or ask for months instead of days",
    ),
    "chained-comparison": QueryRule("comparisons are not chained", "use AND or BETWEEN"),
    "bare-column": QueryRule(
        "a column alone is not a condition", "compare it with something, as in column = 1"
    ),
    "like": QueryRule(
        "LIKE takes a column of labels and a pattern in quotes",
        "write % for any text and _ for any character, and compare numbers with = or BETWEEN",
    ),
    "null": QueryRule(
        "IS is not followed by this", "write IS NULL or IS NOT NULL, or compare with ="
    ),
    "range-category": QueryRule("labels have no order", "use =, <>, IN, NOT IN or LIKE"),
    "literal-type": QueryRule(
        "these two are not alike", "compare numbers with numbers, labels and dates with strings"
    ),
    "too-many-terms": QueryRule(
        "the condition needs too many terms", "use fewer columns, or several queries"
    ),
    "group-expression": QueryRule(
        "this is not grouped by", "GROUP BY a column, or an expression of one column"
    ),
    "public-group": QueryRule(
        "public buckets, and columns of many values, are not computed with in GROUP BY",
        "GROUP BY the column as it is",
    ),
    "ordinal": QueryRule(
        "there is no selected item of this number", "write its position, from 1 on, or its name"
    ),
    "having-item": QueryRule(
        "HAVING compares numbers such as COUNT(*)", "put conditions on columns into WHERE"
    ),
    "public-filter": QueryRule(
        "FILTER and CASE take private columns", "put public ones into WHERE or GROUP BY"
    ),
    "public-expression": QueryRule(
        "this public column is not computed with",
        "compare it with constants in WHERE, or GROUP BY the expression",
    ),
    "distinct-people": QueryRule(
        "in a table of lists records are counted, not people",
        "use COUNT(*), or count people in a table of one record each",
    ),
    "expression": QueryRule(
        "this cannot be computed here",
        "use + - * /, comparisons, CASE, AND, OR and NOT over columns and constants",
    ),
    "arguments": QueryRule(
        "this function takes another number of arguments",
        "write those that it has in DuckDB, such as QUANTILE(column, 0.9)",
    ),
    "case-types": QueryRule(
        "the branches of CASE are not alike", "let all be numbers, or all be texts"
    ),
    "duplicate-group": QueryRule("a column is grouped by once", "leave the second one out"),
    "too-many-groups": QueryRule(
        "there are too many groups",
        "group by fewer columns, or in bands such as FLOOR(column / 10), or use WHERE for some of "
        "the groups at a time",
    ),
    "too-many-numbers": QueryRule(
        "the answer has too many numbers", "select fewer, or group by fewer columns"
    ),
    "order-item": QueryRule(
        "this is not in the answer",
        "ORDER BY the name of something selected, or a column of GROUP BY",
    ),
    "offset": QueryRule("FETCH is not supported", "use LIMIT and OFFSET"),
    "limit": QueryRule("this is not a number of rows", "write a whole number below 10^18"),
    "unknown-option": QueryRule("there is no such option", "use one of those, or none"),
    "option-twice": QueryRule("an option is given once", "leave the second one out"),
    "option-value": QueryRule("the option does not take this value", "use a value that it takes"),
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
