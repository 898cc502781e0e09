"""What a question in SQL cannot say: one rule, one sentence and one place for every refusal."""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import ParameterError

RULES = {
    "empty": "there is no question",
    "too-long": "a question is too long: fewer characters, fewer conditions or fewer terms",
    "nesting": "parentheses and signs are nested too deeply",
    "syntax": "this cannot stand here",
    "not-select": "a question begins with SELECT, or with EXPLAIN SELECT",
    "several-statements": "there is one question at a time",
    "cte": "WITH in front of SELECT is not supported",
    "union": "UNION, INTERSECT and EXCEPT are not supported",
    "subquery": "a query inside a query is not supported",
    "select-star": "SELECT * would show people: select numbers such as COUNT(*)",
    "select-expression": "what is selected is a column of GROUP BY, or COUNT, FREQ, SUM, AVG or STDDEV on its own",
    "no-aggregate": "a question asks for at least one number: COUNT, FREQ, SUM, AVG or STDDEV",
    "not-grouped": "a column is selected only if it is in GROUP BY",
    "column-alias": "only numbers are renamed with AS, columns keep their names",
    "duplicate-name": "two things that are selected have the same name",
    "name": "a name is letters, digits and _, and at most 63 of them",
    "distinct": "DISTINCT is not supported: nobody can tell equal values of two people apart from noise",
    "count-column": "COUNT and FREQ take a star: COUNT(*)",
    "order-statistic": "MIN, MAX, MEDIAN and quantiles are not supported",
    "function": "the only functions are COUNT, FREQ, SUM, AVG and STDDEV",
    "aggregate-condition": "a condition is about columns, not about COUNT, SUM and the like",
    "window": "window functions are not supported",
    "filter": "FILTER is not supported: use WHERE",
    "case": "CASE is not supported",
    "cast": "casts are not supported",
    "division": "numbers are not divided: multiply by a constant",
    "product": "columns are not multiplied with each other, only with constants",
    "constant-term": "a constant cannot be added to a column: add it to the answer",
    "empty-sum": "the columns cancel out",
    "number": "this is not a finite number",
    "category-measure": "labels are counted, not added: SUM, AVG and STDDEV take columns of numbers",
    "stddev-columns": "STDDEV takes one column",
    "outer-join": "joins are inner joins: LEFT, RIGHT, FULL, SEMI and ANTI are not supported",
    "cross-join": "joins are on uid: CROSS, NATURAL and LATERAL are not supported",
    "comma-join": "tables are joined with JOIN ... USING (uid), not with a comma",
    "join-key": "tables are joined on uid alone, as in JOIN b ON a.uid = b.uid or JOIN b USING (uid)",
    "join-without-key": "a join needs USING (uid), or ON a.uid = b.uid",
    "self-join": "a table cannot be joined with itself: both sides would be the same report",
    "duplicate-alias": "two tables have the same name or alias",
    "unknown-table": "there is no such table here",
    "unknown-column": "there is no such column here",
    "ambiguous-column": "several tables have this column: put the table's name in front",
    "uid": "uid joins tables, and cannot be selected, compared, added or grouped by",
    "large-column": "conditions are about columns of at most 2^18 values",
    "column-comparison": "a column is compared with numbers or strings, not with another column",
    "literal-comparison": "a condition needs a column",
    "chained-comparison": "comparisons are not chained: use AND or BETWEEN",
    "bare-column": "a column alone is not a condition: compare it with something",
    "condition-arithmetic": "conditions do not calculate: compare a column with a number or string",
    "like": "LIKE and other patterns are not supported: list labels with IN",
    "null": "there are no missing values: NULL is not supported",
    "boolean": "TRUE and FALSE are not supported",
    "range-category": "labels have no order: use =, <>, IN or NOT IN",
    "literal-type": "numbers are compared with numbers, labels with strings",
    "too-many-terms": "the condition falls apart into too many parts: ask about fewer columns, or in several questions",
    "having": "HAVING is not supported: groups are cut by ORDER BY and LIMIT",
    "group-expression": "GROUP BY takes columns",
    "duplicate-group": "a column is grouped by once",
    "too-many-groups": "there are too many groups",
    "order-several": "ORDER BY takes one item",
    "order-item": "ORDER BY takes the name of something selected, or a column of GROUP BY",
    "offset": "OFFSET is not supported",
    "limit": "LIMIT takes a whole number below 10^18",
    "unknown-option": "there is no such option",
    "option-twice": "an option is given once",
    "option-value": "an option has a value of its own kind",
}


class QueryError(ParameterError):
    """A question that cannot be answered as it is written; ``line`` and ``column`` count from 1."""

    def __init__(self, rule: str, text: str = "", start: int = 0, detail: str = "") -> None:
        self.rule = rule
        self.line = text.count("\n", 0, start) + 1
        self.column = start - text.rfind("\n", 0, start)
        super().__init__(f"{RULES[rule]}{detail} (line {self.line}, column {self.column})")


class Refusal(Exception):  # noqa: N818 - never leaves this package
    """A rule that is broken at an offset of the text."""

    def __init__(self, rule: str, start: int, detail: str = "") -> None:
        super().__init__(rule)
        self.rule, self.start, self.detail = rule, start, detail


@contextmanager
def located(text: str) -> Iterator[None]:
    """Turn offsets into lines and columns."""
    try:
        yield
    except Refusal as refusal:
        raise QueryError(refusal.rule, text, refusal.start, refusal.detail) from None
