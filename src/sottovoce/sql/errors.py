"""Why a query is refused: one rule, one sentence and one position for every refusal."""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import ParameterError
from sottovoce.sql.aggregates.base import aggregates


def _listed(names: list[str], word: str) -> str:
    """Return names as a list in words."""
    *rest, last = names
    return f"{', '.join(rest)} {word} {last}" if rest else last


_BY_NAME = {kind.sql_names[0]: kind for kind in aggregates().values()}
_MEASURES = [name for name, kind in _BY_NAME.items() if kind.argument not in ("star", "condition")]
_SINGLE = [
    name for name, kind in _BY_NAME.items() if kind.argument in ("column", "ordered", "share")
]
_ANY_OF = _listed(list(_BY_NAME), "or")
_ALL_OF = _listed(list(_BY_NAME), "and")
_OF_NUMBERS = _listed(_MEASURES, "and")
_OF_COLUMN = _listed(_SINGLE, "and")

RULES = {
    "empty": "the query is empty",
    "too-long": "the query is too long: use fewer characters, conditions or terms",
    "nesting": "parentheses and signs are nested too deeply",
    "syntax": "this is not expected here",
    "not-select": "a query begins with SELECT or EXPLAIN SELECT",
    "several-statements": "send one query at a time",
    "union": "UNION, INTERSECT and EXCEPT are not supported",
    "subquery": "a query stands inside another as a table of FROM, or in uid IN (SELECT uid ...)",
    "inner-query": "a query inside a query selects columns: compute numbers in the outer one",
    "semi-join": "who has a record in a table of lists is not known: JOIN it to count the records",
    "exists-key": "EXISTS needs inner.uid = outer.uid in its WHERE",
    "select-star": "SELECT * is not supported: the records of single people are not known",
    "select-expression": f"select a column of GROUP BY, or {_ANY_OF} on its own",
    "no-aggregate": f"a query selects at least one number: {_ANY_OF}",
    "not-grouped": "a column is selected only if it is in GROUP BY",
    "duplicate-name": "two things that are selected have the same name",
    "name": "a name is letters, digits and _, and at most 63 of them",
    "distinct": "DISTINCT is not supported: the values of single people are not known",
    "public-quantile": "quantiles, MIN and MAX are of private columns: GROUP BY the public column",
    "quantile-formula": "select quantiles, MIN and MAX on their own: nothing is computed with them",
    "parameter": "a parameter, ? or :name, needs a value: a text, a number, True, False or None",
    "share": "the share of a quantile is a number from 0 to 1",
    "function": f"the only functions are {_ALL_OF}, ABS, CEIL, FLOOR, MOD, ROUND, SQRT, "
    "EXTRACT, DATE_TRUNC and parts of dates such as YEAR and MONTH",
    "date": "a date is written 'YYYY-MM-DD', or 'YYYY-MM-DD HH:MM' with a time",
    "date-unit": "dates are truncated to, or counted in, one of these",
    "date-part": "the parts of a date are these",
    "not-a-date": "this takes a column of dates, or a date in quotes",
    "interval": "an interval is a whole number of units, such as INTERVAL '7 days'",
    "date-arithmetic": "a date plus or minus an INTERVAL or whole days, or the days between two "
    "dates: d - e",
    "date-measure": "dates are not added: COUNT(*) by month, MEDIAN(d), or AVG(d - DATE "
    "'2024-01-01')",
    "date-difference": "the days between a public and a private date are not known: GROUP BY the "
    "public one",
    "now": "what is asked must not depend on when: write the date, as in DATE '2024-05-17'",
    "aggregate-condition": "a condition is about columns, not about aggregates such as COUNT",
    "window": "window functions are not supported",
    "cast": "casts are not supported, except of a text to DATE or TIMESTAMP",
    "product": "an aggregate adds up products of expressions, each about another column",
    "empty-sum": "the columns cancel out",
    "number": "this is not a finite number",
    "category-measure": f"labels cannot be added: {_OF_NUMBERS} take columns of numbers",
    "one-column": f"one column, not a sum or product of columns, is allowed in {_OF_COLUMN}",
    "outer-join": "use JOIN, or LEFT JOIN with ON a.uid = b.uid alone, from the other side",
    "outer-list": "after LEFT JOIN of a table of lists, count and add up columns of that table",
    "cross-join": "joins are on uid: CROSS, NATURAL and LATERAL are not supported",
    "join-key": "tables are joined on uid alone: use ON a.uid = b.uid, or USING (uid)",
    "join-without-key": "a join needs USING (uid), or a.uid = b.uid in ON or WHERE",
    "self-join": "a table cannot be joined with itself: both sides would be the same report",
    "duplicate-alias": "two tables have the same name or alias",
    "unknown-table": "there is no such table here",
    "unknown-column": "there is no such column here",
    "ambiguous-column": "several tables have this column: put the table's name in front",
    "uid": "uid joins tables, and cannot be selected, compared, added or grouped by",
    "large-column": "conditions are about columns of at most 2^18 values",
    "column-comparison": "two private columns are compared only if one of them has at most 64 "
    "values: compare each with constants, or ask for months instead of days",
    "chained-comparison": "comparisons are not chained: use AND or BETWEEN",
    "bare-column": "a column alone is not a condition: compare it with something",
    "like": "LIKE takes labels and a pattern in quotes: % is any text, _ any character",
    "null": "IS is followed by NULL or NOT NULL",
    "range-category": "labels have no order: use =, <>, IN or NOT IN",
    "literal-type": "numbers are compared with numbers, labels and dates with strings",
    "too-many-terms": "the condition needs too many terms: use fewer columns, or several queries",
    "group-expression": "GROUP BY takes a column, or an expression of one column",
    "public-group": "public buckets, and columns of many values, are grouped by as they are",
    "ordinal": "this number must be that of a selected item, from 1 on",
    "having-item": "HAVING compares numbers such as COUNT(*): conditions on columns go to WHERE",
    "public-filter": "FILTER and CASE take private columns: put public ones into WHERE or GROUP BY",
    "public-expression": "this public column is compared with constants, not computed with",
    "distinct-people": "in a table of lists records are counted, not people: use COUNT(*)",
    "expression": "this cannot be computed here",
    "arguments": "this function takes another number of arguments",
    "case-types": "the branches of CASE must all be numbers, or all be texts",
    "duplicate-group": "a column is grouped by once",
    "too-many-groups": "there are too many groups",
    "too-many-numbers": "the answer has too many numbers: select fewer, or group by fewer columns",
    "order-item": "ORDER BY takes the name of something selected, or a column of GROUP BY",
    "offset": "FETCH is not supported: use LIMIT and OFFSET",
    "limit": "LIMIT takes a whole number below 10^18",
    "unknown-option": "there is no such option",
    "option-twice": "an option is given once",
    "option-value": "the option does not take this value",
}


