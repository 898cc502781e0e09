"""WHERE, FILTER and CASE WHEN: an expression becomes a condition over sets of values.

AND, OR and NOT stay what they are.  Everything below them that is about one column is evaluated for
all its values (``evaluate``) and becomes a set of them.  A comparison of two private columns is
split by the values of the one that has fewer.  Comparisons of public columns stay comparisons: the
engine decides them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from sqlglot import exp

from sottovoce.arrays import Bools, Ints
from sottovoce.domains.base import Domain
from sottovoce.sql.aggregates.base import aggregates
from sottovoce.sql.conditions import Both, Condition, Either, Negation, Within
from sottovoce.sql.errors import Refusal
from sottovoce.sql.evaluate import Values, evaluate, truth
from sottovoce.sql.grammar import start
from sottovoce.sql.names import Scope
from sottovoce.sql.query import (
    EVERYBODY,
    NOBODY,
    AllOf,
    Column,
    Compared,
    Comparison,
    Listed,
    Public,
)
from sottovoce.sql.values import Span, listed, spans, within

LARGEST_COLUMN = 1 << 18
MAX_SPLIT = 64  # values of the smaller of two columns that are compared with each other
MAX_PUBLIC = 4096  # values of a public column that an expression may be evaluated for

_SIGNS: dict[type[exp.Expr], Comparison] = dict(
    zip((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), get_args(Comparison), strict=True)
)
_MIRRORED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


@dataclass
class ConditionReader:
    """Reads the conditions of one query; what does not fit a column exactly becomes a notice."""

    scope: Scope
    notices: list[str] = field(default_factory=list)

    def condition(self, node: exp.Expr) -> Condition:
        """Return what an expression asks of the columns."""
        if isinstance(node, exp.Connector):
            parts = [self.condition(part) for part in _chain(node)]
            return conjunction(parts) if isinstance(node, exp.And) else disjunction(parts)
        if isinstance(node, exp.Not):
            return negation(self.condition(node.this))
        return self._atom(node)

    def columns(self, node: exp.Expr) -> list[Column]:
        """Return the columns of an expression, each once, after refusing aggregates in it."""
        for call in node.find_all(exp.Anonymous):
            if call.this in aggregates():
                raise Refusal("aggregate-condition", start(call))
        found = [self.scope.column(column) for column in node.find_all(exp.Column)]
        return list(dict.fromkeys(found))

    def values(self, column: Column) -> Values:
        """Return the values of a column: its labels, or its numbers, whole ones exactly."""
        kind = self.scope.kind(column)
        assert kind.value_type is not None  # a table has no other columns
        return Values(kind.value_type, kind.compared_values(), np.ones(kind.size, bool))

    def _atom(self, node: exp.Expr) -> Condition:
        """Return a condition that no connective divides."""
        columns = self.columns(node)
        if not columns:
            return EVERYBODY if truth(node, _no_column)[0] else NOBODY
        if isinstance(node, exp.Column):
            raise Refusal("bare-column", start(node))
        for column in columns:
            if not column.public and self.scope.kind(column).size > LARGEST_COLUMN:
                raise Refusal("large-column", start(node))
        if len(columns) > 1:
            return self._split(node, columns)
        return (
            self._public(node, columns[0]) if columns[0].public else self._private(node, columns[0])
        )

    def _private(self, node: exp.Expr, column: Column) -> Condition:
        kind, label = self.scope.kind(column), self.scope.label(column)
        if isinstance(node, exp.Is) and isinstance(node.this, exp.Column):
            return Within(column, declined(kind))
        simple = self._simple(node)
        is_exact = kind.has_ranges and kind.rounding is None
        if simple is None or is_exact:
            return Within(column, self._evaluated(node, column, kind))
        values = simple.constants(texts=not kind.has_ranges)
        if not kind.has_ranges:
            if simple.ranged:
                raise Refusal("range-category", start(node))
            chosen, notices = listed(kind, values, label)
        else:
            chosen, notices = within(kind, simple.spans(values), label)
        self.notices += notices
        return Within(column, ~chosen if simple.sign == "<>" else chosen)

    def _evaluated(self, node: exp.Expr, column: Column, kind: Domain) -> Bools:
        """Return for which values of a private column an expression holds."""
        chosen = truth(node, lambda _: self.values(column))
        label = self.scope.label(column)
        if not chosen.any() or (isinstance(node, exp.NEQ) and chosen.all()):
            self.notices.append(f"{label}: no value lies in the range of the condition")
        elif kind.rounding is not None:
            source = kind.rounding.computed
            self.notices.append(f"{label}: an expression is computed from {source}")
        return chosen

    def _split(self, node: exp.Expr, columns: list[Column]) -> Condition:
        """Return a comparison of two private columns, split by the values of the smaller one."""
        sizes = [self.scope.kind(column).size for column in columns]
        if len(columns) > 2 or any(column.public for column in columns) or min(sizes) > MAX_SPLIT:
            raise Refusal("column-comparison", start(node))
        small, large = (columns[index] for index in np.argsort(sizes, kind="stable"))
        values = self.values(small)
        cases: dict[bytes, list[int]] = {}
        for index in range(len(values.array)):
            alone = Values(values.kind, values.array[index : index + 1], values.present[:1])
            chosen = self._holds(node, {small: alone, large: self.values(large)})
            cases.setdefault(chosen.tobytes(), []).append(index)
        parts: list[Condition] = []
        for chosen_bytes, members in cases.items():
            inside = np.isin(np.arange(len(values.array)), members)
            chosen = np.frombuffer(chosen_bytes, bool)
            parts.append(Both((Within(small, inside), Within(large, chosen))))
        return disjunction(parts)

    def _holds(self, node: exp.Expr, known: Mapping[Column, Values]) -> Bools:
        """Return where a condition holds, given the values of its columns."""
        return truth(node, lambda name: known[self.scope.column(name)])

    def _public(self, node: exp.Expr, column: Column) -> Public:
        kind = self.scope.kind(column)
        simple = self._simple(node)
        if kind.value_type == "date":
            return self._public_dates(node, column, kind)
        if simple is None:
            return self._public_expression(node, column, kind)
        values = simple.constants(texts=not kind.has_ranges)
        if not kind.has_ranges:
            if simple.ranged:
                raise Refusal("range-category", start(node))
            self.notices += listed(kind, values, self.scope.label(column))[1]
        else:
            values = [float(value) for value in values]
        if simple.sign == "in":
            return Listed(column, tuple(values))
        if simple.sign == "between":
            return AllOf((Compared(column, ">=", values[0]), Compared(column, "<=", values[1])))
        return Compared(column, simple.sign, values[0])  # type: ignore[arg-type]

    def _public_dates(self, node: exp.Expr, column: Column, kind: Domain) -> Public:
        """Return a condition over a public column of dates, which engines see as texts.

        The order of dates is that of their texts.
        """
        if kind.size > LARGEST_COLUMN:
            raise Refusal("large-column", start(node))
        chosen = np.flatnonzero(self._met(node, column))
        if not len(chosen):
            return NOBODY
        first, last = int(chosen[0]), int(chosen[-1])
        if last - first + 1 == len(chosen):
            low, high = kind.label_at(first), kind.label_at(last)
            return AllOf((Compared(column, ">=", low), Compared(column, "<=", high)))
        if len(chosen) > MAX_PUBLIC:
            raise Refusal("public-expression", start(node))
        return Listed(column, tuple(kind.labels[index] for index in chosen))

    def _public_expression(self, node: exp.Expr, column: Column, kind: Domain) -> Public:
        """Return any other condition over a public column: the list of values that meet it."""
        if kind.rounding is not None or kind.size > MAX_PUBLIC:
            raise Refusal("public-expression", start(node))
        chosen = self.values(column).array[self._met(node, column)].tolist()
        return Listed(
            column, tuple(each if isinstance(each, str) else float(each) for each in chosen)
        )

    def _met(self, node: exp.Expr, column: Column) -> Bools:
        """Return for which values of a public column a condition holds.

        It is the same for all of them if the column is compared with NULL.
        """
        values = self.values(column)
        return np.broadcast_to(truth(node, lambda _: values), values.present.shape)

    def _simple(self, node: exp.Expr) -> "_Simple | None":
        """Return a comparison of a bare column with constants; None for anything else."""
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            constants = [node.args["low"], node.args["high"]]
            return _Simple(node, "between", constants) if _plain(node.this, constants) else None
        if isinstance(node, exp.In):
            constants = node.expressions
            return _Simple(node, "in", constants) if _plain(node.this, constants) else None
        if type(node) not in _SIGNS:
            return None
        if _plain(node.this, [node.expression]):
            return _Simple(node, _SIGNS[type(node)], [node.expression])
        if _plain(node.expression, [node.this]):
            return _Simple(node, _SIGNS[_MIRRORED[type(node)]], [node.this])
        return None


@dataclass(frozen=True, eq=False)
class _Simple:
    """A bare column compared with constants: ``sign`` is a comparison, ``between`` or ``in``."""

    node: exp.Expr
    sign: str
    nodes: list[exp.Expr]

    @property
    def ranged(self) -> bool:
        """Return whether the comparison needs an order of the values."""
        return self.sign not in ("=", "<>", "in")

    def constants(self, *, texts: bool) -> list[Any]:
        """Return the constants, after checking that they are of the column's type."""
        constants = []
        for node in self.nodes:
            value = evaluate(node, _no_column)
            if value.kind != ("text" if texts else "number"):
                raise Refusal("literal-type", start(node))
            constants.append(value.array[0])
        return constants

    def spans(self, values: list[Any]) -> list[Span]:
        """Return the ranges of numbers that are meant."""
        if self.sign == "between":
            return [Span(values[0], values[1])]
        return [spans("=" if self.sign == "in" else self.sign, value) for value in values]


