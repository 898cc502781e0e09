"""Queries inside queries become one query over the tables that they are about.

    WITH name AS (SELECT ...), FROM (SELECT ...)     the tables and conditions of the inner query
                                                     join those of the outer one, and its columns
                                                     stand for their expressions
    uid IN (SELECT uid FROM t WHERE c), EXISTS       t is joined and c is a condition
    FROM a, b WHERE a.uid = b.uid                    a join
    JOIN b ON a.uid = b.uid AND c                    a join and a condition

An inner query selects columns and expressions; numbers such as COUNT are computed in the outer one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sottovoce.domains.tables import PERSON, Tables
from sottovoce.sql.aggregates.base import aggregates
from sottovoce.sql.errors import Refusal
from sottovoce.sql.grammar import start

_OUTER_ONLY = ("group", "having", "order", "limit", "offset", "options")


def inlined(select: exp.Select, domain: Tables) -> exp.Select:
    """Return a query without queries inside, with a key for every join."""
    named: dict[str, exp.Select] = {}
    for each in select.args.get("ctes") or ():
        named[each.alias.lower()] = _Inlining(domain, named).query(each.this, inner=True)
    return _Inlining(domain, named).query(select, inner=False)


@dataclass(frozen=True, eq=False)
class _Outputs:
    """What an inner query calls its columns, and the tables that it is about."""

    expressions: Mapping[str, exp.Expr]
    tables: Sequence[str]
    all_columns: bool  # SELECT *


@dataclass(eq=False)
class _Inlining:
    """One query and the inner queries that have a name."""

    domain: Tables
    named: Mapping[str, exp.Select]
    conditions: list[exp.Expr] = field(default_factory=list)
    inner_conditions: list[exp.Expr] = field(default_factory=list)
    joins: list[exp.Join] = field(default_factory=list)
    outputs: dict[str, _Outputs] = field(default_factory=dict)

    def query(self, select: exp.Select, *, inner: bool) -> exp.Select:
        """Return one query; an ``inner`` one selects columns under conditions, nothing else."""
        select = select.copy()
        if inner:
            _check_inner(select)
        where = select.args.get("where")
        own = list(_parts(where.this)) if where else []
        self._take(select.args["from_"].this, None)
        for join in select.args["joins"]:
            self._take(join.this, join)
        first, *joins = self.joins
        resolved = [self._without_queries(condition) for condition in own]
        self.conditions += resolved
        made = exp.Select(**{name: part for name, part in select.args.items() if name != "ctes"})
        made.meta.update(select.meta)
        made.set("from_", exp.From(this=first.this))
        made.set("where", None)
        for column in list(made.find_all(exp.Column)):
            self._name(column)
        self.conditions = [self._named(condition) for condition in self.conditions]
        joins += self.joins[1 + len(joins) :]  # those that conditions brought
        made.set("joins", [self._with_key(join) for join in joins])
        conditions = [*self.inner_conditions, *self.conditions]
        if conditions:
            made.set("where", exp.Where(this=_together(conditions)))
        return made

    # Tables

    def _take(self, table: exp.Expr, join: exp.Join | None) -> None:
        """Take in a table of FROM, or the tables of an inner query."""
        inner = self._inner(table)
        if inner is None:
            self.joins.append(join or exp.Join(this=table))
            return
        tables = [inner.args["from_"].this, *(each.this for each in inner.args["joins"])]
        name = (table.alias or table.name).lower()
        self.outputs[name] = _outputs(inner, tables)
        first = exp.Join(this=tables[0])
        if join is not None:
            first = join.copy()
            first.set("this", tables[0])
            first.meta.update(join.meta)
        self.joins += [first, *inner.args["joins"]]
        where = inner.args.get("where")
        self.inner_conditions += list(_parts(where.this)) if where else []

    def _inner(self, table: exp.Expr) -> exp.Select | None:
        if isinstance(table, exp.Subquery):
            return _Inlining(self.domain, self.named).query(table.this, inner=True)
        return self.named.get(table.name.lower())

    def _with_key(self, join: exp.Join) -> exp.Join:
        """Return a join with ON uid = uid; other parts of ON, and of WHERE, are conditions."""
        if join.args.get("using"):
            return join
        name = _name_of(join.this)
        candidates = list(_parts(join.args["on"])) if join.args.get("on") else []
        candidates = [self._named(self._without_queries(each)) for each in candidates]
        comma = not candidates
        for condition in candidates or self.conditions:
            if _is_key(condition, name):
                rest = [each for each in candidates if each is not condition]
                if rest and join.side:
                    raise Refusal("outer-join", start(rest[0]))
                self.conditions = [each for each in self.conditions if each is not condition]
                self.conditions += rest
                join.set("on", condition)
                return join
        if comma:
            raise Refusal("join-without-key", start(join))
        if len(candidates) > 1 or not _compares_columns(candidates[0]):
            raise Refusal("join-key", start(candidates[0]))
        join.set("on", candidates[0])  # names say more about what is wrong with it
        return join

    # Columns

    def _named(self, node: exp.Expr) -> exp.Expr:
        """Return an expression with the columns of inner queries replaced."""
        holder = exp.Paren(this=node)
        for column in list(holder.find_all(exp.Column)):
            self._name(column)
        named: exp.Expr = holder.this
        return named

    def _name(self, column: exp.Column) -> None:
        """Replace a column of an inner query by what it stands for."""
        table, name = column.table.lower(), column.name.lower()
        sources = [self.outputs[table]] if table in self.outputs else []
        if not table:
            sources = [each for each in self.outputs.values() if name in each.expressions]
        if not table and not sources and self._only_listed_columns:
            sources = list(self.outputs.values())
        if not sources:
            return
        outputs = sources[0]
        meant = outputs.expressions.get(name)
        if name == PERSON:
            column.set("table", exp.to_identifier(outputs.tables[0]))
            return
        if meant is None and not outputs.all_columns:
            if self._is_alias(column):
                return
            known = ", ".join(outputs.expressions)
            raise Refusal("unknown-column", start(column), f": the inner query has {known}")
        if meant is None:
            inner = outputs.tables[0] if len(outputs.tables) == 1 else ""
            column.set("table", exp.to_identifier(inner) if inner else None)
            return
        replacement = meant.copy()
        for part in replacement.walk():
            part.meta["start"] = start(column)
        column.replace(replacement)

    @property
    def _only_listed_columns(self) -> bool:
        """Return whether FROM has nothing but inner queries that list their columns."""
        sources = list(self.outputs.values())
        tables = {name for outputs in sources for name in outputs.tables}
        listed = not any(outputs.all_columns for outputs in sources)
        return bool(sources) and listed and {_name_of(join.this) for join in self.joins} == tables

    def _is_alias(self, column: exp.Column) -> bool:
        """Return whether a name stands for something selected, in GROUP BY, HAVING or ORDER BY."""
        return column.find_ancestor(exp.Group, exp.Having, exp.Order) is not None

    # Conditions

    def _without_queries(self, condition: exp.Expr) -> exp.Expr:
        """Return a condition in which IN (SELECT ...) and EXISTS have become conditions."""
        holder = exp.Paren(this=condition)
        for node in list(holder.find_all(exp.In, exp.Exists)):
            if isinstance(node, exp.Exists):
                node.replace(self._member(node, node.this))
            elif node.args.get("query"):
                if not _is_person(node.this):
                    raise Refusal("subquery", start(node))
                node.replace(self._member(node, node.args["query"]))
        found: exp.Expr = holder.this
        return found

    def _member(self, node: exp.Expr, query: exp.Select) -> exp.Expr:
        """Return what people who have a record in an inner query meet."""
        _check_inner(query)
        table = query.args["from_"].this
        if query.args["joins"] or not isinstance(table, exp.Table) or table.name in self.named:
            raise Refusal("subquery", start(node))
        known = [name.lower() for name in self.domain.names]
        if table.name.lower() not in known:
            there = ", ".join(self.domain.names)
            raise Refusal("unknown-table", start(table), f": there are {there}")
        if self.domain.most(known.index(table.name.lower())):
            raise Refusal("semi-join", start(node))
        where = query.args.get("where")
        parts = list(_parts(where.this)) if where else []
        keys = [part for part in parts if _is_key(part, _name_of(table))]
        if isinstance(node, exp.Exists) and not keys:
            raise Refusal("exists-key", start(node))
        outer = {_name_of(join.this): join.this.name.lower() for join in self.joins}
        joined = [name for name, full in outer.items() if full == table.name.lower()]
        alias = joined[0] if joined else _name_of(table)
        if not joined:
            person = exp.to_identifier(PERSON)
            join = exp.Join(this=table, using=[_at(node, person)])
            join.meta["start"] = start(node)
            self.joins.append(join)
        rest = [part for part in parts if part not in keys]
        for part in rest:
            for column in part.find_all(exp.Column):
                if not column.table or column.table.lower() == _name_of(table):
                    column.set("table", exp.to_identifier(alias))
        return exp.Paren(this=_together(rest)).this if rest else _at(node, exp.Boolean(this=True))


def _check_inner(select: exp.Select) -> None:
    """Refuse an inner query that does more than choose columns of records."""
    for clause in _OUTER_ONLY:
        if select.args.get(clause):
            raise Refusal("inner-query", start(select))
    for call in select.find_all(exp.Anonymous):
        if call.this in aggregates():
            raise Refusal("inner-query", start(call))


def _outputs(select: exp.Select, tables: Sequence[exp.Expr]) -> _Outputs:
    expressions: dict[str, exp.Expr] = {}
    for item in select.expressions:
        if isinstance(item, exp.Star):
            continue
        meant = item.this if isinstance(item, exp.Alias) else item
        name = item.alias if isinstance(item, exp.Alias) else item.name
        expressions[name.lower()] = meant
    names = [_name_of(table) for table in tables]
    star = any(isinstance(item, exp.Star) for item in select.expressions)
    return _Outputs(expressions, names, star)


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the conditions that AND connects, in order."""
    chain = []
    while isinstance(node, exp.And):
        chain.append(node.expression)
        node = node.this
    yield node
    yield from reversed(chain)


def _together(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Return the conjunction of some conditions."""
    node = conditions[0]
    for condition in conditions[1:]:
        node = _at(conditions[0], exp.And(this=node, expression=condition))
    return node


def _is_person(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name.lower() == PERSON


def _is_key(condition: exp.Expr, table: str) -> bool:
    """Return whether a condition is uid = uid of a table and another one."""
    if not isinstance(condition, exp.EQ):
        return False
    sides = (condition.this, condition.expression)
    if not all(map(_is_person, sides)):
        return False
    return [side.table.lower() for side in sides].count(table) == 1


def _compares_columns(condition: exp.Expr) -> bool:
    sides = (condition.this, condition.expression) if isinstance(condition, exp.EQ) else ()
    return bool(sides) and all(isinstance(side, exp.Column) for side in sides)


def _name_of(table: exp.Expr) -> str:
    return str(table.alias or table.name).lower()


def _at(node: exp.Expr, made: exp.Expr) -> "exp.Expr":
    made.meta["start"] = start(node)
    return made
