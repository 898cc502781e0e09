"""A question in SQL becomes a ``Query``: names are resolved, conditions become sums of products of sets.

>>> from sottovoce.domains.base import Integers, Records
>>> services = Services(("users",), (Records(("age",), (Integers(1, 125),)),))
>>> read("SELECT COUNT(*) AS people FROM users WHERE Age < 20", services).aggregates
(Aggregate(kind='count', name='people', terms=()),)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, prod
from typing import Any, get_args
from unicodedata import normalize

from sqlglot import exp

from sottovoce.domains.categories import Categories
from sottovoce.domains.tables import Services
from sottovoce.sql.conditions import Both, Condition, Either, Negation, TooManyTermsError, Within, expanded
from sottovoce.sql.errors import QueryError, Refusal, located
from sottovoce.sql.grammar import parsed, start
from sottovoce.sql.names import Scope
from sottovoce.sql.query import (
    MEASURES,
    METHODS,
    PARTS,
    Aggregate,
    Column,
    Compared,
    Comparison,
    Every,
    Kind,
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
SCALES = ("auto", "layers", "hajek")
LONGEST_NAME = 63

_SIGNS: dict[type[exp.Expr], Comparison] = dict(
    zip((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), get_args(Comparison), strict=True)
)
_KINDS: dict[type[exp.Expr], Kind] = dict(
    zip((exp.Count, exp.Anonymous, exp.Sum, exp.Avg, exp.Stddev), get_args(Kind), strict=True)
)


def read(text: str, services: Services) -> Query:
    """Return what a question asks of some services; refuses with the rule and the place."""
    tree = parsed(text)
    with located(text):
        select = tree.this if isinstance(tree, exp.Describe) else tree
        assert isinstance(select, exp.Select)
        reader = _Reader(Scope.of(services, select), select)
        return replace(reader.query(), explain=isinstance(tree, exp.Describe))


@dataclass
class _Reader:
    """One question and the tables that it is about."""

    scope: Scope
    select: exp.Select
    notices: list[str] = field(default_factory=list)

    def query(self) -> Query:
        groups = self._groups()
        aggregates, shown = self._items(groups)
        among, where = self._where()
        descending, order = self._order(groups, aggregates)
        limit = self.select.args.get("limit")
        return Query(
            tables=tuple(self.scope.tables.values()),
            aggregates=aggregates,
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
        found: list[Column] = []
        for node in group.expressions if group else ():
            column = self.scope.column(node)
            if column in found:
                raise Refusal("duplicate-group", start(node))
            found.append(column)
            groups = prod(self.scope.kind(one).size for one in found)
            if groups > MOST_GROUPS:
                raise Refusal("too-many-groups", start(node), f": {groups:,}, and at most {MOST_GROUPS:,}")
        return tuple(found)

    def _items(self, groups: Sequence[Column]) -> tuple[tuple[Aggregate, ...], tuple[int | str, ...]]:
        nodes = self.select.expressions
        taken = self._given(nodes, groups)
        aggregates: list[Aggregate] = []
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
                aggregates.append(self._aggregate(node, taken))
                shown.append(aggregates[-1].name)
        if not aggregates:
            raise Refusal("no-aggregate", start(self.select))
        return tuple(aggregates), tuple(shown)

    def _given(self, nodes: Sequence[exp.Expr], groups: Sequence[Column]) -> set[str]:
        """Return the names that groups and AS take, in lower case; refuses a second use of one."""
        taken = {self.scope.columns[column].lower() for column in groups}
        for node in nodes:
            if isinstance(node, exp.Alias):
                name = node.alias.lower()
                if not (name.isidentifier() and name.isascii() and len(name) <= LONGEST_NAME):
                    raise Refusal("name", start(node.args["alias"]))
                if name in taken or any(f"{one}{part}" == name for one in taken for part in PARTS):
                    raise Refusal("duplicate-name", start(node.args["alias"]))
                if any(f"{name}{part}" in taken for part in PARTS):
                    raise Refusal("duplicate-name", start(node.args["alias"]))
                taken.add(name)
        return taken

    def _aggregate(self, node: exp.Expr, taken: set[str]) -> Aggregate:
        """Return what is asked for, under the name that AS gives it, or one that nothing else has."""
        call = node.this if isinstance(node, exp.Alias) else node
        found = self._unnamed(call)
        if isinstance(node, exp.Alias):
            return replace(found, name=node.alias)
        plain = name = "_".join([found.kind, *(self.scope.columns[column].lower() for _, column in found.terms)])
        number = 1
        while name in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name)
        return replace(found, name=name)

    def _unnamed(self, call: exp.Expr) -> Aggregate:
        kind = _KINDS[type(call)]
        if kind in ("count", "freq"):
            return Aggregate(kind, "")
        terms = self._linear(call.this)
        if terms.pop(None, 0.0):
            raise Refusal("constant-term", start(call.this))
        found = tuple((factor, column) for column, factor in terms.items() if column is not None and factor)
        if not found:
            raise Refusal("empty-sum", start(call.this))
        if kind == "stddev" and len(found) > 1:
            raise Refusal("stddev-columns", start(call))
        return Aggregate(kind, "", found)

    def _linear(self, node: exp.Expr) -> dict[Column | None, float]:
        """Return the factor of every column, and of nothing the constant."""
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
        if set(left) != {None} and set(right) != {None}:
            raise Refusal("product", start(node))
        constant, other = (left, right) if set(left) == {None} else (right, left)
        return _added({}, other, constant[None], node)

    def _order(self, groups: Sequence[Column], aggregates: Sequence[Aggregate]) -> tuple[bool, str]:
        order = self.select.args.get("order")
        if not order:
            return False, ""
        item = order.expressions[0]
        name = self._ordered(item.this, groups, aggregates)
        if not name:
            raise Refusal("order-item", start(item))
        return bool(item.args["desc"]), name

    def _ordered(self, node: exp.Expr, groups: Sequence[Column], aggregates: Sequence[Aggregate]) -> str:
        if not isinstance(node, exp.Column):
            wanted = self._unnamed(node)
            return next((one.name for one in aggregates if replace(one, name="") == wanted), "")
        named = [one.name for one in aggregates if not node.table and one.name.lower() == node.name.lower()]
        if named:
            return named[0]
        try:
            column = self.scope.column(node)
        except Refusal as refusal:
            if refusal.rule != "unknown-column":
                raise
            return ""
        same = [one for one in groups if self.scope.columns[one] == self.scope.columns[column]]
        return self.scope.columns[column] if same == [column] else ""

    def _where(self) -> tuple[Public, tuple[Monomial, ...]]:
        where = self.select.args.get("where")
        if not where:
            return expanded(Every())
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
        numbers = not isinstance(self.scope.kind(column), Categories)
        if not numbers and not isinstance(node, (exp.EQ, exp.NEQ, exp.In)):
            raise Refusal("range-category", start(node))
        values = [_literal(value, number=numbers) for value in _values(node)]
        if column.public:
            return self._public(node, column, values)
        if self.scope.kind(column).size > LARGEST_COLUMN:
            raise Refusal("large-column", start(node))
        return self._private(node, column, values)

    def _private(self, node: exp.Expr, column: Column, values: list[Any]) -> Condition:
        kind, name = self.scope.kind(column), self.scope.label(column)
        found = listed(kind, values, name) if isinstance(kind, Categories) else within(kind, _spans(node, values), name)
        self.notices += found[1]
        return Within(column, ~found[0] if isinstance(node, exp.NEQ) else found[0])

    def _public(self, node: exp.Expr, column: Column, values: list[Any]) -> Public:
        kind, name = self.scope.kind(column), self.scope.label(column)
        if isinstance(kind, Categories):
            self.notices += listed(kind, values, name)[1]
        if isinstance(node, exp.In):
            return Listed(column, tuple(values))
        if isinstance(node, exp.Between):
            return Every((Compared(column, ">=", values[0]), Compared(column, "<=", values[1])))
        return Compared(column, _SIGNS[type(node)], values[0])


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Return what a chain of the same connective connects, in order; chains may be too long for recursion."""
    chain = []
    kind = type(node)
    while isinstance(node, kind):
        chain.append(node.expression)
        node = node.this
    yield node
    yield from reversed(chain)


