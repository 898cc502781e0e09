"""The contract of domains: which values a person may hold, and the index of each value.

Mechanisms work on indices in [0, size) and never see a label.  A domain turns values into indices
on the device, and refuses values that it does not have without repeating them in the error.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Floats, Values
from sottovoce.core import settings
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.errors import DomainError, ParameterError
from sottovoce.maths.hashing import MAX_INTEGER_BITS

DECLINED = "prefer not to say"
MAX_LABELS = 8  # that a description of a column lists

Cells: TypeAlias = Sequence[str | None]  # a column of a file as text; an empty cell is None
ValueType: TypeAlias = Literal["text", "number", "date"]


@dataclass(frozen=True)
class TableLimit:
    """The name of a table, and how many records of it count: 0 where everybody has exactly one."""

    name: str
    most: int


@dataclass(frozen=True, eq=False)
class NumberCells:
    """The number that each value of a column stands for, between the ends of its interval."""

    lows: Floats
    numbers: Floats
    highs: Floats


@dataclass(frozen=True)
class Rounding:
    """Why a condition may not fit a column exactly, in words for the notices of an answer.

    ``kept`` says how values are kept, ``computed`` from what an expression is computed, and
    ``at_edge`` what happens to a number between two values (default: such a number has no notice).
    """

    kept: str
    computed: str
    at_edge: str = ""


class Domain(ABC):
    """A set of values in an order that never changes."""

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

    def random_value(self, rng: Rng) -> Values:
        """Return the index of one uniformly random value, in the shape that ``indices`` returns."""
        return np.array([rng.integer(self.size)])

    @property
    def has_flat_index(self) -> bool:
        """Return whether the index of a value is one integer of at most 63 bits."""
        return self.value_bits <= MAX_INTEGER_BITS

    @property
    def value_bits(self) -> int:
        """Return the bits of a value, and 0 if values are not strings of bits."""
        return 0

    @property
    def item_count(self) -> int:
        """Return how many items a set may hold, and 0 if values are not sets."""
        return 0

    @property
    def attribute_count(self) -> int:
        """Return how many attributes a record has, and 0 if values are not records."""
        return 0

    def attribute_size(self, column: int) -> int:
        """Return how many values the attribute in a column of a record has."""
        raise ParameterError("this domain has no attributes")

    @property
    def public_names(self) -> tuple[str, ...]:
        """Return the columns that travel in clear, whatever is held; none in most domains."""
        return ()

    @property
    def public_bytes(self) -> int:
        """Return the most bytes that the public part of one report takes."""
        return 0

    def public_parts(self, indices: Values) -> Sequence[bytes]:
        """Return what people let everybody see, one text each; nothing in most domains."""
        return ()

    def with_public_part(self, indices: Any, value: Any) -> Any:
        """Return one index with the public part of a value, which may lie outside of the domain.

        So what is sent in clear follows from the public columns alone.
        """
        return indices

    def check_public(self, text: bytes) -> None:  # noqa: B027 - most domains have nothing to refuse
        """Refuse a public part that no value of this domain has."""

    # What the statement of a task asks of a domain.

    # How the statement names what is asked for, by language, with the names of facts in braces.
    # The domains of the product have these phrases in the tables of the statement instead.
    phrases: ClassVar[Mapping[str, str]] = {}

    def statement_facts(self) -> dict[str, Any]:
        """Return the settings that the phrase of the statement mentions, ready for JSON."""
        return {"described": self.described}

    @property
    def table_limits(self) -> tuple[TableLimit, ...]:
        """Return the tables of which people hold records; none in most domains."""
        return ()

    # What shells ask of a domain.  Every question has a default, so that a new domain answers only
    # those that differ.

    listed: ClassVar[bool] = False  # whether each value has a label, so that a histogram can ask
    ordered: ClassVar[bool] = False  # whether values are numbers, which charts draw in order
    binnable: ClassVar[bool] = False  # whether values are whole numbers, which bins put together
    short_forms: ClassVar[tuple[frozenset[str], ...]] = ()  # settings that name it in a task file

    if TYPE_CHECKING:  # a property here would be taken for the default of a dataclass field

        @property
        def labels(self) -> tuple[str, ...]:
            """Return the labels of the values, where the domain is listed."""

    @classmethod
    def from_short(cls, **settings: Any) -> "Domain":
        """Return the domain that one of its ``short_forms`` describes."""
        return cls(**settings)

    @property
    def described(self) -> str:
        """Return what a person is asked for, in words that follow "asked for"."""
        return f"one of {self.size:,} values"

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the least and the largest number, where values are numbers."""
        raise ParameterError(f"the values of a {self.kind} domain have no order")

    @property
    def edges(self) -> Floats:
        """Return the bounds between neighbouring values, one more than there are values."""
        raise ParameterError(f"the values of a {self.kind} domain have no order")

    @property
    def file_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the columns to read from files, by table.

        ``{"": ()}`` is one column of any name.
        """
        return {"": ()}

    def from_columns(self, tables: Mapping[str, Mapping[str, Cells]], separator: str = ";") -> Any:
        """Return what people hold, given columns of text by table."""
        ((name, cells),) = tables[""].items()
        return self.from_cells(name, cells, separator)

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        """Return the values in a column of text called ``name``."""
        refuse_empty_cells(name, cells)
        return list(cells)

    def remarks(self, values: Any) -> tuple[str, ...]:
        """Return what is worth knowing about values before they are used."""
        return ()

    def part(self, name: str) -> "Domain | None":
        """Return the domain behind one part of an outcome, None where a part mixes several."""
        return self

    def part_indices(self, indices: Any, name: str) -> Any:
        """Return the indices within ``part(name)`` of what people hold."""
        return indices

    def counts(self, indices: Any, labels: Iterable[str]) -> dict[str, int]:
        """Return how many people hold each of the labelled values."""
        totals = np.bincount(indices, minlength=self.size).tolist()
        count_of = dict(zip(self.labels, totals, strict=True))
        return {label: count_of.get(label, 0) for label in labels}

    # What tables and SQL ask of the domain of a column.  The defaults are those of labels; numbers
    # state their cells as well.

    # Whether people are grouped by the interval that a public number lies in, not by the number.
    grouped_by_interval: ClassVar[bool] = False

    @property
    def value_type(self) -> ValueType | None:
        """Return the type of constants that values are compared with; None if this is no column.

        A column needs ``labels``, whatever its type.
        """
        return "text" if self.listed else None

    @property
    def has_ranges(self) -> bool:
        """Return whether the values of a column have an order, so that queries ask for ranges."""
        return self.value_type in ("number", "date")

    @property
    def rounding(self) -> Rounding | None:
        """Return how values are rounded; None if each value is exactly what people hold."""
        return None

    @property
    def declined_index(self) -> int | None:
        """Return the index of the value that stands for no answer, SQL's NULL; None without one."""
        return None

    def number_cells(self) -> NumberCells:
        """Return the numbers of a column; those of dates are days from the beginning of 1970."""
        raise ParameterError("a column of labels has no numbers: sums need a column of numbers")

    @property
    def value_numbers(self) -> Floats:
        """Return the number that each value of a column stands for."""
        return self.number_cells().numbers

    def compared_values(self) -> Any:
        """Return every value of a column as an array, as SQL compares it.

        Dates are minutes from the beginning of 1970.
        """
        return np.array(self.labels, object) if self.value_type == "text" else self.value_numbers

    def engine_values(self) -> tuple[str | float, ...]:
        """Return every value of a column as engines hold it where the column is public."""
        return tuple(self.value_numbers.tolist()) if self.value_type == "number" else self.labels

    @property
    def values_in_short(self) -> str:
        """Return the values of a column in a few words."""
        if self.value_type == "number":
            return "{:g} to {:g}".format(*self.bounds)
        more = ", ..." if len(self.labels) > MAX_LABELS else ""
        return ", ".join(self.labels[:MAX_LABELS]) + more

    # A value of a public column travels as JSON in one spelling.

    def label_at(self, index: int) -> str:
        """Return the label with an index; long domains do so without listing all labels."""
        return self.labels[index]

    @property
    def max_public_bytes(self) -> int:
        """Return the most bytes that a public value takes."""
        return max(len(encode_basestring(label).encode()) for label in self.labels)

    def public_value(self, value: Any) -> Any:
        """Return a value of a person as it is sent in clear; the domain has it."""
        return self.labels[int(self.indices([value])[0])]

    def value_at(self, index: int) -> Any:
        """Return a value with an index as a person gives it."""
        return self.label_at(index)

    def from_public(self, sent: Any) -> Any:
        """Return what was sent in clear as a person gives it."""
        return sent

    def public_label(self, value: Any) -> str:
        """Return the name of a group of people by a public value, as engines return it."""
        if self.value_type != "number":
            return str(value)
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)

    def public_rank(self, label: str) -> Any:
        """Return what groups by a public value are sorted by, given their name."""
        return float(label) if self.value_type == "number" else label


