"""Evaluates an expression for all values of a column at once.

A column has few values beside the people who hold them.  So an expression of one column, however it
is written, is an array with an entry per value: truth for a condition, numbers for a measure, texts
or numbers for a group.  An entry that is not ``present`` is SQL's NULL.

>>> from sottovoce.sql.grammar import parsed
>>> tree = parsed("SELECT SUM(FLOOR(age / 10)) FROM people").expressions[0].expressions[0]
>>> evaluate(tree, lambda column: Values.of_numbers([8, 19, 20])).array.tolist()
[0.0, 1.0, 2.0]
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal
from unicodedata import normalize

import numpy as np
from sqlglot import exp

from sottovoce.arrays import Bools, Floats
from sottovoce.sql import dates
from sottovoce.sql.errors import Refusal
from sottovoce.sql.grammar import start

Kind = Literal["number", "text", "truth", "date", "interval", "null"]

_COMPARISONS: dict[type[exp.Expr], Any] = {
    exp.EQ: np.equal,
    exp.NEQ: np.not_equal,
    exp.LT: np.less,
    exp.LTE: np.less_equal,
    exp.GT: np.greater,
    exp.GTE: np.greater_equal,
}
_ARITHMETIC: dict[type[exp.Expr], Any] = {
    exp.Add: np.add,
    exp.Sub: np.subtract,
    exp.Mul: np.multiply,
}
_DIVISIONS: dict[type[exp.Expr], Any] = {
    exp.Div: np.true_divide,
    exp.IntDiv: np.floor_divide,
    exp.Mod: np.remainder,
}
_UNITS = f" (units: {', '.join(dates.SPANS)})"
_WITHOUT_WEEKS = f"{_UNITS.replace('week, ', '')}; weeks are (e - d) / 7"
_PARTS = f" (parts: {', '.join(dates.PARTS)})"
_MAX_DIGITS = 15
_LARGEST = (1 << 63) - 1  # of the whole numbers that arrays hold
_LONGEST = 40  # digits of a literal that is read as a whole number


@dataclass(frozen=True, eq=False)
class Values:
    """An entry per value of a column; those that are not ``present`` are NULL."""

    kind: Kind
    array: Any
    present: Bools

    @classmethod
    def of_numbers(cls, numbers: Sequence[float] | Floats) -> "Values":
        """Return numbers, all present."""
        return cls("number", np.asarray(numbers), np.ones(len(numbers), bool))

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> "Values":
        """Return texts, all present."""
        return cls("text", np.array(texts, object), np.ones(len(texts), bool))

    @classmethod
    def of_missing(cls, *, dated: bool) -> "Values":
        """Return one number, or one date, that is NULL."""
        if dated:
            return cls("date", np.zeros(1, int), np.zeros(1, bool))
        return cls("number", np.zeros(1), np.zeros(1, bool))

    @property
    def holds(self) -> Bools:
        """Return where a condition is true: NULL is not."""
        return np.asarray(self.array.astype(bool) & self.present)


Lookup = Callable[[exp.Column], Values]


def evaluate(node: exp.Expr, lookup: Lookup) -> Values:
    """Return what an expression is for every value of its column; ``lookup`` returns the column."""
    return _Evaluator(lookup).values(node)


def truth(node: exp.Expr, lookup: Lookup) -> Bools:
    """Return for which values of its column a condition holds."""
    values = evaluate(node, lookup)
    if values.kind == "null":
        return np.zeros(len(values.present), bool)
    if values.kind != "truth":
        raise Refusal("bare-column", start(node))
    return values.holds


def met(node: exp.Expr, lookup: Lookup) -> bool:
    """Return whether single numbers meet a condition that ``truth`` has taken for others.

    They do not if what is computed from them is too large for a number.
    """
    try:
        return bool(truth(node, lookup)[0])
    except Refusal:
        return False


@dataclass(frozen=True, eq=False)
class _Evaluator:
    """Walks down a tree; arrays of one entry stand for constants."""

    lookup: Lookup

    def values(self, node: exp.Expr) -> Values:
        """Return the values of any node."""
        for kind, evaluated in _NODES.items():
            if isinstance(node, kind):
                found: Values = evaluated(self, node)
                return found
        raise Refusal("expression", start(node))

    def column(self, node: exp.Column) -> Values:
        return self.lookup(node)

    def literal(self, node: exp.Literal) -> Values:
        if node.is_string:
            return Values.of_texts([normalize("NFC", node.name)])
        return Values.of_numbers([number_of(node)])

    def boolean(self, node: exp.Boolean) -> Values:
        return Values("truth", np.array([bool(node.this)]), np.ones(1, bool))

    def null(self, node: exp.Null) -> Values:
        return Values("null", np.zeros(1), np.zeros(1, bool))

    def negative(self, node: exp.Neg) -> Values:
        values = self.numbers(node.this)
        return Values("number", -values.array, values.present)

    def arithmetic(self, node: exp.Binary) -> Values:
        left, right = self.values(node.this), self.values(node.expression)
        if isinstance(node, (exp.Add, exp.Sub)) and {left.kind, right.kind} & {"date", "interval"}:
            return self._of_dates(node, left, right)
        left, right = _numbers(left, node.this), _numbers(right, node.expression)
        present = left.present & right.present
        with np.errstate(all="ignore"):
            if type(node) in _ARITHMETIC:
                array = _exactly(_ARITHMETIC[type(node)], left.array, right.array)
            else:
                present = present & (right.array != 0)
                divisor = np.where(right.array == 0, 1, right.array)
                array = _DIVISIONS[type(node)](_machine(left.array), _machine(divisor))
        if not np.isfinite(np.asarray(array, float)[np.broadcast_to(present, array.shape)]).all():
            raise Refusal("number", start(node))
        return Values("number", array, present)

    def _of_dates(self, node: exp.Add | exp.Sub, left: Values, right: Values) -> Values:
        """Return a date some interval or some days later or earlier, or the days between two
        dates.
        """
        backwards = isinstance(node, exp.Sub)
        if left.kind == "text":
            left = _date(left, node.this)
        if right.kind == "text":
            right = _date(right, node.expression)
        kinds = (left.kind, right.kind)
        present = left.present & right.present
        if kinds in (("interval", "date"), ("number", "date")) and not backwards:
            left, right, kinds = right, left, kinds[::-1]
        if kinds == ("date", "interval"):
            span: dates.Interval = right.array[0]
            moved = span.times(-1 if backwards else 1).after(left.array)
            return Values("date", moved, present)
        if kinds == ("date", "number") and right.array.dtype.kind in "iu":
            days = -right.array if backwards else right.array
            return Values("date", left.array + days * dates.DAY, present)
        if kinds == ("date", "date") and backwards:
            return Values("number", (left.array - right.array) / dates.DAY, present)
        raise Refusal("date-arithmetic", start(node))

    def comparison(self, node: exp.Binary) -> Values:
        left, right = self.values(node.this), self.values(node.expression)
        if "null" in (left.kind, right.kind):
            return self.null(exp.Null())
        if left.kind == "date" and right.kind == "text":
            right = _date(right, node.expression)
        elif right.kind == "date" and left.kind == "text":
            left = _date(left, node.this)
        self._check_alike(node, left, right)
        if left.kind == "text" and not isinstance(node, (exp.EQ, exp.NEQ)):
            raise Refusal("range-category", start(node))
        compare = _COMPARISONS[type(node)]
        if left.kind == "number" and left.array.dtype != right.array.dtype:
            # A float and a large whole number: Python compares them exactly, arrays do not.
            compared = compare(left.array.astype(object), right.array.astype(object))
        else:
            compared = compare(left.array, right.array)
        return Values("truth", compared, left.present & right.present)

    def _check_alike(self, node: exp.Binary, left: Values, right: Values) -> None:
        """Refuse to compare a number with a text, at the side that is written as a literal."""
        if left.kind == right.kind:
            return
        sides = [node.this, node.expression]
        literal = next((side for side in sides if not side.find(exp.Column)), node)
        raise Refusal("literal-type", start(literal))

    def between(self, node: exp.Between) -> Values:
        low, high = node.args["low"], node.args["high"]
        pairs = [(low, high), (high, low)] if node.args.get("symmetric") else [(low, high)]
        ranges = [
            self._all([_placed(exp.GTE, node, lower), _placed(exp.LTE, node, upper)])
            for lower, upper in pairs
        ]
        return reduce(_either, ranges)

    def listed(self, node: exp.In) -> Values:
        equal = [self.values(_placed(exp.EQ, node, each)) for each in node.expressions]
        return reduce(_either, equal)

    def like(self, node: exp.Like | exp.ILike) -> Values:
        texts, pattern = self.values(node.this), node.expression
        if texts.kind != "text" or not (isinstance(pattern, exp.Literal) and pattern.is_string):
            raise Refusal("like", start(node))
        flags = re.DOTALL | (re.IGNORECASE if isinstance(node, exp.ILike) else 0)
        wanted = re.compile(_regular_expression(normalize("NFC", pattern.name)), flags)
        found = np.array([bool(wanted.fullmatch(text)) for text in texts.array], bool)
        return Values("truth", found, texts.present)

    def is_null(self, node: exp.Is) -> Values:
        values = self.values(node.this)
        return Values("truth", ~values.present, np.ones(len(values.present), bool))

    def both(self, node: exp.And) -> Values:
        return self._all([node.this, node.expression])

    def either(self, node: exp.Or) -> Values:
        return _either(self.condition(node.this), self.condition(node.expression))

    def opposite(self, node: exp.Not) -> Values:
        values = self.condition(node.this)
        return Values("truth", ~values.array.astype(bool), values.present)

    def _all(self, nodes: Sequence[exp.Expr]) -> Values:
        parts = [self.condition(node) for node in nodes]
        return reduce(_both, parts)

    def case(self, node: exp.Case) -> Values:
        """Return the branch of the first condition that holds, or of ELSE, or NULL."""
        branches = [(branch.this, branch.args["true"]) for branch in node.args["ifs"]]
        default = node.args.get("default")
        chosen = self.null(exp.Null()) if default is None else self.values(default)
        for condition, result in reversed(branches):
            holds = self.condition(condition)
            taken = self.values(result)
            chosen = self._chosen(holds.holds, taken, chosen, node)
        return chosen

    def _chosen(self, holds: Bools, then: Values, otherwise: Values, node: exp.Expr) -> Values:
        kinds = {then.kind, otherwise.kind} - {"null"}
        if len(kinds) > 1:
            raise Refusal("case-types", start(node))
        kind: Kind = kinds.pop() if kinds else "null"
        array = np.where(holds, then.array, otherwise.array)
        return Values(kind, array, np.where(holds, then.present, otherwise.present))

    def call(self, node: exp.Anonymous) -> Values:
        if node.this in _DATE_FUNCTIONS or node.this.lower() in dates.PARTS:
            return self._date_call(node)
        function = _FUNCTIONS.get(node.this)
        if function is None:
            raise Refusal("function", start(node))
        arguments = [self.numbers(argument) for argument in node.expressions]
        low, high, compute = function
        if not low <= len(arguments) <= high:
            raise Refusal("arguments", start(node))
        present = reduce(np.logical_and, (argument.present for argument in arguments))
        with np.errstate(all="ignore"):
            array = compute(*(_machine(argument.array) for argument in arguments))
        return Values("number", array, present & np.isfinite(np.asarray(array, float)))

    def _date_call(self, node: exp.Anonymous) -> Values:
        """Return a function of dates; those named after a part of a date take it alone."""
        name, arguments = node.this, node.expressions
        if name not in _DATE_FUNCTIONS:
            word = exp.Literal.string(name)
            word.meta["start"] = start(node)
            name, arguments = "DATE_PART", [word, *arguments]
        count, compute = _DATE_FUNCTIONS[name]
        if len(arguments) != count:
            raise Refusal("arguments", start(node))
        return compute(self, arguments)

    def interval(self, arguments: Sequence[exp.Expr]) -> Values:
        amount, unit = arguments
        span = dates.interval(unit.name, None if isinstance(amount, exp.Null) else _whole(amount))
        if span is None:
            raise Refusal("interval", start(unit))
        return Values("interval", np.array([span], object), np.ones(1, bool))

    def date(self, arguments: Sequence[exp.Expr]) -> Values:
        values = self.moments(arguments[0])
        return Values("date", dates.truncated("day", values.array), values.present)

    def timestamp(self, arguments: Sequence[exp.Expr]) -> Values:
        return self.moments(arguments[0])

    def date_trunc(self, arguments: Sequence[exp.Expr]) -> Values:
        return self._by_word("date", arguments, dates.truncated, Refusal("date-unit", 0, _UNITS))

    def date_part(self, arguments: Sequence[exp.Expr]) -> Values:
        return self._by_word("number", arguments, dates.part, Refusal("date-part", 0, _PARTS))

    def date_diff(self, arguments: Sequence[exp.Expr]) -> Values:
        """Return how many units begin after one date and up to another."""
        unit, *both = arguments
        moments = [self.moments(each) for each in both]
        earlier, later = (dates.boundary(_word(unit), each.array) for each in moments)
        if earlier is None or later is None:
            raise Refusal("date-unit", start(unit), _WITHOUT_WEEKS)
        return Values("number", later - earlier, moments[0].present & moments[1].present)

    def _by_word(
        self,
        kind: Kind,
        arguments: Sequence[exp.Expr],
        compute: Callable[[str, Any], Any],
        refusal: Refusal,
    ) -> Values:
        """Return what a function makes of dates, given the word that names a unit or a part."""
        word, moments = arguments
        values = self.moments(moments)
        array = compute(_word(word), values.array)
        if array is None:
            raise Refusal(refusal.rule, start(word), refusal.detail)
        return Values(kind, array, values.present)

    def moments(self, node: exp.Expr) -> Values:
        """Return the values of a node that must be a date, or a text that is one."""
        values = self.values(node)
        if values.kind == "text":
            return _date(values, node)
        if values.kind != "date":
            raise Refusal("not-a-date", start(node))
        return values

    def numbers(self, node: exp.Expr) -> Values:
        """Return the values of a node that must be a number."""
        return _numbers(self.values(node), node)

    def condition(self, node: exp.Expr) -> Values:
        """Return the values of a node that must be true or false."""
        values = self.values(node)
        if values.kind not in ("truth", "null"):
            raise Refusal("bare-column", start(node))
        return values


_NODES: dict[type[exp.Expr] | tuple[type[exp.Expr], ...], Callable[[Any, Any], Values]] = {
    exp.Column: _Evaluator.column,
    exp.Literal: _Evaluator.literal,
    exp.Boolean: _Evaluator.boolean,
    exp.Null: _Evaluator.null,
    exp.Neg: _Evaluator.negative,
    (*_ARITHMETIC, *_DIVISIONS): _Evaluator.arithmetic,
    tuple(_COMPARISONS): _Evaluator.comparison,
    exp.Between: _Evaluator.between,
    exp.In: _Evaluator.listed,
    (exp.Like, exp.ILike): _Evaluator.like,
    exp.Is: _Evaluator.is_null,
    exp.And: _Evaluator.both,
    exp.Or: _Evaluator.either,
    exp.Not: _Evaluator.opposite,
    exp.Case: _Evaluator.case,
    exp.Anonymous: _Evaluator.call,
}


def number_of(node: exp.Expr) -> float:
    """Return the number that a literal spells: a whole one exactly, as an int."""
    text = node.name
    whole, _, fraction = text.partition(".")
    if whole.isdigit() and len(whole) <= _LONGEST and not fraction.strip("0"):
        return int(whole) if int(whole) <= _LARGEST else float(whole)
    try:
        number = float(text)
    except ValueError:
        raise Refusal("number", start(node)) from None
    if not np.isfinite(number):
        raise Refusal("number", start(node))
    return number


def _exactly(compute: Any, left: Any, right: Any) -> Any:
    """Return sums or products; whole numbers that do not fit the machine's become Python's."""
    if np.result_type(left, right).kind in "iu":
        size = np.abs(compute(left.astype(float), right.astype(float)))
        if (size >= _LARGEST).any():
            return compute(left.astype(object), right.astype(object))
    return compute(left, right)


def _machine(numbers: Any) -> Any:
    """Return numbers of the machine: Python's whole numbers become floats."""
    return numbers.astype(float) if numbers.dtype == object else numbers


