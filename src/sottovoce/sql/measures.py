"""The argument of SUM, AVG and the like: an expression becomes a sum of terms, one column each.

Sums, differences, and products with constants are taken apart.  What remains and is about one
private column is a number for each of its values (``evaluate``).  CASE over several columns becomes
one term per branch, each under the conditions of its branch.
"""

from dataclasses import dataclass, replace
from itertools import product
from math import isfinite

import numpy as np
from sqlglot import exp

from sottovoce.sql import dates
from sottovoce.sql.aggregates.base import ValueFunction
from sottovoce.sql.conditions import Condition, Within
from sottovoce.sql.errors import Refusal
from sottovoce.sql.evaluate import Values, evaluate
from sottovoce.sql.grammar import start
from sottovoce.sql.query import EVERYBODY, NOBODY, Column
from sottovoce.sql.where import (
    LARGEST_COLUMN,
    ConditionReader,
    conjunction,
    disjunction,
    negation,
)


@dataclass(frozen=True, eq=False)
class ConditionalTerm:
    """``factor`` times a column, or times a function of it, for records of which ``where`` holds.

    Without a column it is the factor alone.
    """

    factor: float
    column: Column | None = None
    function: ValueFunction | None = None
    where: Condition = EVERYBODY
    times: "tuple[ConditionalTerm, ...]" = ()

    @property
    def key(self) -> object:
        """Return what terms have in common that can be added up."""
        factors = tuple((factor.column, factor.function) for factor in self.factors)
        return factors, id(self.where) if self.where != EVERYBODY else 0

    @property
    def factors(self) -> "tuple[ConditionalTerm, ...]":
        """Return the columns that are multiplied, each as a term of its own."""
        return () if self.column is None else (self, *self.times)


@dataclass(frozen=True, eq=False)
class MeasuredSum:
    """A sum of terms, for records of which ``present`` holds; for others it is NULL."""

    terms: tuple[ConditionalTerm, ...]
    present: Condition = EVERYBODY

    def times(self, factor: float) -> "MeasuredSum":
        """Return the measure times a number."""
        scaled = [replace(term, factor=factor * term.factor) for term in self.terms]
        return MeasuredSum(tuple(scaled), self.present)

    def plus(self, other: "MeasuredSum") -> "MeasuredSum":
        """Return the sum of two measures, which is NULL where one of them is."""
        present = conjunction([self.present, other.present])
        return MeasuredSum((*self.terms, *other.terms), present)

    def product(self, other: "MeasuredSum") -> "MeasuredSum | None":
        """Return the product of two measures about different columns; None if they share one."""
        terms = []
        for left, right in product(self.terms, other.terms):
            factors = [replace(each, times=()) for each in (*left.factors, *right.factors)]
            columns = [factor.column for factor in factors]
            if len(set(columns)) < len(columns):
                return None
            where = conjunction([left.where, right.where])
            number = left.factor * right.factor
            if factors:
                first, *rest = factors
                terms.append(replace(first, factor=number, where=where, times=tuple(rest)))
            else:
                terms.append(ConditionalTerm(number, where=where))
        return MeasuredSum(tuple(terms), conjunction([self.present, other.present]))

    def under(self, where: Condition) -> "MeasuredSum":
        """Return the measure for records that meet one more condition; for others it is NULL."""
        terms = [replace(term, where=conjunction([where, term.where])) for term in self.terms]
        return MeasuredSum(tuple(terms), conjunction([where, self.present]))

    def collected(self) -> "MeasuredSum":
        """Return the measure with terms that differ in their factor alone added up."""
        alike: dict[object, list[ConditionalTerm]] = {}
        for term in self.terms:
            alike.setdefault(term.key, []).append(term)
        summed = [
            replace(terms[0], factor=sum(term.factor for term in terms)) for terms in alike.values()
        ]
        return MeasuredSum(tuple(term for term in summed if term.factor), self.present)


