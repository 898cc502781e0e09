"""Text becomes a ``Query``: names are resolved, and conditions become sums of products of sets.

>>> from sottovoce.domains.integers import Integers
>>> from sottovoce.domains.records import Records
>>> domain = Tables(("users",), (Records(("age",), (Integers(1, 125),)),))
>>> read("SELECT COUNT(*) AS people FROM users WHERE Age < 20", domain).aggregates
(Count(name='people', measure=()),)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, prod
from typing import Any, get_args
from unicodedata import normalize

from sqlglot import exp

from sottovoce.domains.categories import Categories
from sottovoce.domains.tables import Tables
from sottovoce.sql.aggregates.base import Aggregate, MeasureTerm, aggregates
from sottovoce.sql.conditions import (
    Both,
    Condition,
    Either,
    Negation,
    TooManyTermsError,
    Within,
    expanded,
)
from sottovoce.sql.errors import QueryError, Refusal, located
from sottovoce.sql.grammar import parsed, start
from sottovoce.sql.names import Scope
from sottovoce.sql.query import (
    ATTACKED_PARTS,
    EVERYBODY,
    MEASURES,
    METHODS,
    PARTS,
    SCALES,
    AllOf,
    Column,
    Compared,
    Comparison,
    Listed,
    Monomial,
    Options,
    Public,
    Query,
)
from sottovoce.sql.values import Span, listed, spans, within

__all__ = ["QueryError", "read"]

LARGEST_COLUMN = 1 << 18
MOST_GROUPS = 1000
MOST_NUMBERS = 4000  # groups times what is selected for each of them
LONGEST_NAME = 63

Linear = dict[Column | None, float]  # the factor of every column; under None the constant

_SIGNS: dict[type[exp.Expr], Comparison] = dict(
    zip((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), get_args(Comparison), strict=True)
)


def read(text: str, domain: Tables) -> Query:
    """Return what a query asks of some tables; refuses with the broken rule and its position."""
    tree = parsed(text)
    with located(text):
        select = tree.this if isinstance(tree, exp.Describe) else tree
        assert isinstance(select, exp.Select)
        reader = _Reader(Scope.of(domain, select), select)
        return replace(reader.query(), explain=isinstance(tree, exp.Describe))


@dataclass
class _Reader:
    """One query and the tables that it is about."""

    scope: Scope
    select: exp.Select
    notices: list[str] = field(default_factory=list)

    def query(self) -> Query:
        groups = self._groups()
        selected, shown = self._items(groups)
        among, where = self._where()
        descending, order = self._order(groups, selected)
        limit = self.select.args.get("limit")
        return Query(
            tables=tuple(self.scope.joined.values()),
            aggregates=selected,
            where=where,
            among=among,
            group_by=groups,
            shown=shown,
            order_by=order,
            descending=descending,
            limit=int(limit.expression.name) if limit else None,
            options=_options(self.select.args.get("options") or ()),
            notices=tuple(dict.fromkeys(self.notices)),
        )

    def _groups(self) -> tuple[Column, ...]:
        group = self.select.args.get("group")
        columns: list[Column] = []
        for node in group.expressions if group else ():
            column = self.scope.column(node)
            if column in columns:
                raise Refusal("duplicate-group", start(node))
            columns.append(column)
            count = prod(self.scope.kind(each).size for each in columns)
            if count > MOST_GROUPS:
                raise Refusal(
                    "too-many-groups", start(node), f": {count:,}, and at most {MOST_GROUPS:,}"
                )
        return tuple(columns)

    def _items(
        self, groups: Sequence[Column]
    ) -> tuple[tuple[Aggregate, ...], tuple[int | str, ...]]:
        nodes = self.select.expressions
        taken = self._taken_names(nodes, groups)
        selected: list[Aggregate] = []
        shown: list[int | str] = []
        for node in nodes:
            if isinstance(node, exp.Column):
                column = self.scope.column(node)
                if column not in groups:
                    raise Refusal("not-grouped", start(node))
                if groups.index(column) in shown:
                    raise Refusal("duplicate-name", start(node))
                shown.append(groups.index(column))
            else:
                selected.append(self._aggregate(node, taken))
                shown.append(selected[-1].name)
                self._check_numbers(groups, len(selected), start(node))
        if not selected:
            raise Refusal("no-aggregate", start(self.select))
        return tuple(selected), tuple(shown)

    def _check_numbers(self, groups: Sequence[Column], selected_count: int, position: int) -> None:
        """Refuse an answer with more numbers than a collector has time for."""
        count = selected_count * prod(self.scope.kind(column).size for column in groups)
        if count > MOST_NUMBERS:
            detail = f": {count:,}, and at most {MOST_NUMBERS:,}"
            raise Refusal("too-many-numbers", position, detail)

    def _taken_names(self, nodes: Sequence[exp.Expr], groups: Sequence[Column]) -> set[str]:
        """Return the names that groups and AS take, in lower case; refuses a second use of one."""
        taken = {self.scope.columns[column].lower() for column in groups}
        for node in nodes:
            if isinstance(node, exp.Alias):
                name = node.alias.lower()
                if not (name.isidentifier() and name.isascii() and len(name) <= LONGEST_NAME):
                    raise Refusal("name", start(node.args["alias"]))
                parts = (*PARTS, *ATTACKED_PARTS)
                beside_others = {f"{other}{part}" for other in taken for part in parts}
                beside_this = {f"{name}{part}" for part in parts}
                if name in taken | beside_others or beside_this & taken:
                    raise Refusal("duplicate-name", start(node.args["alias"]))
                taken.add(name)
        return taken

    def _aggregate(self, node: exp.Expr, taken: set[str]) -> Aggregate:
        """Return an aggregate under the name that AS gives it, or under a free name."""
        call = node.this if isinstance(node, exp.Alias) else node
        unnamed = self._unnamed(call)
        if isinstance(node, exp.Alias):
            return replace(unnamed, name=node.alias)
        columns = [
            self.scope.columns[term.column].lower() for term in unnamed.measure if term.column
        ]
        plain = "_".join([unnamed.sql_names[0].lower(), *columns])
        name = plain
        number = 1
        while name in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name)
        return replace(unnamed, name=name)

    def _unnamed(self, call: exp.Expr) -> Aggregate:
        kind = aggregates()[call.this]
        (argument,) = call.expressions
        if kind.argument == "star":
            return kind()
        factors = self._linear(argument)
        if factors.pop(None, 0.0):
            raise Refusal("constant-term", start(argument))
        measure = tuple(MeasureTerm(factor, column) for column, factor in factors.items() if factor)
        if not measure:
            raise Refusal("empty-sum", start(argument))
        if kind.argument == "column" and len(measure) > 1:
            raise Refusal("one-column", start(call))
        return kind(measure=measure)

    def _linear(self, node: exp.Expr) -> Linear:
        """Return a sum of columns as the factor of each, and the constant under None."""
        if isinstance(node, exp.Column):
            column = self.scope.column(node)
            if isinstance(self.scope.kind(column), Categories):
                raise Refusal("category-measure", start(node))
            return {column: 1.0}
        if isinstance(node, exp.Literal):
            return {None: _number(node)}
        left = self._linear(node.this)
        if isinstance(node, exp.Neg):
            return _added({}, left, -1.0, node)
        right = self._linear(node.expression)
        if isinstance(node, (exp.Add, exp.Sub)):
            return _added(left, right, 1.0 if isinstance(node, exp.Add) else -1.0, node)
        if set(left) == {None}:
            return _added({}, right, left[None], node)
        if set(right) == {None}:
            return _added({}, left, right[None], node)
        raise Refusal("product", start(node))

    def _order(self, groups: Sequence[Column], selected: Sequence[Aggregate]) -> tuple[bool, str]:
        order = self.select.args.get("order")
        if not order:
            return False, ""
        item = order.expressions[0]
        name = self._ordered(item.this, groups, selected)
        if not name:
            raise Refusal("order-item", start(item))
        return bool(item.args["desc"]), name

    def _ordered(
        self, node: exp.Expr, groups: Sequence[Column], selected: Sequence[Aggregate]
    ) -> str:
        """Return the name of the item that rows are ordered by.

        Empty if nothing selected is meant.
        """
        if not isinstance(node, exp.Column):
            meant = self._unnamed(node)
            return next((each.name for each in selected if replace(each, name="") == meant), "")
        named = [
            each.name
            for each in selected
            if not node.table and each.name.lower() == node.name.lower()
        ]
        if named:
            return named[0]
        try:
            column = self.scope.column(node)
        except Refusal as refusal:
            if refusal.rule != "unknown-column":
                raise
            return ""
        name = self.scope.columns[column]
        of_that_name = [group for group in groups if self.scope.columns[group] == name]
        return name if of_that_name == [column] else ""

    def _where(self) -> tuple[Public, tuple[Monomial, ...]]:
        where = self.select.args.get("where")
        if not where:
            return expanded(EVERYBODY)
        try:
            return expanded(self._condition(where.this))
        except TooManyTermsError:
            raise Refusal("too-many-terms", start(where.this)) from None

    def _condition(self, node: exp.Expr) -> Condition:
        if isinstance(node, exp.Connector):
            parts = tuple(self._condition(part) for part in _parts(node))
            return Both(parts) if isinstance(node, exp.And) else Either(parts)
        if isinstance(node, exp.Not):
            return Negation(self._condition(node.this))
        column = self.scope.column(node.this)
        numeric = not isinstance(self.scope.kind(column), Categories)
        if not numeric and not isinstance(node, (exp.EQ, exp.NEQ, exp.In)):
            raise Refusal("range-category", start(node))
        values = [_literal(value, numeric=numeric) for value in _values(node)]
        if column.public:
            return self._public(node, column, values)
        if self.scope.kind(column).size > LARGEST_COLUMN:
            raise Refusal("large-column", start(node))
        return self._private(node, column, values)

    def _private(self, node: exp.Expr, column: Column, values: list[Any]) -> Condition:
        kind = self.scope.kind(column)
        label = self.scope.label(column)
        if isinstance(kind, Categories):
            chosen, notices = listed(kind, values, label)
        else:
            chosen, notices = within(kind, _spans(node, values), label)
        self.notices += notices
        return Within(column, ~chosen if isinstance(node, exp.NEQ) else chosen)

    def _public(self, node: exp.Expr, column: Column, values: list[Any]) -> Public:
        kind = self.scope.kind(column)
        if isinstance(kind, Categories):
            self.notices += listed(kind, values, self.scope.label(column))[1]
        if isinstance(node, exp.In):
            return Listed(column, tuple(values))
        if isinstance(node, exp.Between):
            return AllOf((Compared(column, ">=", values[0]), Compared(column, "<=", values[1])))
        return Compared(column, _SIGNS[type(node)], values[0])


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what a chain of one connective connects, in order.

    Chains may be too long for recursion.
    """
    chain = []
    kind = type(node)
    while isinstance(node, kind):
        chain.append(node.expression)
        node = node.this
    yield node
    yield from reversed(chain)


