"""One question for every layer of a table: a public coin picks how coarse a report's columns are.

Source: Wang 2021, section 7.4; Xu 2020, section 3.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, product
from math import prod
from typing import Any

from sottovoce.core import bounds
from sottovoce.core.settings import choice, entries, whole, wholes
from sottovoce.encodings.cell import MOST_CELLS, Cell, node_count
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Question

ALIGNED_FROM = 20  # bits; larger layers are decoded column by column
MAX_LAYERS = bounds.MAX_DOCUMENT_MEMBERS
ROUNDINGS = ("none", "one", "all", "mirror")

Key = tuple[int, tuple[int, ...]]  # number of cells, and the bit groups that permute them


@dataclass(frozen=True)
class Layers(Family, kind="layers"):
    """One layer for every combination of one of the ``widths`` of every column.

    The width of the last column changes fastest.  ``rounding`` says how numbers are rounded:

    - ``none``: Numbers are not rounded.  A layer of a list table always also tells whether the
      drawn record counts.
    - ``one``: The layers come in groups, one for each of the ``groups`` columns.  Half of the
      layers of a group also hold the rounding coin of its column, and for a list table whether the
      drawn record counts.
    - ``all``: There is a layer with and a layer without the rounding coin of each of the ``groups``
      columns.
    - ``mirror``: The layers come in groups, one for each of the ``groups`` columns.  The rounding
      coin of a group's column doubles the number of cells of that column.

    The ``first`` layers (0 or 1) are left out: layer 0 has a single cell, whose count is known.
    There is one mechanism for every number of cells.
    """

    table: int
    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    widths: tuple[tuple[int, ...], ...]
    mechanisms: tuple[Mechanism, ...]
    most: int = 0
    rounding: str = "none"
    groups: tuple[int, ...] = ()
    first: int = 0

    def __post_init__(self) -> None:
        self._grid.check()
        used = {self._serving(key) for key in self._grid.keys}
        if used != set(self.mechanisms) or len(used) < len(self.mechanisms):
            raise ParameterError(
                "`mechanisms` must hold exactly one mechanism for every number of cells"
            )

    @classmethod
    def of(cls, make: Callable[[Key], Mechanism], **settings: Any) -> "Layers":
        """Return the family with a mechanism for every number of cells that its layers have."""
        grid = _Grid(**settings)
        grid.check()
        # A hashing mechanism may serve several keys of one size: it is listed once.
        distinct = dict.fromkeys(make(key) for key in sorted(set(grid.keys)))
        return cls(**settings, mechanisms=tuple(distinct))

    @cached_property
    def _grid(self) -> "_Grid":
        settings = {each.name: getattr(self, each.name) for each in fields(_Grid)}
        return _Grid(**settings)

    def __len__(self) -> int:
        return len(self._grid)

    def __getitem__(self, index: int) -> Question:
        if index not in self._questions:
            cell = self.cell(index)
            mechanism = self._mechanism(cell)
            assert mechanism is not None
            self._questions[index] = Question(mechanism, cell)
        return self._questions[index]

    @property
    def examined(self) -> int:
        return len(self)

    def representatives(self) -> list[int]:
        first: dict[Key, int] = {}
        for index, key in enumerate(self._grid.keys):
            first.setdefault(key, index)
        return list(first.values())

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return how many choices each column and each coin has, for every group of members."""
        return self._grid.shapes

    def place(self, index: int) -> tuple[int, tuple[int, ...]]:
        """Return the group of a member and its choice for each column and each coin."""
        return self._grid.place(index)

    def cell(self, index: int) -> Cell:
        """Return what a member asks for."""
        return self._grid.cell(index)

    @cached_property
    def _questions(self) -> dict[int, Question]:
        return {}

    def _mechanism(self, cell: Cell) -> Mechanism | None:
        return self._serving((max(2, cell.cells), cell.groups))

    def _serving(self, key: Key) -> Mechanism | None:
        size, groups = key
        return self._by_key.get((size, groups)) or self._by_key.get((size, ()))

    @cached_property
    def _by_key(self) -> dict[Key, Mechanism]:
        keys = [(mechanism.size, getattr(mechanism, "groups", ())) for mechanism in self.mechanisms]
        return dict(zip(keys, self.mechanisms, strict=True))