class QueryError(ParameterError):
    """A query that is refused: the broken ``rule``, and where.

    ``line`` and ``column`` count from 1.
    """

    def __init__(self, rule: str, text: str = "", start: int = 0, detail: str = "") -> None:
        self.rule = rule
        self._made_from = (rule, text, start, detail)
        self.line = text.count("\n", 0, start) + 1
        self.column = start - text.rfind("\n", 0, start)
        self._source = [*text.split("\n"), ""][self.line - 1]
        super().__init__(f"{RULES[rule]}{detail} (line {self.line}, column {self.column})")

    def __reduce__(self) -> tuple[type["QueryError"], tuple[object, ...]]:
        return type(self), self._made_from  # errors travel between processes

    @property
    def before(self) -> str:
        """Return the refused line up to the position."""
        return self._source[: self.column - 1]

    @property
    def after(self) -> str:
        """Return the refused line from the position on."""
        return self._source[self.column - 1 :]

    @property
    def caret(self) -> str:
        """Return the refused line with a caret below the position.

        >>> print(QueryError("syntax", "SELECT 1", 7).caret)
        SELECT 1
               ^
        """
        indent = "".join("\t" if letter == "\t" else " " for letter in self.before)
        return f"{self._source}\n{indent.ljust(self.column - 1)}^"


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
