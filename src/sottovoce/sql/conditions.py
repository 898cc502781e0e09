"""AND, OR and NOT of conditions become a sum of signed products of one set for each column.

Sets of one column are merged first.  Across columns a sum is looked for that has few terms: products and complements of
what the parts need (inclusion and exclusion), or, where all cases can be listed, a split by one column after another.
Every sum is an identity between indicators, hence holds whatever the columns have to do with each other.

Source: Wang 2021, section 7.6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np

from sottovoce.arrays import Bools, Ints
from sottovoce.errors import ParameterError
from sottovoce.sql.query import Column, Compared, Every, Listed, Monomial, Opposite, Public, Some

MOST_TERMS = 256
MOST_PRODUCTS = 1 << 14  # pairs of terms that one multiplication looks at
MOST_CASES = 256  # combinations of values, up to those that behave alike, that are listed
MOST_SPLITS = 400  # after so many the first one that works is taken

Term: TypeAlias = tuple[tuple[int, int], ...]  # the variables of a product, ascending, each with the bits of its set
Sum: TypeAlias = dict[Term, int]
ONE: Sum = {(): 1}


@dataclass(frozen=True, eq=False)
class Within:
    """A column has one of the values that are true in ``held``."""

    column: Column
    held: Bools


@dataclass(frozen=True, eq=False)
class Both:
    """All of some conditions."""

    parts: "tuple[Condition, ...]"


@dataclass(frozen=True, eq=False)
class Either:
    """At least one of some conditions."""

    parts: "tuple[Condition, ...]"


@dataclass(frozen=True, eq=False)
class Negation:
    """Not a condition."""

    part: "Condition"


Condition: TypeAlias = Within | Both | Either | Negation | Public


class TooManyTermsError(ParameterError):
    """The condition needs more terms than a question may have."""


def expanded(condition: Condition) -> tuple[Public, tuple[Monomial, ...]]:
    """Return what holds for the whole question of public columns, and the rest as a sum of products."""
    plain = _merged(condition, negative=False)
    if isinstance(plain, Public):
        return plain, (Monomial(1.0),)
    among: Public = Every()
    if isinstance(plain, Both):
        among = next((part for part in plain.parts if isinstance(part, Public)), among)
        plain = _joined(Both, [part for part in plain.parts if not isinstance(part, Public)])
    variables = _Variables()
    variables.take(plain)
    found = _best(plain, variables)
    if len(found) > MOST_TERMS:
        raise TooManyTermsError("the condition needs too many terms")
    return among, tuple(variables.monomial(term, found[term]) for term in sorted(found, key=_plainest))


def _merged(condition: Condition, *, negative: bool) -> Condition:
    """Push NOT to the leaves, and make one leaf of what is about one column or about public ones only."""
    if isinstance(condition, Within):
        return Within(condition.column, ~condition.held) if negative else condition
    if isinstance(condition, Negation):
        return _merged(condition.part, negative=not negative)
    if isinstance(condition, (Both, Either)):
        kind = Both if isinstance(condition, Both) != negative else Either
        return _joined(kind, [_merged(part, negative=negative) for part in condition.parts])
    if not negative:
        return condition
    return condition.part if isinstance(condition, Opposite) else Opposite(condition)


def _joined(kind: type[Both] | type[Either], parts: Sequence[Condition]) -> Condition:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    held: dict[Column, Bools] = {}
    public: list[Public] = []
    rest: list[Condition] = []
    for part in flat:
        if isinstance(part, Within):
            before = held.get(part.column, part.held)
            held[part.column] = before & part.held if kind is Both else before | part.held
        elif isinstance(part, Public):
            nested = part.parts if isinstance(part, Every if kind is Both else Some) else (part,)
            public += [one for one in nested if one not in public]
        else:
            rest.append(part)
    if public:
        whole = Every(tuple(public)) if kind is Both else Some(tuple(public))
        rest.append(public[0] if len(public) == 1 else whole)
    rest += [Within(column, values) for column, values in held.items()]
    return rest[0] if len(rest) == 1 else kind(tuple(rest))


@dataclass
class _Variables:
    """The columns and public conditions of a condition; a column's values are classed by the sets they are in."""

    keys: list[Column | Public] = field(default_factory=list)
    classes: dict[int, Ints] = field(default_factory=dict)  # the class of every value of a column
    counts: dict[int, int] = field(default_factory=dict)
    known: dict[int, tuple[int, int]] = field(default_factory=dict)
    sets: dict[tuple[int, int], Bools] = field(default_factory=dict)

    def take(self, condition: Condition) -> None:
        if isinstance(condition, (Both, Either)):
            for part in condition.parts:
                self.take(part)
            return
        key, held = _leaf(condition)
        if key not in self.keys:
            self.keys.append(key)
            self.classes[len(self.keys) - 1] = np.zeros(len(held), np.int64)
        at = self.keys.index(key)
        finer = 2 * self.classes[at] + held
        present = np.bincount(finer) > 0
        self.classes[at] = (np.cumsum(present) - 1)[finer]

    def count(self, variable: int) -> int:
        if variable not in self.counts:
            self.counts[variable] = int(self.classes[variable].max()) + 1
        return self.counts[variable]

    def leaf(self, condition: Condition) -> tuple[int, int]:
        """Return the variable that a leaf is about, and the bits of the classes in its set."""
        if id(condition) not in self.known:  # columns may be long, and leaves are looked at often
            key, held = _leaf(condition)
            at = self.keys.index(key)
            inside = np.flatnonzero(np.bincount(self.classes[at][held]))
            self.known[id(condition)] = at, sum(1 << int(one) for one in inside)
        return self.known[id(condition)]

    def held(self, variable: int, bits: int) -> Bools:
        """Return a set over all values; equal ones are one array."""
        if (variable, bits) not in self.sets:
            self.sets[variable, bits] = _bools(bits, self.count(variable))[self.classes[variable]]
            self.sets[variable, bits].flags.writeable = False
        return self.sets[variable, bits]

    def monomial(self, term: Term, factor: int) -> Monomial:
        sets: dict[Column, Bools] = {}
        public: list[Public] = []
        for variable, bits in term:
            key = self.keys[variable]
            if isinstance(key, Column):
                sets[key] = self.held(variable, bits)
            else:
                public.append(key if self.held(variable, bits)[1] else Opposite(key))
        return Monomial(float(factor), sets, public[0] if len(public) == 1 else Every(tuple(public)))