@dataclass(frozen=True)
class MeasureReader:
    """Reads the measures of one query."""

    conditions: ConditionReader

    def measure(self, node: exp.Expr) -> MeasuredSum:
        """Return what an expression adds up, or refuse it."""
        measure = self._measure(node).collected()
        if not all(isfinite(term.factor) for term in measure.terms):
            raise Refusal("number", start(node))
        return measure

    def _measure(self, node: exp.Expr) -> MeasuredSum:
        columns = self.conditions.columns(node)
        if not columns:
            return _constant(evaluate(node, _refuse_column), node)
        if isinstance(node, exp.Column):
            return self._column(node, columns[0])
        if self._is_date(columns[0]) and len(columns) == 1:
            return self._function(node, columns[0])
        if isinstance(node, exp.Neg):
            return self._measure(node.this).times(-1.0)
        between = self._between_dates(node)
        if between is not None:
            return between
        if isinstance(node, (exp.Add, exp.Sub)):
            sign = 1.0 if isinstance(node, exp.Add) else -1.0
            return self._measure(node.this).plus(self._measure(node.expression).times(sign))
        scaled = self._scaled(node)
        if scaled is not None:
            return scaled
        if len(columns) == 1 and not columns[0].public:
            return self._function(node, columns[0])
        if isinstance(node, exp.Case):
            return self._case(node)
        if isinstance(node, (exp.Mul, exp.Div)):
            return self._product(node)
        raise Refusal("product", start(node))

    def _product(self, node: exp.Mul | exp.Div) -> MeasuredSum:
        """Return a product of expressions of different columns, or a quotient by one column."""
        factor = node.expression
        if isinstance(node, exp.Div):
            columns = self.conditions.columns(factor)
            if len(columns) != 1:
                raise Refusal("product", start(factor))
            if columns[0].public:
                raise Refusal("public-expression", start(factor))
            one = exp.Literal.number("1")
            one.meta["start"] = start(factor)
            factor = exp.Div(this=one, expression=factor.copy())
            factor.meta["start"] = start(node.expression)
        made = self._measure(node.this).product(self._measure(factor))
        if made is None or any(_public_count(term) > 1 for term in made.terms):
            raise Refusal("product", start(node))
        return made

    def dated(self, node: exp.Expr) -> MeasuredSum | None:
        """Return a date that is an expression of one private column, as days from the beginning of
        1970; None for anything else.
        """
        columns = self.conditions.columns(node)
        if len(columns) != 1 or columns[0].public or not self._is_date(columns[0]):
            return None
        values = self._evaluated(node, columns[0])
        if values.kind != "date":
            return None
        days = Values("number", values.array / dates.DAY, values.present)
        return self._by_value(node, columns[0], days)

    def _between_dates(self, node: exp.Expr) -> MeasuredSum | None:
        """Return the days, or other units, between dates of two columns; None for anything else."""
        columns = self.conditions.columns(node)
        if len(columns) != 2 or not all(map(self._is_date, columns)):
            return None
        if any(column.public for column in columns):
            raise Refusal("date-difference", start(node))
        if isinstance(node, exp.Sub):
            parts = [self.dated(node.this), self.dated(node.expression)]
        elif isinstance(node, exp.Anonymous) and node.this in ("DATE_DIFF", "DATEDIFF"):
            self._check_date_diff(node)
            parts = [self._measure(_since_1970(node, index)) for index in (2, 1)]
        else:
            return None
        left, right = parts
        if left is None or right is None:
            raise Refusal("date-difference", start(node))
        return left.plus(right.times(-1.0))

    def _check_date_diff(self, call: exp.Anonymous) -> None:
        """Refuse a difference of two columns that are not one in each of its dates."""
        if len(call.expressions) != 3:
            raise Refusal("arguments", start(call))
        counts = [len(self.conditions.columns(argument)) for argument in call.expressions]
        if counts != [0, 1, 1]:
            raise Refusal("date-arithmetic", start(call))

    def _is_date(self, column: Column) -> bool:
        return self.conditions.scope.kind(column).value_type == "date"

    def _column(self, node: exp.Column, column: Column) -> MeasuredSum:
        value_type = self.conditions.scope.kind(column).value_type
        if value_type == "date":
            raise Refusal("date-measure", start(node))
        if value_type == "text":
            raise Refusal("category-measure", start(node))
        return MeasuredSum((ConditionalTerm(1.0, column),))

    def _scaled(self, node: exp.Expr) -> MeasuredSum | None:
        """Return a product with a constant, or a quotient by one; None for anything else."""
        if isinstance(node, exp.Mul):
            for part, other in ((node.this, node.expression), (node.expression, node.this)):
                if not part.find(exp.Column):
                    return self._measure(other).times(_number(part))
        if isinstance(node, exp.Div) and not node.expression.find(exp.Column):
            divisor = _number(node.expression)
            if not divisor:
                raise Refusal("number", start(node.expression))
            return self._measure(node.this).times(1 / divisor)
        return None

    def _function(self, node: exp.Expr, column: Column) -> MeasuredSum:
        """Return an expression of one private column as a number for each of its values."""
        values = self._evaluated(node, column)
        if values.kind == "date":
            raise Refusal("date-measure", start(node))
        if values.kind != "number":
            raise Refusal("category-measure", start(node))
        return self._by_value(node, column, values)

    def _evaluated(self, node: exp.Expr, column: Column) -> Values:
        """Return what an expression is for every value of a private column."""
        if column.public:
            raise Refusal("public-expression", start(node))
        if self.conditions.scope.kind(column).size > LARGEST_COLUMN:
            raise Refusal("large-column", start(node))
        known = self.conditions.values(column)
        return evaluate(node, lambda _: known)

    def _by_value(self, node: exp.Expr, column: Column, values: Values) -> MeasuredSum:
        size = self.conditions.scope.kind(column).size
        present = np.broadcast_to(values.present, size)
        numbers = np.where(present, np.asarray(values.array, float), 0.0)
        function = ValueFunction(text_of(node, self.conditions), numbers)
        measure = MeasuredSum((ConditionalTerm(1.0, column, function),))
        return measure if present.all() else measure.under(Within(column, np.array(present)))

    def _case(self, node: exp.Case) -> MeasuredSum:
        """Return CASE over several columns: every branch under its own conditions."""
        before: list[Condition] = []
        branches: list[MeasuredSum] = []
        for branch in node.args["ifs"]:
            condition = self.conditions.condition(branch.this)
            own = conjunction([condition, *map(negation, before)])
            branches.append(self._measure(branch.args["true"]).under(own))
            before.append(condition)
        default = node.args.get("default")
        if default is not None and not isinstance(default, exp.Null):
            rest = conjunction([negation(condition) for condition in before])
            branches.append(self._measure(default).under(rest))
        return MeasuredSum(
            tuple(term for branch in branches for term in branch.terms),
            EVERYBODY if default is not None else disjunction([each.present for each in branches]),
        )