def _rounded(numbers: Any, digits: Any = None) -> Any:
    wanted = 0 if digits is None else digits.flat[0]
    scale = 10.0 ** int(np.clip(wanted, -_MAX_DIGITS, _MAX_DIGITS))
    scaled = np.abs(np.asarray(numbers, float)) * scale
    return np.copysign(np.floor(scaled + 0.5) / scale, numbers)  # halves away from 0


# Name of a function of numbers: fewest and most arguments, and what computes it.
_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Any]]] = {
    "ABS": (1, 1, np.abs),
    "CEIL": (1, 1, np.ceil),
    "CEILING": (1, 1, np.ceil),
    "FLOOR": (1, 1, np.floor),
    "MOD": (2, 2, np.remainder),
    "ROUND": (1, 2, _rounded),
    "SQRT": (1, 1, np.sqrt),
}
FUNCTIONS = tuple(_FUNCTIONS)

# Name of a function of dates: how many arguments, and what computes it.
_DATE_FUNCTIONS: dict[str, tuple[int, Callable[[_Evaluator, Sequence[exp.Expr]], Values]]] = {
    "DATE": (1, _Evaluator.date),
    "TIMESTAMP": (1, _Evaluator.timestamp),
    "INTERVAL": (2, _Evaluator.interval),
    "DATE_TRUNC": (2, _Evaluator.date_trunc),
    "DATE_PART": (2, _Evaluator.date_part),
    "DATE_DIFF": (3, _Evaluator.date_diff),
    "DATEDIFF": (3, _Evaluator.date_diff),
}
DATE_FUNCTIONS = (*_DATE_FUNCTIONS, *(part.upper() for part in dates.PARTS))


