"""Text becomes a ``Query``: names are resolved, and conditions become sums of products of sets.

>>> from sottovoce.domains.integers import Integers
>>> from sottovoce.domains.records import Records
>>> domain = Tables(("users",), (Records(("age",), (Integers(1, 125),)),))
>>> read("SELECT COUNT(*) AS people FROM users WHERE Age < 20", domain).shown
('people',)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, NoReturn

import numpy as np
from sqlglot import exp

from sottovoce.domains.tables import Tables
from sottovoce.sql import dates
from sottovoce.sql.aggregates.base import COUNTED, Aggregate, MeasureTerm, Moment, aggregates
from sottovoce.sql.aggregates.call import MAX_PUBLIC_VALUES, Call, OrderedValues, PublicValues
from sottovoce.sql.conditions import Condition, TooManyTermsError, Within, expanded
from sottovoce.sql.errors import QueryError, Refusal, located
from sottovoce.sql.evaluate import DATE_FUNCTIONS, FUNCTIONS, Values, evaluate, number_of, truth
from sottovoce.sql.formula import Constant, Formula, Rounded
from sottovoce.sql.grammar import Parameters, parsed, start
from sottovoce.sql.inlining import inlined
from sottovoce.sql.measures import ConditionalTerm, MeasuredSum, MeasureReader, text_of
from sottovoce.sql.names import Scope
from sottovoce.sql.quantile_sums import summed
from sottovoce.sql.query import (
    ATTACKED_PARTS,
    EVERYBODY,
    MEASURES,
    METHODS,
    NOBODY,
    PARTS,
    SCALES,
    AllOf,
    GroupBy,
    Monomial,
    Options,
    Public,
    Query,
    SortItem,
)
from sottovoce.sql.where import (
    LARGEST_COLUMN,
    ConditionReader,
    can_be_classed,
    conjunction,
    declined,
)

__all__ = ["QueryError", "read"]

MOST_GROUPS = 1000
MOST_NUMBERS = 4000  # groups times what is computed for each of them
LONGEST_NAME = 63

_OPERATORS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def read(text: str, domain: Tables, parameters: Parameters = ()) -> Query:
    """Return what a query asks of some tables; refuses with the broken rule and its position."""
    tree = parsed(text, parameters)
    with located(text):
        if isinstance(tree, exp.Show):
            return Query((), (), explain=True, schema=_table_name(tree, domain))
        select = tree.this if isinstance(tree, exp.Describe) else tree
        assert isinstance(select, exp.Select)
        select = inlined(select, domain)
        reader = _Reader(Scope.of(domain, select), select)
        return replace(reader.query(), explain=isinstance(tree, exp.Describe))


@dataclass(frozen=True, eq=False)
class _Item:
    """Something selected: its expression and the name that AS gives it, if it does."""

    node: exp.Expr
    alias: str = ""

    @classmethod
    def of(cls, node: exp.Expr) -> "_Item":
        return cls(node.this, node.alias) if isinstance(node, exp.Alias) else cls(node)


@dataclass
class _Reader:
    """One query and the tables that it is about."""

    scope: Scope
    select: exp.Select
    hidden: list[Aggregate] = field(default_factory=list)

    @cached_property
    def conditions(self) -> ConditionReader:
        return ConditionReader(self.scope)

    @cached_property
    def items(self) -> list[_Item]:
        return [_Item.of(node) for node in self.select.expressions]

    @cached_property
    def where(self) -> Condition:
        where = self.select.args.get("where")
        return self.conditions.condition(where.this) if where else EVERYBODY

    def query(self) -> Query:
        self._check_outer_lists()
        among, where = self._expanded(self.where, self.select.args.get("where") or self.select)
        having, order = self._having(), self._order()
        limit, offset = (self.select.args.get(clause) for clause in ("limit", "offset"))
        return Query(
            tables=tuple(self.scope.joined.values()),
            aggregates=tuple(self.numbers.values()),
            where=where,
            among=among,
            group_by=tuple(self.groups),
            shown=self._shown(),
            hidden=tuple(self.hidden),
            having=having,
            order_by=order,
            limit=int(limit.expression.name) if limit else None,
            offset=int(offset.expression.name) if offset else 0,
            options=_options(self.select.args.get("options") or ()),
            notices=tuple(dict.fromkeys(self.conditions.notices)),
        )

    def _check_outer_lists(self) -> None:
        """Refuse numbers that a LEFT JOIN of a table of lists changes: those that count people
        without a record.
        """
        for join in self.select.args["joins"]:
            table = self.scope.joined[(join.this.alias or join.this.name).lower()]
            if not join.side or not self.scope.domain.most(table):
                continue
            for call in self.select.find_all(exp.Anonymous):
                columns = list(call.find_all(exp.Column))
                own = [self.scope.table(column) == table for column in columns]
                if call.this in aggregates() and not any(own):
                    raise Refusal("outer-list", start(call))

    # Groups

    @cached_property
    def groups(self) -> list[GroupBy]:
        """Return what GROUP BY makes groups of."""
        group = self.select.args.get("group")
        groups: list[GroupBy] = []
        for node in group.expressions if group else ():
            grouping = self._grouping(self._meant(node), start(node))
            if grouping in groups:
                raise Refusal("duplicate-group", start(node))
            groups.append(grouping)
            count = prod(map(self._group_count, groups))
            if count > MOST_GROUPS:
                detail = f": {count:,}, and at most {MOST_GROUPS:,}"
                raise Refusal("too-many-groups", start(node), detail)
        return groups

    def _group_count(self, grouping: GroupBy) -> int:
        return grouping.size(self.scope.kind(grouping.column).size)

    def _meant(self, node: exp.Expr) -> exp.Expr:
        """Return the expression that an ordinal or the name of a selected item stands for."""
        if isinstance(node, exp.Literal) and not node.is_string:
            position = number_of(node)
            if position not in range(1, len(self.items) + 1):
                raise Refusal("ordinal", start(node))
            return self.items[int(position) - 1].node
        if isinstance(node, exp.Column) and not node.table and not self._is_column(node):
            named = [item for item in self.items if item.alias.lower() == node.name.lower()]
            return named[0].node if named else node
        return node

    def _is_column(self, node: exp.Column) -> bool:
        names = {name.lower() for name in self.scope.columns.values()}
        return node.name.lower() in names

    def _grouping(self, node: exp.Expr, position: int) -> GroupBy:
        """Return a column, or the classes that an expression makes of a private column's values."""
        if _has_aggregate(node):
            raise Refusal("group-expression", position)
        columns = self.conditions.columns(node)
        if isinstance(node, exp.Anonymous) and node.this not in (*FUNCTIONS, *DATE_FUNCTIONS):
            raise Refusal("function", position)
        if len(columns) != 1:
            raise Refusal("group-expression", position)
        column = columns[0]
        if isinstance(node, exp.Column):
            return GroupBy(column, self.scope.columns[column])
        if self.scope.kind(column).size > LARGEST_COLUMN:
            raise Refusal("large-column", position)
        values = self.conditions.values(column)
        made = evaluate(node, lambda _: values)
        texts = np.array(_labels(made, values.array.shape))
        texts[~np.broadcast_to(made.present, texts.shape)] = "NULL"
        order = dict.fromkeys(
            texts[np.argsort(_sortable(made, len(texts)), kind="stable")].tolist()
        )
        labels = tuple(order)
        indices = {label: index for index, label in enumerate(labels)}
        classes = np.array([indices[text] for text in texts.tolist()])
        if column.public and not can_be_classed(self.scope.kind(column), classes):
            raise Refusal("public-group", position)
        text = text_of(node, self.conditions)
        name = self._alias_of(text) or f"{_word(node)}_{self.scope.columns[column]}".lower()
        return GroupBy(column, name, text, classes, labels)

    def _alias_of(self, text: str) -> str:
        """Return the name that AS gives a selected expression without aggregates."""
        for item in self.items:
            named = item.alias and not _has_aggregate(item.node)
            if named and text_of(item.node, self.conditions) == text:
                return item.alias
        return ""

    def _group_index(self, item: _Item) -> int:
        """Return which group a selected expression is, or refuse it."""
        columns = self.conditions.columns(item.node)
        if not columns:
            raise Refusal("select-expression", start(item.node))
        found = self._grouping(item.node, start(item.node))
        if found not in self.groups:
            raise Refusal("not-grouped", start(item.node))
        return self.groups.index(found)

    # Numbers

    @cached_property
    def numbers(self) -> dict[int, Aggregate]:
        """Return the selected numbers under their names, by the position of their item."""
        taken = self._taken_names()
        numbers: dict[int, Aggregate] = {}
        for position, item in enumerate(self.items):
            if _has_aggregate(item.node):
                numbers[position] = self._named(item, taken)
                self._check_numbers(list(numbers.values()), start(item.node))
        if not numbers:
            for item in self.items:
                _check_functions(item.node)
            raise Refusal("no-aggregate", start(self.select))
        return numbers

    def _shown(self) -> tuple[int | str, ...]:
        """Return the selected items in their order: indices of groups and names of numbers."""
        shown: list[int | str] = []
        for position, item in enumerate(self.items):
            if position in self.numbers:
                shown.append(self.numbers[position].name)
                continue
            index = self._group_index(item)
            if index in shown:
                raise Refusal("duplicate-name", start(item.node))
            shown.append(index)
        return tuple(shown)

    def _check_numbers(self, numbers: Sequence[Aggregate], position: int) -> None:
        """Refuse an answer with more numbers than a collector has time for.

        Every value that a quantile looks at is a number.
        """
        count = sum(len(each.moments) if each.separate else 1 for each in numbers)
        count *= prod(map(self._group_count, self.groups))
        if count > MOST_NUMBERS:
            detail = f": {count:,}, and at most {MOST_NUMBERS:,}"
            raise Refusal("too-many-numbers", position, detail)

    def _taken_names(self) -> set[str]:
        """Return the names that groups and AS take, in lower case; refuses a second use of one."""
        taken = {grouping.name.lower() for grouping in self.groups}
        for node, item in zip(self.select.expressions, self.items, strict=True):
            if not item.alias:
                continue
            position = start(node.args["alias"])
            name = item.alias.lower()
            if not (name.isidentifier() and name.isascii() and len(name) <= LONGEST_NAME):
                raise Refusal("name", position)
            if not _has_aggregate(item.node) and self.groups[self._group_index(item)].text:
                continue  # it is the name of the group
            parts = (*PARTS, *ATTACKED_PARTS)
            beside_others = {f"{other}{part}" for other in taken for part in parts}
            beside_this = {f"{name}{part}" for part in parts}
            if name in taken | beside_others or beside_this & taken:
                raise Refusal("duplicate-name", position)
            taken.add(name)
        return taken

    def _named(self, item: _Item, taken: set[str]) -> Aggregate:
        """Return a number under the name that AS gives it, or under a free name."""
        number = self._number(item.node)
        if item.alias:
            return replace(number, name=item.alias)
        columns = [
            self.scope.columns[term.column].lower() for term in number.measure if term.column
        ]
        plain = "_".join([number.sql_names[0].lower(), *columns])
        name = plain
        copies = 1
        while name in taken:
            copies += 1
            name = f"{plain}_{copies}"
        taken.add(name)
        return replace(number, name=name)

    def _number(self, node: exp.Expr) -> Aggregate:
        """Return an expression of aggregates and constants, without a name."""
        if isinstance(node, exp.Filter):
            return self._aggregate(node.this, self.narrowing(node.expression.this))
        if isinstance(node, exp.Anonymous) and node.this in aggregates():
            return self._aggregate(node, EVERYBODY)
        if isinstance(node, exp.Neg):
            return self._computed("*", Constant(value=-1.0), self._number(node.this), node)
        if type(node) in _OPERATORS:
            left, right = self._number(node.this), self._number(node.expression)
            return self._computed(_OPERATORS[type(node)], left, right, node)
        if isinstance(node, exp.Anonymous) and node.this == "ROUND" and node.expressions:
            number, *digits = node.expressions
            places = int(_constant(digits[0])) if digits else 0
            return Rounded(number=self._number(number), digits=places)
        if node.find(exp.Column):
            raise Refusal("not-grouped", start(node))
        if _has_aggregate(node):
            raise Refusal("select-expression", start(node))
        return Constant(value=_constant(node))

    def _computed(
        self, operator: str, left: Aggregate, right: Aggregate, node: exp.Expr
    ) -> Aggregate:
        """Return two numbers that are computed with."""
        if not (left.separate or right.separate):
            return Formula(operator=operator, operands=(left, right))
        total = summed(operator, left, right)
        if total is None:
            raise Refusal("quantile-formula", start(node))
        return total

    def narrowing(self, node: exp.Expr) -> Condition:
        """Return the condition of FILTER, which is about private columns alone."""
        if any(column.public for column in self.conditions.columns(node)):
            raise Refusal("public-filter", start(node))
        return self.conditions.condition(node)

    def _aggregate(self, node: exp.Anonymous, narrowing: Condition) -> Aggregate:
        kind = aggregates().get(node.this)
        if kind is None:
            raise Refusal("function", start(node))
        if len(node.expressions) != 1 + kind.constant_count:
            raise Refusal("arguments", start(node))
        return kind.read(_Call(self, node, narrowing))

    def dated(self, argument: exp.Expr) -> MeasuredSum | None:
        """Return the dates of one private column as days; None if the argument is no date."""
        if _has_aggregate(argument):
            return None
        if any(column.public for column in self.conditions.columns(argument)):
            raise Refusal("public-quantile", start(argument))
        return MeasureReader(self.conditions).dated(argument)

    def centre(self, term: MeasureTerm) -> float:
        """Return the middle of the numbers of a term's column."""
        assert term.column is not None
        numbers = term.of_column(self.scope.kind(term.column))
        return float((numbers.min() + numbers.max()) / 2)

    def measured(self, argument: exp.Expr) -> MeasuredSum:
        if isinstance(argument, exp.Distinct):
            raise Refusal("distinct", start(argument))
        if isinstance(argument, exp.Star):
            raise Refusal("syntax", start(argument))
        if _has_aggregate(argument):
            raise Refusal("function", start(argument))
        for condition in argument.find_all(exp.If):
            self.narrowing(condition.this)
        return MeasureReader(self.conditions).measure(argument)

    def counted(self, argument: exp.Expr) -> MeasuredSum:
        """Return what COUNT counts: everything, what is not NULL, or people."""
        if isinstance(argument, exp.Star):
            return MeasuredSum(())
        if isinstance(argument, exp.Distinct):
            (named,) = argument.expressions
            if not (isinstance(named, exp.Column) and self.scope.is_person(named)):
                raise Refusal("distinct", start(argument))
            if any(map(self.scope.domain.most, self.scope.joined.values())):
                raise Refusal("distinct-people", start(argument))
            return MeasuredSum(())
        if isinstance(argument, exp.Column) and self.scope.is_person(argument):
            return MeasuredSum(())  # nobody is without a uid
        if isinstance(argument, exp.Column):
            column = self.scope.column(argument)
            missing = declined(self.scope.kind(column))
            if column.public or not missing.any():  # nobody's value is missing
                return MeasuredSum(())
            return MeasuredSum((), Within(column, ~missing))
        return MeasuredSum((), self.measured(argument).present)

    def count_of(self, measure: MeasuredSum, call: exp.Expr) -> Moment:
        if measure.present == EVERYBODY:
            return COUNTED
        return Moment((MeasureTerm(where=self.together(measure.present, call)),))

    def terms(self, measure: MeasuredSum, call: exp.Expr) -> tuple[MeasureTerm, ...]:
        return tuple(self._term(term, call) for term in measure.terms)

    def _term(self, term: ConditionalTerm, call: exp.Expr) -> MeasureTerm:
        where = None if term.where == EVERYBODY else self.together(term.where, call)
        times = tuple(MeasureTerm(1.0, each.column, function=each.function) for each in term.times)
        return MeasureTerm(
            term.factor, term.column, function=term.function, where=where, times=times
        )

    def together(self, condition: Condition, call: exp.Expr) -> tuple[Monomial, ...]:
        """Return a condition together with those of the query."""
        among, monomials = self._expanded(conjunction([self.where, condition]), call)
        if among == EVERYBODY:
            return monomials
        return tuple(replace(each, public=AllOf((among, each.public))) for each in monomials)

    def _expanded(
        self, condition: Condition, node: exp.Expr
    ) -> tuple[Public, tuple[Monomial, ...]]:
        if condition == NOBODY:
            return EVERYBODY, ()
        try:
            return expanded(condition)
        except TooManyTermsError:
            where = node.this if isinstance(node, exp.Where) else node
            raise Refusal("too-many-terms", start(where)) from None

    # HAVING and ORDER BY

    def _having(self) -> exp.Expr | None:
        """Return HAVING as a condition over the names of numbers."""
        having = self.select.args.get("having")
        if having is None:
            return None
        tree = exp.Paren(this=having.this.copy())
        for node in list(tree.find_all(exp.Filter, exp.Anonymous, exp.Column)):
            if node.find_ancestor(exp.Filter, exp.Anonymous) is not None or _is_constant(node):
                continue
            name = self._name_of(node)
            if not name:
                raise Refusal("having-item", start(node))
            named = exp.Column(this=exp.Identifier(this=name))
            named.meta["start"] = start(node)
            node.replace(named)
        condition: exp.Expr = tree.this
        self._check_having(condition)
        return condition

    def _check_having(self, condition: exp.Expr) -> None:
        """Refuse what cannot be compared, whatever the numbers turn out to be."""
        numbers = {number.name: number for number in [*self.numbers.values(), *self.hidden]}
        truth(condition, lambda column: Values.of_missing(dated=numbers[column.name].dated))

    def _order(self) -> tuple[SortItem, ...]:
        order = self.select.args.get("order")
        items: list[SortItem] = []
        for item in order.expressions if order else ():
            name = self._order_name(item.this)
            if not name:
                raise Refusal("order-item", start(item))
            items.append(SortItem(name, bool(item.args["desc"])))
        return tuple(items)

    def _order_name(self, node: exp.Expr) -> str:
        """Return the name of the number or the group that is meant; empty if there is none."""
        name = self._name_of(node)
        if name:
            return name
        meant = self._meant(node)
        if _has_aggregate(meant):
            return self._name_of(meant)
        try:
            grouping = self._grouping(meant, start(node))
        except Refusal as refusal:
            if refusal.rule not in ("unknown-column", "group-expression"):
                raise
            return ""
        alike = [group for group in self.groups if group.name == grouping.name]
        return grouping.name if alike == [grouping] else ""

    def _name_of(self, node: exp.Expr) -> str:
        """Return the name of a number, which is added to the hidden ones if it is not selected."""
        if isinstance(node, exp.Column) and not node.table:
            named = [each.name for each in self.numbers.values()]
            return next((name for name in named if name.lower() == node.name.lower()), "")
        if not _has_aggregate(node):
            return ""
        text = text_of(node, self.conditions)
        for position, number in self.numbers.items():
            if text_of(self.items[position].node, self.conditions) == text:
                return number.name
        name = f"hidden {text}"
        if all(each.name != name for each in self.hidden):
            self.hidden.append(replace(self._number(node), name=name))
            self._check_numbers([*self.numbers.values(), *self.hidden], start(node))
        return name


