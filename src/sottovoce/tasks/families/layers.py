"""One question for every layer of a table: a public coin picks how coarse each column is in the
report.

Source: Wang 2021, section 7.4; Xu 2020, section 3.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

from sottovoce.encodings.cell import Cell
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Question

ALIGNED_FROM = 20  # bits; larger layers are decoded column by column
MOST_LAYERS = 1 << 17
ROUNDINGS = ("none", "one", "all", "mirror")

Key = tuple[int, tuple[int, ...]]  # how many cells, and the bit groups in which they are permuted


@dataclass(frozen=True)
class Layers(Family, kind="layers"):
    """All combinations of one of the ``widths`` of every column, the last changing fastest.

    ``rounding`` says what happens to numbers:

        none    nothing; layers of lists always hold whether the drawn record counts
        one     the members come in groups, one for each of the ``groups`` columns; half of the
                layers of a group also hold that column's rounding coin (and, for lists, whether
                the record counts)
        all     the coin of each of the ``groups`` columns is in a layer, or not
        mirror  the members come in groups; a group's own column is doubled by its coin

    The ``first`` layers (0 or 1) are left out: layer 0 has everything in one cell, whose count is
    known. There is one mechanism for every number of cells.
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
        used = {self._mechanism(self.cell(index)) for index in range(len(self))}
        if used != set(self.mechanisms) or len(used) < len(self.mechanisms):
            raise ParameterError("layers need one mechanism for every number of cells")

    @classmethod
    def of(cls, make: Callable[[Key], Mechanism], **settings: Any) -> "Layers":
        """Return the family with a mechanism for every number of cells that its layers have."""
        grid = _Grid(**settings)
        grid.check()
        needed = {_key(grid.cell(index)) for index in range(len(grid))}
        distinct = dict.fromkeys(
            map(make, sorted(needed))
        )  # hashing may serve several keys of a size
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

    def representatives(self) -> list[int]:
        first = {_key(self.cell(index)): index for index in reversed(range(len(self)))}
        return sorted(first.values())

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
        size, groups = _key(cell)
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
        if self.rounding not in ROUNDINGS or bool(self.groups) != (self.rounding != "none"):
            raise ParameterError(
                f"a rounding is one of {', '.join(ROUNDINGS)}, and names the columns it is for"
            )
        widths = len(self.widths) == len(self.columns) and all(self.widths)
        if self.first not in (0, 1) or not widths:
            raise ParameterError(
                "layers have some widths for every column, and leave out one layer at the most"
            )
        if not 1 <= len(self) <= MOST_LAYERS:
            raise ParameterError(
                f"a table has from 1 to {MOST_LAYERS:,} layers: fewer columns, or a larger fan-out"
            )

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

    def place(self, index: int) -> tuple[int, tuple[int, ...]]:
        """Return the group of a member and its choice for each column and each coin."""
        number = index + self.first
        group = next(group for group, end in enumerate(self.ends) if number < end)
        rest = number - (self.ends[group - 1] if group else 0)
        choices = []
        for radix in reversed(self.shapes[group]):
            rest, choice = divmod(rest, radix)
            choices.append(choice)
        return group, tuple(reversed(choices))

    def cell(self, index: int) -> Cell:
        """Return what a member asks for."""
        group, choices = self.place(index)
        by_group = self.rounding in ("one", "mirror")
        own = self.groups[group : group + 1] if by_group else self.groups
        mirrored = own if self.rounding == "mirror" else ()
        widths = []
        for column, listed, choice in zip(self.columns, self.widths, choices, strict=False):
            widths.append((0, *listed)[choice] if column in mirrored else listed[choice])
        coins = choices[len(self.columns) :]
        rounded = tuple(column for column, coin in zip(own, coins, strict=False) if coin)
        weighted = bool(self.most) and (self.rounding == "none" or bool(rounded))
        shared = (self.table, self.columns, self.sizes, tuple(widths), self.most)
        cell = Cell(*shared, weighted, rounded, mirrored)
        return cell if cell.cells <= 1 << ALIGNED_FROM else replace(cell, aligned=True)


def _key(cell: Cell) -> Key:
    return max(2, cell.cells), cell.groups