def _values(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.In):
        return list(node.expressions)
    return [node.args["low"], node.args["high"]] if isinstance(node, exp.Between) else [node.expression]


def _spans(node: exp.Expr, values: list[Any]) -> list[Span]:
    if isinstance(node, exp.Between):
        return [Span(values[0], values[1])]
    return [spans(_SIGNS.get(type(node), "="), value) for value in values]


def _literal(node: exp.Expr, *, number: bool) -> str | float:
    if isinstance(node, exp.Literal) and node.is_string:
        if number:
            raise Refusal("literal-type", start(node))
        return normalize("NFC", node.name)
    if not number:
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


def _added(
    left: dict[Column | None, float], right: dict[Column | None, float], factor: float, node: exp.Expr
) -> dict[Column | None, float]:
    found = {key: left.get(key, 0.0) + factor * right.get(key, 0.0) for key in (*left, *right)}
    if not all(map(isfinite, found.values())):
        raise Refusal("number", start(node))
    return found


def _options(nodes: Sequence[exp.QueryOption]) -> Options:
    found: dict[str, Any] = {}
    for node in nodes:
        name = node.name.lower()
        if name in found:
            raise Refusal("option-twice", start(node))
        if name not in _OPTIONS:
            raise Refusal("unknown-option", start(node), f": there are {', '.join(_OPTIONS).upper()}")
        found[name] = _value(node.expression, _OPTIONS[name], name.upper())
    return Options(**found)


_OPTIONS: dict[str, Any] = {
    "method": METHODS,
    "k": int,
    "measure": MEASURES,
    "scale": SCALES,
    "max_cells": int,
    "confidence": float,
}


def _value(node: exp.Expr, wanted: Any, name: str) -> str | float:
    if isinstance(wanted, tuple):
        if node.is_string and node.name.lower() in wanted:
            return node.name.lower()
        raise Refusal("option-value", start(node), f": {name} is {', '.join(wanted).upper()}")
    if wanted is float:
        if not node.is_string and 0 < _number(node) < 1:
            return _number(node)
        raise Refusal("option-value", start(node), f": {name} is a number between 0 and 1")
    if not node.is_string and node.name.isdigit() and len(node.name) <= 9 and int(node.name):
        return int(node.name)
    raise Refusal("option-value", start(node), f": {name} is a whole number from 1 to 999,999,999")