@dataclass(frozen=True, eq=False)
class _Call(Call):
    """One call of an aggregate: its ``node``, and the condition of its FILTER."""

    reader: _Reader
    node: exp.Anonymous
    narrowing: Condition

    @property
    def argument(self) -> exp.Expr:
        """Return what stands first in the brackets."""
        first: exp.Expr = self.node.expressions[0]
        return first

    @cached_property
    def constants(self) -> tuple[float, ...]:
        return tuple(_constant(node) for node in self.node.expressions[1:])

    def refuse(self, rule: str, argument: int) -> NoReturn:
        raise Refusal(rule, start(self.node.expressions[argument]))

    def notice(self, text: str) -> None:
        self.reader.conditions.notices.append(text)

    def counted_star(self) -> Moment:
        return self._count(self._narrowed(self.reader.counted(self.argument)))

    def counted_condition(self) -> Moment:
        condition = self.reader.narrowing(self.argument)
        return self._count(self._narrowed(MeasuredSum((), condition)))

    def columns(self) -> tuple[MeasureTerm, ...]:
        terms = self._terms(self._measure)
        if not terms:
            raise Refusal("empty-sum", start(self.argument))
        return terms

    def column(self) -> MeasureTerm:
        terms = self._terms(self._measure)
        with_column = [term for term in terms if term.column is not None]
        if len(with_column) > 1 or any(term.times for term in with_column):
            raise Refusal("one-column", start(self.node))
        if not with_column:
            raise Refusal("empty-sum", start(self.argument))
        (term,) = with_column
        return replace(term, centre=self.reader.centre(term))

    def counted(self) -> Moment:
        return self._count(self._measure)

    def ordered_values(self) -> OrderedValues:
        argument = self.argument
        if isinstance(argument, exp.Column) and self.reader.scope.column(argument).public:
            return self._public_values(argument)
        dated = self.reader.dated(argument)
        measure = self._measure if dated is None else self._narrowed(dated)
        terms = [term for term in self._terms(measure) if term.column is not None]
        added = sum(term.factor for term in measure.terms if term.column is None)
        if len(terms) != 1 or terms[0].times:
            raise Refusal("one-column", start(self.node))
        (term,) = terms
        assert term.column is not None
        if term.column.public:
            raise Refusal("public-quantile", start(argument))
        numbers = term.factor * term.of_column(self.reader.scope.kind(term.column)) + added
        return OrderedValues(term, self._count(measure), numbers, of_dates=dated is not None)

    def _public_values(self, argument: exp.Column) -> OrderedValues:
        """Return the values of a public column: exact without private conditions.

        What it counts are records that meet the conditions and have some of the column's values.
        """
        column = self.reader.scope.column(argument)
        domain = self.reader.scope.kind(column)
        if not domain.has_ranges:
            raise Refusal("category-measure", start(argument))
        if domain.rounding is not None or domain.size > MAX_PUBLIC_VALUES:
            raise Refusal("public-quantile", start(argument))
        where = self.reader.together(self.narrowing, self.node)
        return OrderedValues(
            term=MeasureTerm(1.0, column),
            counted=self._count(MeasuredSum((), self.narrowing)),
            numbers=domain.value_numbers,
            of_dates=domain.value_type == "date",
            public=PublicValues(column, domain.engine_values(), where),
        )

    @cached_property
    def _measure(self) -> MeasuredSum:
        """Return what the argument adds up."""
        return self._narrowed(self.reader.measured(self.argument))

    def _narrowed(self, measure: MeasuredSum) -> MeasuredSum:
        return measure if self.narrowing == EVERYBODY else measure.under(self.narrowing)

    def _terms(self, measure: MeasuredSum) -> tuple[MeasureTerm, ...]:
        return self.reader.terms(measure, self.node)

    def _count(self, measure: MeasuredSum) -> Moment:
        return self.reader.count_of(measure, self.node)