def flat_array(values: Iterable[Any]) -> Any:
    """Return values as a flat array; a nested value is refused."""
    try:
        array = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    except ValueError:  # rows of different lengths
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise DomainError("a value must be a single number")
    return array


def normalized_labels(name: str, labels: Iterable[Any]) -> tuple[str, ...]:
    """Return the labels of the setting ``name`` in composed form (NFC)."""
    return tuple(normalize("NFC", label) for label in settings.texts(name, labels))


def refuse_empty_cells(name: str, cells: Cells, hint: str = "leave out these people") -> None:
    """Refuse a column with empty cells."""
    empty = sum(cell is None for cell in cells)
    if empty:
        raise DomainError(f"column {name!r} has {empty:,} empty cells: {hint}")


def domain_from_short(settings: Mapping[str, Any]) -> Domain | None:
    """Return the domain that the settings of a task file describe in short, None if none does."""
    names = frozenset(settings)
    for domain in Domain.kinds.classes():
        if names in domain.short_forms:
            return domain.from_short(**settings)
    return None


def whole_numbers(cells: Iterable[str | None], rule: str) -> list[int]:
    """Return cells of text as whole numbers, or refuse them with the rule.

    Hexadecimal numbers have 0x before them.
    """
    try:
        return [int(cell or "", 16 if (cell or "").startswith("0x") else 10) for cell in cells]
    except ValueError:
        raise DomainError(rule) from None


def real_numbers(cells: Iterable[str | None], rule: str) -> list[float]:
    """Return cells of text as real numbers; otherwise state the rule."""
    try:
        return [float(cell or "") for cell in cells]
    except ValueError:
        raise DomainError(rule) from None
