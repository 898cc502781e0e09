"""A query after it has been read: which tables, which numbers, about whom.

A condition over columns that people keep to themselves is a sum of signed ``Monomial``s, each a
product of one set of values per column: inclusion and exclusion turn any AND, OR and NOT into such
a sum. Conditions over public columns stay what they are; the engine decides them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sottovoce.arrays import Bools, Ints

if TYPE_CHECKING:
    from sqlglot import exp

    from sottovoce.sql.aggregates.base import Aggregate

Comparison = Literal["=", "<>", "<", "<=", ">", ">="]
METHODS = ("auto", "add", "signed", "rdc", "gls", "blue")
MEASURES = ("auto", "enum", "round", "lin")
SCALES = ("auto", "layers", "hajek")
PARTS = ("_low", "_high", "_error", "_unstable")  # suffixes of the columns beside a number
ATTACKED_PARTS = ("_low_attacked", "_high_attacked")  # where an answer allows for false reports


@dataclass(frozen=True, order=True)
class Column:
    """A column of a table: its index among the private columns of the table, or among all public
    columns.
    """

    table: int
    index: int
    public: str = ""  # 'table.column' as reports carry it; empty for a private column


@dataclass(frozen=True)
class Compared:
    """A public column against a literal."""

    column: Column
    sign: Comparison
    value: str | float


@dataclass(frozen=True)
class Listed:
    """A public column within a list of literals."""

    column: Column
    values: tuple[str | float, ...]


@dataclass(frozen=True)
class AllOf:
    """All of some conditions over public columns; with no parts it holds for everybody."""

    parts: "tuple[Public, ...]" = ()


@dataclass(frozen=True)
class AnyOf:
    """At least one of some conditions over public columns."""

    parts: "tuple[Public, ...]"


@dataclass(frozen=True)
class Not:
    """The opposite of a condition over public columns."""

    part: "Public"


Public: TypeAlias = Compared | Listed | AllOf | AnyOf | Not
EVERYBODY = AllOf()
NOBODY = AnyOf(())


@dataclass(frozen=True, eq=False)
class Monomial:
    """A factor, a set of values for each restricted column, and a condition over public columns."""

    factor: float
    sets: Mapping[Column, Bools] = field(default_factory=dict)
    public: Public = EVERYBODY


@dataclass(frozen=True)
class GroupBy:
    """What GROUP BY makes groups of: a column, or an expression of one.

    ``classes`` is the group of every value, and ``labels`` are the names of the groups; without
    them every value is a group of its own.  Two expressions of a column are equal if their texts
    are.
    """

    column: Column
    name: str
    text: str = ""
    classes: Ints | None = field(default=None, compare=False, repr=False)
    labels: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def public(self) -> bool:
        """Return whether the column is public."""
        return bool(self.column.public)

    def size(self, values: int) -> int:
        """Return the number of groups of a column with so many values."""
        return values if self.classes is None else len(self.labels)

    def members(self, group: int, values: int) -> Bools:
        """Return which of the column's values are in a group."""
        classes = np.arange(values) if self.classes is None else self.classes
        return np.asarray(classes == group)


@dataclass(frozen=True)
class SortItem:
    """One item of ORDER BY: the name of a number or of a group."""

    name: str
    descending: bool = False


@dataclass(frozen=True)
class Options:
    """How an answer shall be made; ``auto`` leaves it to the predicted error."""

    method: str = "auto"
    k: int = 0  # decompositions that are weighed against each other; 0: the method's default
    measure: str = "auto"
    scale: str = "auto"  # layers, or hajek: by how many people each layer was really asked
    max_cells: int = 0  # 0: no limit
    confidence: float = 0.95


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked of a collection.

    ``tables`` are the indices of the joined tables, in the order of FROM.
    """

    tables: tuple[int, ...]
    aggregates: "tuple[Aggregate, ...]"
    where: tuple[Monomial, ...] = (Monomial(1.0),)
    among: Public = EVERYBODY  # the public condition that holds for the whole query
    group_by: tuple[GroupBy, ...] = ()
    shown: tuple[int | str, ...] = ()  # an index of group_by, or the name of a number
    hidden: "tuple[Aggregate, ...]" = ()  # numbers that HAVING and ORDER BY need beside those shown
    having: "exp.Expr | None" = None  # a condition over the names of numbers
    order_by: tuple[SortItem, ...] = ()
    limit: int | None = None
    offset: int = 0
    options: Options = Options()
    explain: bool = False
    schema: str = ""  # SHOW TABLES and DESCRIBE: which table, or * for all of them
    notices: tuple[str, ...] = ()

    @property
    def numbers(self) -> "tuple[Aggregate, ...]":
        """Return all numbers of a row: those shown, then the hidden ones."""
        return (*self.aggregates, *self.hidden)

    @property
    def rows_shown(self) -> slice:
        """Return which of the ordered rows LIMIT and OFFSET leave."""
        return slice(self.offset, None if self.limit is None else self.offset + self.limit)