def text_of(node: exp.Expr, conditions: ConditionReader) -> str:
    """Return an expression as a text that equal expressions have in common."""
    if isinstance(node, exp.Column):
        return conditions.scope.label(conditions.scope.column(node)).lower()
    if isinstance(node, exp.Literal):
        return repr(node.name) if node.is_string else node.name
    name = str(node.this) if isinstance(node, (exp.Anonymous, exp.Boolean)) else type(node).__name__
    parts = [text_of(child, conditions) for child in node.iter_expressions()]
    return f"{name}({', '.join(parts)})"


def _since_1970(call: exp.Anonymous, index: int) -> exp.Anonymous:
    """Return DATE_DIFF of one of its dates from the beginning of 1970."""
    unit, ended = call.expressions[0], call.expressions[index]
    epoch = exp.Literal.string("1970-01-01")
    alone = exp.Anonymous(this="DATE_DIFF", expressions=[unit.copy(), epoch, ended.copy()])
    for node in (epoch, alone):
        node.meta["start"] = start(call)
    return alone


def _public_count(term: ConditionalTerm) -> int:
    return sum(bool(factor.column and factor.column.public) for factor in term.factors)


def _constant(values: Values, node: exp.Expr) -> MeasuredSum:
    if values.kind == "null" or not values.present[0]:
        return MeasuredSum((), NOBODY)
    if values.kind != "number":
        raise Refusal("category-measure", start(node))
    return MeasuredSum((ConditionalTerm(float(values.array[0])),))


def _number(node: exp.Expr) -> float:
    values = evaluate(node, _refuse_column)
    if values.kind != "number" or not values.present[0]:
        raise Refusal("category-measure", start(node))
    return float(values.array[0])


def _refuse_column(column: exp.Column) -> Values:
    raise Refusal("product", start(column))
