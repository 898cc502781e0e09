"""What a person may hold: values on one side, indices on the other.

Mechanisms speak indices in [0, size); labels stay here.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any, ClassVar
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Floats, Ints, Values
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.errors import DomainError, NoDataError, ParameterError

DECLINED = "prefer not to say"


class Domain(ABC):
    """A set of values with an order that never changes."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Domain"]] = Registry("domain", "sottovoce.domains")

    def __init_subclass__(cls, kind: str, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        Domain.kinds.add(kind, cls)

    @property
    @abstractmethod
    def size(self) -> int:
        """Return how many values there are."""

    @abstractmethod
    def indices(self, values: Iterable[Any]) -> Values:
        """Return the index of every value, or refuse them all."""

    def anything(self, rng: Rng) -> Values:
        """Return the index of a random value, shaped as ``indices`` shapes one: what a rehearsal sends."""
        return rng.integers(self.size, 1)


@dataclass(frozen=True)
class Categories(Domain, kind="categories"):
    """Named values; with ``declinable`` the last one stands for not wanting to say.

    >>> Categories(("cat", "dog")).indices(["dog", "cat"])
    array([1, 0])
    """

    labels: tuple[str, ...]
    declinable: bool = False

    def __post_init__(self) -> None:
        labels = tuple(_text(label) for label in self.labels)
        if self.declinable and DECLINED not in labels:
            labels = (*labels, DECLINED)
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise ParameterError("categories need at least two labels, all different")
        if self.declinable and labels[-1] != DECLINED:
            raise ParameterError(f"the label {DECLINED!r} is the last one")
        object.__setattr__(self, "labels", labels)

    @property
    def size(self) -> int:
        return len(self.labels)

    def indices(self, values: Iterable[Any]) -> Ints:
        table: dict[Any, int] = {label: index for index, label in enumerate(self.labels)}
        if self.declinable:
            table[None] = self.size - 1
        held = list(values)
        found = self._looked_up(table, held)
        return np.array([self._index(table, value) for value in held], np.int64) if found is None else found

    def _looked_up(self, table: Mapping[Any, int], held: list[Any]) -> Ints | None:
        """Return the indices, or nothing: the error of a failed look-up names the value and must not travel on."""
        try:
            return np.fromiter(map(table.__getitem__, held), np.int64, len(held))
        except (KeyError, TypeError):
            return None

    def _index(self, table: Mapping[Any, int], value: Any) -> int:
        label = normalize("NFC", value) if isinstance(value, str) else value
        if label is not None and not isinstance(label, str):
            raise DomainError("a value of these categories must be text")
        if label not in table:
            raise DomainError(f"a value must be one of the {self.size} categories of the task")
        return table[label]


@dataclass(frozen=True)
class Integers(Domain, kind="integers"):
    """Whole numbers from ``low`` to ``high``, both included.

    >>> Integers(18, 99).indices([18, 20])
    array([0, 2])
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if type(self.low) is not int or type(self.high) is not int or not self.low < self.high:
            raise ParameterError("a range of integers needs whole numbers low < high")

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(self.low, self.high + 1))

    def indices(self, values: Iterable[Any]) -> Ints:
        held = _flat(values)
        if not len(held):
            return np.array([], np.int64)
        if held.dtype.kind not in "iu" or int(held.min()) < self.low or int(held.max()) > self.high:
            raise DomainError(f"a value must be a whole number from {self.low} to {self.high}")
        return np.asarray(held.astype(np.int64) - self.low)


@dataclass(frozen=True)
class Numbers(Domain, kind="numbers"):
    """Real numbers from ``low`` to ``high``, each at the nearest of ``points`` equally spaced ones.

    >>> Numbers(0.0, 10.0, 101).indices([0, 0.1, 9.96])
    array([  0,   1, 100])
    """

    low: float
    high: float
    points: int
    clamped: bool = False

    def __post_init__(self) -> None:
        _check_range(self, self.points)

    @property
    def size(self) -> int:
        return self.points

    def indices(self, values: Iterable[Any]) -> Ints:
        return np.rint(_position(self, values) * (self.points - 1)).astype(np.int64)


@dataclass(frozen=True)
class Buckets(Domain, kind="buckets"):
    """Real numbers from ``low`` to ``high`` in ``count`` intervals of equal width.

    >>> Buckets(0.0, 10.0, 5).indices([0, 1.9, 2, 10])
    array([0, 0, 1, 4])
    """

    low: float
    high: float
    count: int
    clamped: bool = False

    def __post_init__(self) -> None:
        _check_range(self, self.count)

    @property
    def size(self) -> int:
        return self.count

    @property
    def edges(self) -> Floats:
        """Return the bounds of the intervals, one more than there are intervals."""
        return np.linspace(self.low, self.high, self.count + 1)

    @property
    def labels(self) -> tuple[str, ...]:
        edges = [f"{edge:.6g}" for edge in self.edges]
        return tuple(f"{low} to {high}" for low, high in pairwise(edges))

    def indices(self, values: Iterable[Any]) -> Ints:
        floors = np.floor(_position(self, values) * self.count).astype(np.int64)
        return np.minimum(floors, self.count - 1)  # the top of the range belongs to the last interval


@dataclass(frozen=True)
class Records(Domain, kind="records"):
    """Several named attributes of one person; indices are (users, attributes)."""

    names: tuple[str, ...]
    attributes: tuple[Domain, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(_text(name) for name in self.names))
        if not self.names or len(self.names) != len(self.attributes) or len(set(self.names)) < len(self.names):
            raise ParameterError("records need one domain for every name, and all names different")

    @property
    def size(self) -> int:
        raise ParameterError("records are asked one attribute at a time: the question needs an encoding")

    def indices(self, values: Iterable[Any]) -> Ints:
        columns = values if isinstance(values, Mapping) else self._columns(list(values))
        if set(columns) != set(self.names):
            raise DomainError(f"a record has exactly the attributes {', '.join(self.names)}")
        pairs = zip(self.names, self.attributes, strict=True)
        found = [attribute.indices(columns[name]) for name, attribute in pairs]
        if len({len(column) for column in found}) > 1:
            raise DomainError("the columns of records must have equal lengths")
        return np.stack(found, axis=1)

    def anything(self, rng: Rng) -> Ints:
        return np.stack([attribute.anything(rng) for attribute in self.attributes], axis=1)

    def _columns(self, records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        if not records:
            raise NoDataError("there are no records")
        if not all(isinstance(record, Mapping) and set(record) == set(self.names) for record in records):
            raise DomainError(f"a record has exactly the attributes {', '.join(self.names)}")
        return {name: [record[name] for record in records] for name in self.names}


def domain_of(values: "Domain | Iterable[Any]", *, declinable: bool = False) -> "Categories | Integers":
    """Return the domain that a list of labels or a range names.

    >>> domain_of(range(5))
    Integers(low=0, high=4)
    """
    if isinstance(values, (Categories, Integers)):
        return values
    if isinstance(values, range) and values.step == 1 and not declinable:
        if len(values) < 2:
            raise ParameterError("a domain needs at least two values")
        return Integers(values.start, values.stop - 1)
    if isinstance(values, (str, bytes, Domain, Mapping)) or not isinstance(values, Iterable):
        raise ParameterError("a domain is a list of labels or a range")
    return Categories(tuple(map(_text, values)), declinable=declinable)


def _check_range(domain: "Numbers | Buckets", size: int) -> None:
    for bound in ("low", "high"):
        object.__setattr__(domain, bound, float(getattr(domain, bound)) + 0.0)  # there is one zero
    if not -inf < domain.low < domain.high < inf or domain.high - domain.low == inf:
        raise ParameterError("a range of numbers needs finite low < high, and a finite distance between them")
    if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= 1 << 32:
        raise ParameterError("a range of numbers has from 2 to 2^32 points or buckets")


def _position(domain: "Numbers | Buckets", values: Iterable[Any]) -> Floats:
    """Return where in [0, 1] each number lies; refuses what lies outside unless the task clamps it."""
    held = _flat(values)
    if held.size and held.dtype.kind not in "iuf":
        raise DomainError("a value must be a number")
    numbers = np.clip(held, domain.low, domain.high) if domain.clamped else held
    if not ((numbers >= domain.low) & (numbers <= domain.high)).all():  # false for NaN
        raise DomainError(f"a value must be a number from {domain.low:g} to {domain.high:g}")
    return np.asarray((numbers - domain.low) / (domain.high - domain.low), np.float64)


def _flat(values: Iterable[Any]) -> Any:
    """Return values as a flat array; what is nested is no value."""
    try:
        held = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    except ValueError:
        held = np.zeros((0, 0))
    if held.ndim != 1:
        raise DomainError("a value must be a single number")
    return held


def _text(label: Any) -> str:
    if not isinstance(label, str) or not label:
        raise ParameterError("labels and names must be non-empty text")
    return normalize("NFC", label)