def _values(node: exp.Expr) -> list[exp.Expr]:
    """Return the literals of a comparison."""
    if isinstance(node, exp.In):
        return list(node.expressions)
    if isinstance(node, exp.Between):
        return [node.args["low"], node.args["high"]]
    return [node.expression]


def _spans(node: exp.Expr, values: list[Any]) -> list[Span]:
    if isinstance(node, exp.Between):
        return [Span(values[0], values[1])]
    return [spans(_SIGNS.get(type(node), "="), value) for value in values]


def _literal(node: exp.Expr, *, numeric: bool) -> str | float:
    if isinstance(node, exp.Literal) and node.is_string:
        if numeric:
            raise Refusal("literal-type", start(node))
        return normalize("NFC", node.name)
    if not numeric:
        raise Refusal("literal-type", start(node))
    return -_number(node.this) if isinstance(node, exp.Neg) else _number(node)


def _number(node: exp.Expr) -> float:
    try:
        number = float(node.name)
    except ValueError:
        raise Refusal("number", start(node)) from None
    if not isfinite(number):
        raise Refusal("number", start(node))
    return number


def _added(left: Linear, right: Linear, factor: float, node: exp.Expr) -> Linear:
    """Return ``left`` plus ``factor`` times ``right``."""
    total = {key: left.get(key, 0.0) + factor * right.get(key, 0.0) for key in (*left, *right)}
    if not all(map(isfinite, total.values())):
        raise Refusal("number", start(node))
    return total


