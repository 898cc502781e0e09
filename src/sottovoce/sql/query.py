"""A question in SQL after it has been read: which tables, which numbers, about whom.

A condition over columns that people keep to themselves is a sum of signed ``Monomial``s, each a product of one set of
values per column; inclusion and exclusion turn any AND, OR and NOT into such a sum.  Conditions over public columns
stay what they are, for the engine to decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sottovoce.arrays import Bools

Kind = Literal["count", "freq", "sum", "avg", "stddev"]
Comparison = Literal["=", "<>", "<", "<=", ">", ">="]
METHODS = ("auto", "add", "signed", "rdc", "gls", "blue")
PARTS = ("_low", "_high", "_error", "_unstable")  # suffixes of the columns beside a number
MEASURES = ("auto", "enum", "round", "lin")


@dataclass(frozen=True, order=True)
class Column:
    """A column of a table: its place among the table's own columns, or its name among the public ones."""

    table: int
    place: int
    public: str = ""  # 'table.column' as reports carry it; empty for a column that people keep to themselves


@dataclass(frozen=True)
class Aggregate:
    """One number that is asked for; ``terms`` are the columns of a sum with their factors."""

    kind: Kind
    name: str
    terms: tuple[tuple[float, Column], ...] = ()


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
class Every:
    """All of some conditions over public columns; of none: everybody."""

    parts: "tuple[Public, ...]" = ()


@dataclass(frozen=True)
class Some:
    """At least one of some conditions over public columns."""

    parts: "tuple[Public, ...]"


@dataclass(frozen=True)
class Opposite:
    """Not a condition over public columns."""

    part: "Public"


Public: TypeAlias = Compared | Listed | Every | Some | Opposite


@dataclass(frozen=True, eq=False)
class Monomial:
    """A factor, a set of values for each column that is restricted, and a condition over public columns."""

    factor: float
    sets: Mapping[Column, Bools] = field(default_factory=dict)
    public: Public = Every()


@dataclass(frozen=True)
class Options:
    """How an answer shall be made; ``auto`` leaves it to the predicted error."""

    method: str = "auto"
    k: int = 0  # decompositions that are weighed against each other; 0: as many as the method's default
    measure: str = "auto"
    scale: str = "auto"  # layers, or hajek: by how many people each layer was really asked
    max_cells: int = 0  # 0: no limit
    confidence: float = 0.95


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked of a collection; ``tables`` are the places of the joined services, in the order they are named."""

    tables: tuple[int, ...]
    aggregates: tuple[Aggregate, ...]
    where: tuple[Monomial, ...] = (Monomial(1.0),)
    among: Public = Every()  # whom it is about at all: conditions over public columns that hold for the whole question
    group_by: tuple[Column, ...] = ()
    shown: tuple[int | str, ...] = ()  # the selected items in order: the place in group_by, or the name of an aggregate
    order_by: str = ""  # the name of an item
    descending: bool = False
    limit: int | None = None
    options: Options = Options()
    explain: bool = False
    notices: tuple[str, ...] = ()