@dataclass(frozen=True)
class _Grid:
    """The layers without their mechanisms: which cell every member asks for."""

    table: int
    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    widths: tuple[tuple[int, ...], ...]
    most: int = 0
    rounding: str = "none"
    groups: tuple[int, ...] = ()
    first: int = 0

    def check(self) -> None:
        """Refuse settings that do not make layers."""
        choice("rounding", self.rounding, ROUNDINGS)
        if (self.rounding == "none") == bool(self.groups):
            raise ParameterError(
                "`groups` must name the columns that are rounded, and none if `rounding` is none"
            )
        whole("first", self.first, 0, 1)
        entries("widths", self.widths, len(self.columns), len(self.columns))
        if not all(self.widths):
            raise ParameterError("each entry of `widths` must list at least one width")
        entries("groups", self.groups, 0, len(self.columns))
        for widths in self.widths:
            wholes("widths", widths, 1)
        finest = zip(self.sizes, map(min, self.widths), strict=False)
        _key_of_factors(tuple(node_count(size, width, doubled=False) for size, width in finest))
        if not 1 <= len(self) <= MAX_LAYERS:
            raise ParameterError(
                f"`widths` must give a table from 1 to {MAX_LAYERS:,} layers:"
                " take fewer columns, or a larger fan-out"
            )
        for end in self.ends:  # the last layer of a group has all of its coins
            self.cell(end - self.first - 1)

    def __len__(self) -> int:
        return self.ends[-1] - self.first

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return how many choices each column and each coin has, for every group of members."""
        plain = [len(widths) for widths in self.widths]
        if self.rounding == "mirror":
            return tuple(self._mirrored_shape(plain, column) for column in self.groups)
        if self.rounding == "one":
            return ((*plain, 2),) * len(self.groups)
        coins = len(self.groups) if self.rounding == "all" else 0
        return ((*plain, *([2] * coins)),)

    def _mirrored_shape(self, plain: list[int], column: int) -> tuple[int, ...]:
        """Return the shape of a group whose own column may also be everything."""
        shape = list(plain)
        shape[self.columns.index(column)] += 1
        return tuple(shape)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Return where every group of members ends, were no layer left out."""
        return tuple(accumulate(prod(shape) for shape in self.shapes))

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Return the number of cells and the bit groups of every layer, without making its cell."""
        keys = [key for group in range(len(self.shapes)) for key in self._keys_of_group(group)]
        return tuple(keys[self.first :])

    def _keys_of_group(self, group: int) -> Iterator[Key]:
        mirrored = self.groups[group] if self.rounding == "mirror" else None
        nodes = []
        for column, size, widths in zip(self.columns, self.sizes, self.widths, strict=True):
            own = column == mirrored
            choices = (0, *widths) if own else widths
            nodes.append([node_count(size, width, doubled=own) for width in choices])
        coins = len(self.shapes[group]) - len(self.columns)
        for factors in product(*nodes):
            for tossed in product((False, True), repeat=coins):
                rounded = sum(tossed)
                weighted = bool(self.most) and (self.rounding == "none" or rounded > 0)
                yield _key_of_factors((*factors, *([2] * (weighted + rounded))))

    def place(self, index: int) -> tuple[int, tuple[int, ...]]:
        """Return the group of a member and its choice for each column and each coin."""
        number = index + self.first
        group = next(group for group, end in enumerate(self.ends) if number < end)
        rest = number - (self.ends[group - 1] if group else 0)
        choices = []
        for radix in reversed(self.shapes[group]):
            rest, chosen = divmod(rest, radix)
            choices.append(chosen)
        return group, tuple(reversed(choices))

    def cell(self, index: int) -> Cell:
        """Return what a member asks for."""
        group, choices = self.place(index)
        by_group = self.rounding in ("one", "mirror")
        own = self.groups[group : group + 1] if by_group else self.groups
        mirrored = own if self.rounding == "mirror" else ()
        widths = [
            (0, *listed)[chosen] if column in mirrored else listed[chosen]
            for column, listed, chosen in zip(self.columns, self.widths, choices, strict=False)
        ]
        coins = choices[len(self.columns) :]
        rounded = tuple(column for column, coin in zip(own, coins, strict=False) if coin)
        weighted = bool(self.most) and (self.rounding == "none" or bool(rounded))
        layer = (self.table, self.columns, self.sizes, tuple(widths), self.most)
        coins_of_layer = (weighted, rounded, mirrored)
        cell = Cell(*layer, *coins_of_layer)
        if cell.cells <= 1 << ALIGNED_FROM:
            return cell
        return Cell(*layer, *coins_of_layer, aligned=True)


def _key_of_factors(factors: tuple[int, ...]) -> Key:
    """Return the number of cells with these factors, and their bit groups if they are aligned."""
    cells = prod(factors)
    groups: tuple[int, ...] = ()
    if cells > 1 << ALIGNED_FROM:
        bits = sorted(((factor - 1).bit_length() for factor in factors), reverse=True)
        groups = tuple(width for width in bits if width)
        cells = 1 << sum(groups)
    if cells > MOST_CELLS:
        raise ParameterError("a layer has at most 2^62 cells")
    return max(2, cells), groups
