"""Why a query is refused: one rule, one sentence and one position for every refusal."""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import ParameterError
from sottovoce.sql.aggregates.base import aggregates


def _listed(names: list[str], word: str) -> str:
    """Return names as a list in words."""
    *rest, last = names
    return f"{', '.join(rest)} {word} {last}" if rest else last


_STARS = [name for name, kind in aggregates().items() if kind.argument == "star"]
_MEASURES = [name for name, kind in aggregates().items() if kind.argument != "star"]
_SINGLE = [name for name, kind in aggregates().items() if kind.argument == "column"]
_ANY_OF = _listed(list(aggregates()), "or")
_ALL_OF = _listed(list(aggregates()), "and")
_OF_NUMBERS = _listed(_MEASURES, "and")
_OF_COLUMN = _listed(_SINGLE, "and")

RULES = {
    "empty": "the query is empty",
    "too-long": "the query is too long: use fewer characters, conditions or terms",
    "nesting": "parentheses and signs are nested too deeply",
    "syntax": "this is not expected here",
    "not-select": "a query begins with SELECT or EXPLAIN SELECT",
    "several-statements": "send one query at a time",
    "cte": "WITH in front of SELECT is not supported",
    "union": "UNION, INTERSECT and EXCEPT are not supported",
    "subquery": "a query inside a query is not supported",
    "select-star": "SELECT * is not supported: the records of single people are not known",
    "select-expression": f"select a column of GROUP BY, or {_ANY_OF} on its own",
    "no-aggregate": f"a query selects at least one number: {_ANY_OF}",
    "not-grouped": "a column is selected only if it is in GROUP BY",
    "duplicate-name": "two things that are selected have the same name",
    "name": "a name is letters, digits and _, and at most 63 of them",
    "distinct": "DISTINCT is not supported: the values of single people are not known",
    "public-quantile": "quantiles, MIN and MAX are of private columns: GROUP BY the public column",
    "quantile-formula": "select quantiles, MIN and MAX on their own: nothing is computed with them",
    "share": "the share of a quantile is a number from 0 to 1",
    "function": f"the only functions are {_ALL_OF}, ABS, CEIL, FLOOR, MOD, ROUND and SQRT",
    "aggregate-condition": "a condition is about columns, not about aggregates such as COUNT",
    "window": "window functions are not supported",
    "cast": "casts are not supported",
    "product": "an expression in an aggregate is a sum of parts about one private column each",
    "empty-sum": "the columns cancel out",
    "number": "this is not a finite number",
    "category-measure": f"labels cannot be added: {_OF_NUMBERS} take columns of numbers",
    "one-column": f"one column, not a sum of columns, is allowed in {_OF_COLUMN}",
    "outer-join": "joins are inner joins: LEFT, RIGHT, FULL, SEMI and ANTI are not supported",
    "cross-join": "joins are on uid: CROSS, NATURAL and LATERAL are not supported",
    "comma-join": "tables are joined with JOIN ... USING (uid), not with a comma",
    "join-key": "tables are joined on uid alone: use ON a.uid = b.uid, or USING (uid)",
    "join-without-key": "a join needs USING (uid), or ON a.uid = b.uid",
    "self-join": "a table cannot be joined with itself: both sides would be the same report",
    "duplicate-alias": "two tables have the same name or alias",
    "unknown-table": "there is no such table here",
    "unknown-column": "there is no such column here",
    "ambiguous-column": "several tables have this column: put the table's name in front",
    "uid": "uid joins tables, and cannot be selected, compared, added or grouped by",
    "large-column": "conditions are about columns of at most 2^18 values",
    "column-comparison": "two columns are compared only if one of them has at most 64 values",
    "chained-comparison": "comparisons are not chained: use AND or BETWEEN",
    "bare-column": "a column alone is not a condition: compare it with something",
    "like": "LIKE takes labels and a pattern in quotes: % is any text, _ any character",
    "null": "IS is followed by NULL or NOT NULL",
    "range-category": "labels have no order: use =, <>, IN or NOT IN",
    "literal-type": "numbers are compared with numbers, labels with strings",
    "too-many-terms": "the condition needs too many terms: use fewer columns, or several queries",
    "group-expression": "GROUP BY takes a column, or an expression of one column",
    "public-group": "a public column is grouped by as it is: GROUP BY the column itself",
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