def _leaf(condition: Condition) -> tuple[Column | Public, Bools]:
    """Return a leaf as a set of values; a public condition has two of them, no and yes."""
    if isinstance(condition, Within):
        return condition.column, condition.held
    if isinstance(condition, Opposite):
        return condition.part, np.array([True, False])
    assert isinstance(condition, (Compared, Listed, Every, Some))
    return condition, np.array([False, True])


def _best(condition: Condition, variables: _Variables, *, negative: bool = False) -> Sum:
    """Return the shorter of what the parts give, and of a split where all cases can be listed."""
    if not isinstance(condition, (Both, Either)):
        variable, bits = variables.leaf(condition)
        whole = (1 << variables.count(variable)) - 1
        return _only(variable, whole & ~bits if negative else bits, whole)
    conjunction = isinstance(condition, Both) != negative
    inner = negative if conjunction else not negative
    listed = _split(condition, variables, negative=negative)
    try:
        found = reduce(_times, (_best(part, variables, negative=inner) for part in condition.parts))
    except TooManyTermsError:
        if listed is None:
            raise
        return listed
    found = found if conjunction else _plus(ONE, found, -1)
    return found if listed is None else min(listed, found, key=_length)


def _split(condition: Condition, variables: _Variables, *, negative: bool) -> Sum | None:
    used = sorted(_used(condition, variables))
    if prod(variables.count(variable) for variable in used) > MOST_CASES:
        return None
    cases = _cases(condition, variables, used) != negative
    return _Splits().best(cases.astype(np.int64), tuple(used))


def _used(condition: Condition, variables: _Variables) -> set[int]:
    if isinstance(condition, (Both, Either)):
        return {variable for part in condition.parts for variable in _used(part, variables)}
    return {variables.leaf(condition)[0]}