def declined(kind: Domain) -> Bools:
    """Return which values of a column stand for no answer: SQL's NULL."""
    chosen = np.zeros(kind.size, bool)
    if kind.declined_index is not None:
        chosen[kind.declined_index] = True
    return chosen


def can_be_classed(kind: Domain, classes: Ints) -> bool:
    """Return whether an engine can say in which class a public value is: there are few values, or
    few runs of values of one class.
    """
    if kind.rounding is not None:
        return False
    runs = 1 + int(np.count_nonzero(np.diff(classes)))
    return kind.size <= MAX_PUBLIC or (kind.has_ranges and runs <= MAX_PUBLIC)


def negation(condition: Condition) -> Condition:
    """Return the opposite of a condition."""
    if condition == EVERYBODY:
        return NOBODY
    return EVERYBODY if condition == NOBODY else Negation(condition)


def conjunction(parts: list[Condition]) -> Condition:
    """Return the condition that all parts hold."""
    if any(part == NOBODY for part in parts):
        return NOBODY
    rest = [part for part in parts if part != EVERYBODY]
    if not rest:
        return EVERYBODY
    return rest[0] if len(rest) == 1 else Both(tuple(rest))


def disjunction(parts: list[Condition]) -> Condition:
    """Return the condition that at least one part holds."""
    if any(part == EVERYBODY for part in parts):
        return EVERYBODY
    rest = [part for part in parts if part != NOBODY]
    if not rest:
        return NOBODY
    return rest[0] if len(rest) == 1 else Either(tuple(rest))


def _chain(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what a chain of one connective connects, in order; it may be too long to recurse."""
    chain = []
    kind = type(node)
    while isinstance(node, kind):
        chain.append(node.expression)
        node = node.this
    yield node
    yield from reversed(chain)


def _plain(column: exp.Expr, constants: list[exp.Expr]) -> bool:
    """Return whether a bare column is compared with expressions without a column."""
    return isinstance(column, exp.Column) and not any(each.find(exp.Column) for each in constants)


def _no_column(column: exp.Column) -> Values:
    raise Refusal("column-comparison", start(column))