def _options(nodes: Sequence[exp.QueryOption]) -> Options:
    settings: dict[str, Any] = {}
    for node in nodes:
        name = node.name.lower()
        if name in settings:
            raise Refusal("option-twice", start(node))
        if name not in _OPTIONS:
            raise Refusal(
                "unknown-option", start(node), f": there are {', '.join(_OPTIONS).upper()}"
            )
        settings[name] = _option_value(node.expression, _OPTIONS[name], name.upper())
    return Options(**settings)


_OPTIONS: dict[str, Any] = {
    "method": METHODS,
    "k": int,
    "measure": MEASURES,
    "scale": SCALES,
    "max_cells": int,
    "confidence": float,
}


def _option_value(node: exp.Expr, allowed: Any, name: str) -> str | float:
    """Return the value of an option: one of some words, a share, or a whole number."""
    if isinstance(allowed, tuple):
        if node.is_string and node.name.lower() in allowed:
            return node.name.lower()
        raise Refusal("option-value", start(node), f": {name} is {', '.join(allowed).upper()}")
    if allowed is float:
        if not node.is_string and 0 < _number(node) < 1:
            return _number(node)
        raise Refusal("option-value", start(node), f": {name} is a number between 0 and 1")
    if not node.is_string and node.name.isdigit() and len(node.name) <= 9 and int(node.name):
        return int(node.name)
    raise Refusal("option-value", start(node), f": {name} is a whole number from 1 to 999,999,999")