def _numbers(values: Values, node: exp.Expr) -> Values:
    """Return values that must be numbers; NULL is one that is not present."""
    if values.kind == "null":
        return Values("number", values.array, values.present)
    if values.kind in ("date", "interval"):
        raise Refusal("date-measure", start(node))
    if values.kind != "number":
        raise Refusal("category-measure", start(node))
    return values


def _date(values: Values, node: exp.Expr) -> Values:
    """Return texts as dates."""
    moments = [dates.moment(text) for text in values.array]
    if None in moments:
        raise Refusal("date", start(node))
    return Values("date", np.array(moments, np.int64), values.present)


def _word(node: exp.Expr) -> str:
    """Return the word that names a unit or a part of a date, in lower case."""
    if not (isinstance(node, exp.Literal) and node.is_string):
        raise Refusal("date-unit", start(node), _UNITS)
    return node.name.lower()


def _whole(node: exp.Expr) -> int:
    """Return the whole number of an interval."""
    values = evaluate(node, _refuse_column)
    if values.kind != "number" or values.array.dtype.kind not in "iu":
        raise Refusal("interval", start(node))
    return int(values.array[0])


def _refuse_column(column: exp.Column) -> Values:
    raise Refusal("interval", start(column))


def _both(left: Values, right: Values) -> Values:
    """Return AND: false as soon as one is false, NULL if one is NULL and the other not false."""
    holds = left.holds & right.holds
    fails = (left.present & ~left.holds) | (right.present & ~right.holds)
    return Values("truth", holds, holds | fails)


def _either(left: Values, right: Values) -> Values:
    """Return OR: true as soon as one is true, NULL if one is NULL and the other not true."""
    holds = left.holds | right.holds
    fails = (left.present & ~left.holds) & (right.present & ~right.holds)
    return Values("truth", holds, holds | fails)


def _placed(kind: type[exp.Binary], node: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return a comparison of a node's column with a bound, at the position of the node."""
    compared = kind(this=node.this.copy(), expression=right.copy())
    compared.meta["start"] = start(node)
    return compared


def _regular_expression(pattern: str) -> str:
    """Return a LIKE pattern as a regular expression: % is any text, _ any character."""
    parts = {"%": ".*", "_": "."}
    return "".join(parts.get(letter, re.escape(letter)) for letter in pattern)