def _table_name(tree: exp.Show, domain: Tables) -> str:
    """Return the table that DESCRIBE names, or * for SHOW TABLES."""
    known = {"*": "*", **{name.lower(): name for name in domain.names}}
    if tree.name.lower() not in known:
        raise Refusal("unknown-table", start(tree), f": there are {', '.join(domain.names)}")
    return known[tree.name.lower()]


def _has_aggregate(node: exp.Expr) -> bool:
    return any(call.this in aggregates() for call in node.find_all(exp.Anonymous))


def _check_functions(node: exp.Expr) -> None:
    """Refuse the first unknown function in an expression without an aggregate."""
    for call in node.find_all(exp.Anonymous):
        if call.this not in (*FUNCTIONS, *DATE_FUNCTIONS):
            raise Refusal("function", start(call))


def _is_constant(node: exp.Expr) -> bool:
    return not node.find(exp.Column) and not _has_aggregate(node)


def _constant(node: exp.Expr) -> float:
    """Return the number that an expression without columns is."""
    values = evaluate(node, _refuse)
    if values.kind != "number" or not values.present[0]:
        raise Refusal("number", start(node))
    return float(values.array[0])


def _refuse(column: exp.Column) -> Any:
    raise Refusal("not-grouped", start(column))


def _labels(made: Values, shape: tuple[int, ...]) -> list[str]:
    """Return the names of groups: texts, dates, or numbers without needless digits."""
    entries = np.broadcast_to(made.array, shape)
    if made.kind == "date":
        return dates.text_of(entries)
    if made.kind == "interval":
        return list(map(str, entries))
    return [each if isinstance(each, str) else f"{float(each):.6g}" for each in entries]


def _sortable(made: Any, count: int) -> Any:
    """Return what groups are ordered by: numbers by their size, texts as they come."""
    if made.kind == "text":
        return np.zeros(count)
    return np.where(made.present, np.broadcast_to(np.asarray(made.array, float), count), np.inf)


def _word(node: exp.Expr) -> str:
    """Return the word by which an expression is named: its function, or the part of a date."""
    if isinstance(node, exp.Anonymous) and node.this in ("DATE_PART", "DATE_TRUNC"):
        return str(node.expressions[0].name)
    return str(node.this) if isinstance(node, exp.Anonymous) else type(node).__name__


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
        if not node.is_string and 0 < number_of(node) < 1:
            return number_of(node)
        raise Refusal("option-value", start(node), f": {name} is a number between 0 and 1")
    if not node.is_string and node.name.isdigit() and len(node.name) <= 9 and int(node.name):
        return int(node.name)
    raise Refusal("option-value", start(node), f": {name} is a whole number from 1 to 999,999,999")