def _cases(condition: Condition, variables: _Variables, used: Sequence[int]) -> Bools:
    """Return the truth of a condition for all combinations of classes."""
    if isinstance(condition, (Both, Either)):
        every = isinstance(condition, Both)
        parts = (_cases(part, variables, used) for part in condition.parts)
        return reduce(np.logical_and if every else np.logical_or, parts)
    variable, bits = variables.leaf(condition)
    shape = [variables.count(one) if one == variable else 1 for one in used]
    whole = np.broadcast_to(
        _bools(bits, variables.count(variable)).reshape(shape), [variables.count(one) for one in used]
    )
    return np.asarray(whole, bool)


@dataclass
class _Splits:
    """Tables of whole numbers as sums of products, split by one variable after another, in the best order."""

    known: dict[Any, Sum] = field(default_factory=dict)

    def best(self, table: Ints, variables: tuple[int, ...]) -> Sum:
        if (table == table.flat[0]).all():
            return {(): int(table.flat[0])} if table.flat[0] else {}
        key = (variables, table.tobytes())
        if key not in self.known:
            axes = range(len(variables)) if len(self.known) < MOST_SPLITS else range(1)
            self.known[key] = min((self._by(table, variables, axis) for axis in axes), key=_length)
        return self.known[key]

    def _by(self, table: Ints, variables: tuple[int, ...], axis: int) -> Sum:
        """Return a sum over the slices that differ: each on its own set, or as a difference from one of them."""
        turned = np.moveaxis(table, axis, 0)
        slices, which = np.unique(turned.reshape(len(turned), -1), axis=0, return_inverse=True)
        rest = (*variables[:axis], *variables[axis + 1 :])
        parts = slices.reshape(len(slices), *turned.shape[1:])
        bases = [np.zeros_like(parts[0])]
        if len(parts) == 1 or len(self.known) < MOST_SPLITS:
            bases += list(parts)
        return min((self._from(base, parts, which.ravel(), (variables[axis], rest)) for base in bases), key=_length)

    def _from(self, base: Ints, parts: Ints, which: Ints, names: tuple[int, tuple[int, ...]]) -> Sum:
        variable, rest = names
        found = self.best(base, rest)
        for place, part in enumerate(parts):
            if (part != base).any():
                bits = sum(1 << int(one) for one in np.flatnonzero(which == place))
                here = _only(variable, bits, (1 << len(which)) - 1)
                found = _plus(found, _times(here, self.best(part - base, rest)), 1)
        return found


def _only(variable: int, bits: int, whole: int) -> Sum:
    """Return the indicator of one set: nothing for the empty one, 1 for the whole domain."""
    if not bits:
        return {}
    return ONE if bits == whole else {((variable, bits),): 1}


def _times(left: Sum, right: Sum) -> Sum:
    if len(left) * len(right) > MOST_PRODUCTS:
        raise TooManyTermsError("the condition needs too many terms")
    found: Sum = {}
    for one, factor in left.items():
        for other, times in right.items():
            term = _product(one, other)
            if term is not None:
                found[term] = found.get(term, 0) + factor * times
    return {term: factor for term, factor in found.items() if factor}


def _product(one: Term, other: Term) -> Term | None:
    """Return the product of two products, if there is a value for every variable."""
    bits: dict[int, int] = dict(one)
    for variable, more in other:
        bits[variable] = bits.get(variable, more) & more
    return tuple(sorted(bits.items())) if all(bits.values()) else None


def _plus(left: Sum, right: Sum, sign: int) -> Sum:
    found = dict(left)
    for term, factor in right.items():
        found[term] = found.get(term, 0) + sign * factor
    return {term: factor for term, factor in found.items() if factor}


def _length(terms: Mapping[Term, int]) -> tuple[int, int]:
    return len(terms), sum(map(len, terms))


def _plainest(term: Term) -> tuple[int, Term]:
    return len(term), term


def _bools(bits: int, count: int) -> Bools:
    return np.array([bits >> place & 1 for place in range(count)], bool)
