"""AND, OR and NOT of conditions become a sum of signed products of one set for each column.

Sets of one column are merged first.  Across columns the shortest sum is looked for: products and
complements of the sums of the parts (inclusion and exclusion), or, where all cases can be listed, a
split by one column after another.  Every sum is an identity between indicators, so it holds however
the columns depend on each other.

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
from sottovoce.sql.query import EVERYBODY, AllOf, AnyOf, Column, Monomial, Not, Public

MOST_TERMS = 256
MAX_PRODUCTS = 1 << 14  # pairs of terms that one multiplication looks at
MAX_CASES = 256  # combinations of values, up to those that behave alike, that are listed
MAX_SPLITS = 400  # after so many the first split that works is taken

SignedTerm: TypeAlias = tuple[
    tuple[int, int], ...
]  # variables in ascending order, each with the bits of its set
Sum: TypeAlias = dict[SignedTerm, int]
ONE: Sum = {(): 1}


@dataclass(frozen=True, eq=False)
class Within:
    """A column has one of the values that are ``chosen``."""

    column: Column
    chosen: Bools


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
    """The opposite of a condition."""

    part: "Condition"


Condition: TypeAlias = Within | Both | Either | Negation | Public


class TooManyTermsError(ParameterError):
    """The condition needs more terms than a query may have."""


def expanded(condition: Condition) -> tuple[Public, tuple[Monomial, ...]]:
    """Return the public condition that holds for the whole query, and the rest as a sum of
    products.
    """
    merged = _merged(condition, negative=False)
    if isinstance(merged, Public):
        return merged, (Monomial(1.0),)
    among: Public = EVERYBODY
    if isinstance(merged, Both):
        among = next((part for part in merged.parts if isinstance(part, Public)), among)
        merged = _joined(Both, [part for part in merged.parts if not isinstance(part, Public)])
    variables = _Variables()
    variables.add(merged)
    terms = _shortest(merged, variables)
    if len(terms) > MOST_TERMS:
        raise TooManyTermsError("the condition needs too many terms")
    ordered = sorted(terms, key=lambda term: (len(term), term))
    return among, tuple(variables.monomial(term, terms[term]) for term in ordered)


def _merged(condition: Condition, *, negative: bool) -> Condition:
    """Push NOT to the leaves, and merge leaves about one column, or about public columns only."""
    if isinstance(condition, Within):
        return Within(condition.column, ~condition.chosen) if negative else condition
    if isinstance(condition, Negation):
        return _merged(condition.part, negative=not negative)
    if isinstance(condition, (Both, Either)):
        kind = Both if isinstance(condition, Both) != negative else Either
        return _joined(kind, [_merged(part, negative=negative) for part in condition.parts])
    if not negative:
        return condition
    return condition.part if isinstance(condition, Not) else Not(condition)


def _joined(kind: type[Both] | type[Either], parts: Sequence[Condition]) -> Condition:
    """Return the conjunction or disjunction of some parts, with one leaf for each column."""
    chosen: dict[Column, Bools] = {}
    public: list[Public] = []
    rest: list[Condition] = []
    public_kind = AllOf if kind is Both else AnyOf
    for part in _flattened(kind, parts):
        if isinstance(part, Within):
            before = chosen.get(part.column, part.chosen)
            chosen[part.column] = before & part.chosen if kind is Both else before | part.chosen
        elif isinstance(part, Public):
            nested = part.parts if isinstance(part, public_kind) else (part,)
            public += [each for each in nested if each not in public]
        else:
            rest.append(part)
    if public:
        rest.append(public[0] if len(public) == 1 else public_kind(tuple(public)))
    rest += [Within(column, values) for column, values in chosen.items()]
    return rest[0] if len(rest) == 1 else kind(tuple(rest))


def _flattened(kind: type[Both] | type[Either], parts: Sequence[Condition]) -> list[Condition]:
    """Return the parts, with those of nested conditions of the same kind in their place."""
    flat: list[Condition] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else (part,)
    return flat


@dataclass
class _Variables:
    """The columns and public conditions of a condition, numbered.

    The values of a column are put into classes: values in the same sets are in the same class.
    """

    keys: list[Column | Public] = field(default_factory=list)
    classes: dict[int, Ints] = field(
        default_factory=dict
    )  # of a variable: the class of every value
    counts: dict[int, int] = field(default_factory=dict)  # of a variable: how many classes
    leaves: dict[int, tuple[int, int]] = field(default_factory=dict)
    sets: dict[tuple[int, int], Bools] = field(default_factory=dict)

    def add(self, condition: Condition) -> None:
        """Take in every leaf of a condition."""
        if isinstance(condition, (Both, Either)):
            for part in condition.parts:
                self.add(part)
            return
        key, chosen = _leaf(condition)
        if key not in self.keys:
            self.keys.append(key)
            self.classes[len(self.keys) - 1] = np.zeros(len(chosen), np.int64)
        variable = self.keys.index(key)
        finer = 2 * self.classes[variable] + chosen
        present = np.bincount(finer) > 0
        self.classes[variable] = (np.cumsum(present) - 1)[finer]

    def count(self, variable: int) -> int:
        """Return how many classes the values of a variable have."""
        if variable not in self.counts:
            self.counts[variable] = int(self.classes[variable].max()) + 1
        return self.counts[variable]

    def leaf(self, condition: Condition) -> tuple[int, int]:
        """Return the variable that a leaf is about, and the bits of the classes in its set."""
        if id(condition) not in self.leaves:  # columns may be long, and leaves are looked at often
            key, chosen = _leaf(condition)
            variable = self.keys.index(key)
            inside = np.flatnonzero(np.bincount(self.classes[variable][chosen]))
            self.leaves[id(condition)] = variable, sum(1 << int(each) for each in inside)
        return self.leaves[id(condition)]

    def chosen(self, variable: int, bits: int) -> Bools:
        """Return a set over all values; equal sets are the same array."""
        if (variable, bits) not in self.sets:
            self.sets[variable, bits] = _bools(bits, self.count(variable))[self.classes[variable]]
            self.sets[variable, bits].flags.writeable = False
        return self.sets[variable, bits]

    def monomial(self, term: SignedTerm, factor: int) -> Monomial:
        """Return a term with its sets and public conditions."""
        sets: dict[Column, Bools] = {}
        public: list[Public] = []
        for variable, bits in term:
            key = self.keys[variable]
            if isinstance(key, Column):
                sets[key] = self.chosen(variable, bits)
            else:
                public.append(key if self.chosen(variable, bits)[1] else Not(key))
        return Monomial(
            float(factor), sets, public[0] if len(public) == 1 else AllOf(tuple(public))
        )


def _leaf(condition: Condition) -> tuple[Column | Public, Bools]:
    """Return a leaf as a set of values; a public condition has the two values no and yes."""
    if isinstance(condition, Within):
        return condition.column, condition.chosen
    if isinstance(condition, Not):
        return condition.part, np.array([True, False])
    assert isinstance(condition, Public)
    return condition, np.array([False, True])


def _shortest(condition: Condition, variables: _Variables, *, negative: bool = False) -> Sum:
    """Return the shorter of the sum made of the parts, and of a split where all cases can be
    listed.
    """
    if not isinstance(condition, (Both, Either)):
        variable, bits = variables.leaf(condition)
        whole = (1 << variables.count(variable)) - 1
        return _indicator(variable, whole & ~bits if negative else bits, whole)
    conjunction = isinstance(condition, Both) != negative
    inner = negative if conjunction else not negative
    split = _split(condition, variables, negative=negative)
    try:
        parts = (_shortest(part, variables, negative=inner) for part in condition.parts)
        product = reduce(_times, parts)
    except TooManyTermsError:
        if split is None:
            raise
        return split
    total = product if conjunction else _plus(ONE, product, -1)
    return total if split is None else min(split, total, key=_length)


def _split(condition: Condition, variables: _Variables, *, negative: bool) -> Sum | None:
    """Return the sum that splits a condition by one variable after another.

    None if it has too many cases.
    """
    used = sorted(_used(condition, variables))
    if prod(variables.count(variable) for variable in used) > MAX_CASES:
        return None
    cases = _cases(condition, variables, used) != negative
    return _Splits().best(cases.astype(np.int64), tuple(used))


def _used(condition: Condition, variables: _Variables) -> set[int]:
    if isinstance(condition, (Both, Either)):
        return set().union(*(_used(part, variables) for part in condition.parts))
    return {variables.leaf(condition)[0]}


def _cases(condition: Condition, variables: _Variables, used: Sequence[int]) -> Bools:
    """Return the truth of a condition for all combinations of classes."""
    if isinstance(condition, (Both, Either)):
        connective = np.logical_and if isinstance(condition, Both) else np.logical_or
        return reduce(connective, (_cases(part, variables, used) for part in condition.parts))
    variable, bits = variables.leaf(condition)
    counts = [variables.count(each) for each in used]
    shape = [count if each == variable else 1 for each, count in zip(used, counts, strict=True)]
    truth = _bools(bits, variables.count(variable)).reshape(shape)
    return np.asarray(np.broadcast_to(truth, counts), bool)


@dataclass
class _Splits:
    """Tables of whole numbers as sums of products, split by one variable after another, in the best
    order.
    """

    known: dict[Any, Sum] = field(default_factory=dict)

    def best(self, table: Ints, variables: tuple[int, ...]) -> Sum:
        """Return the shortest sum for a table of values over some variables."""
        if (table == table.flat[0]).all():
            return {(): int(table.flat[0])} if table.flat[0] else {}
        key = (variables, table.tobytes())
        if key not in self.known:
            axes = range(len(variables)) if len(self.known) < MAX_SPLITS else range(1)
            self.known[key] = min((self._by(table, variables, axis) for axis in axes), key=_length)
        return self.known[key]

    def _by(self, table: Ints, variables: tuple[int, ...], axis: int) -> Sum:
        """Return a sum over the slices that differ: each on its own set, or as a difference from
        one of them.
        """
        turned = np.moveaxis(table, axis, 0)
        slices, which = np.unique(turned.reshape(len(turned), -1), axis=0, return_inverse=True)
        parts = slices.reshape(len(slices), *turned.shape[1:])
        bases = [np.zeros_like(parts[0])]
        if len(parts) == 1 or len(self.known) < MAX_SPLITS:
            bases += list(parts)
        rest = (*variables[:axis], *variables[axis + 1 :])
        sums = (self._from(base, parts, which.ravel(), (variables[axis], rest)) for base in bases)
        return min(sums, key=_length)

    def _from(
        self, base: Ints, parts: Ints, which: Ints, names: tuple[int, tuple[int, ...]]
    ) -> Sum:
        variable, rest = names
        total = self.best(base, rest)
        for number, part in enumerate(parts):
            if (part != base).any():
                bits = sum(1 << int(each) for each in np.flatnonzero(which == number))
                inside = _indicator(variable, bits, (1 << len(which)) - 1)
                total = _plus(total, _times(inside, self.best(part - base, rest)), 1)
        return total


def _indicator(variable: int, bits: int, whole: int) -> Sum:
    """Return the indicator of a set: nothing for the empty set, 1 for the whole domain."""
    if not bits:
        return {}
    return ONE if bits == whole else {((variable, bits),): 1}


def _times(left: Sum, right: Sum) -> Sum:
    if len(left) * len(right) > MAX_PRODUCTS:
        raise TooManyTermsError("the condition needs too many terms")
    total: Sum = {}
    for left_term, left_factor in left.items():
        for right_term, right_factor in right.items():
            term = _product(left_term, right_term)
            if term is not None:
                total[term] = total.get(term, 0) + left_factor * right_factor
    return {term: factor for term, factor in total.items() if factor}


def _product(left: SignedTerm, right: SignedTerm) -> SignedTerm | None:
    """Return the product of two terms; None if some variable is left without a value."""
    bits: dict[int, int] = dict(left)
    for variable, more in right:
        bits[variable] = bits.get(variable, more) & more
    return tuple(sorted(bits.items())) if all(bits.values()) else None


def _plus(left: Sum, right: Sum, sign: int) -> Sum:
    total = dict(left)
    for term, factor in right.items():
        total[term] = total.get(term, 0) + sign * factor
    return {term: factor for term, factor in total.items() if factor}


def _length(terms: Mapping[SignedTerm, int]) -> tuple[int, int]:
    return len(terms), sum(map(len, terms))


def _bools(bits: int, count: int) -> Bools:
    return np.array([bits >> index & 1 for index in range(count)], bool)
