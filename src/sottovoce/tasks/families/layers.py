"""One question for every layer of a table: a public coin picks how coarse each column is in the
report.

Source: Wang 2021, section 7.4; Xu 2020, section 3.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
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
        if self.rounding not in ROUNDINGS or bool(self.groups) != (self.rounding != "none"):
            raise ParameterError(
                f"a rounding is one of {', '.join(ROUNDINGS)}, and names the columns it is for"
            )
        if (
            self.first not in (0, 1)
            or len(self.widths) != len(self.columns)
            or not all(self.widths)
        ):
            raise ParameterError(
                "layers have some widths for every column, and leave out one layer at the most"
            )
        if not 1 <= self._count <= MOST_LAYERS:
            raise ParameterError(
                f"a table has from 1 to {MOST_LAYERS:,} layers: fewer columns, or a larger fan-out"
            )
        used = {self._mechanism(self.cell(index)) for index in range(len(self))}
        if used != set(self.mechanisms) or len(used) < len(self.mechanisms):
            raise ParameterError("layers need one mechanism for every number of cells")

    @classmethod
    def of(cls, make: Callable[[Key], Mechanism], **settings: Any) -> "Layers":
        """Return the family with a mechanism for every number of cells that its layers have."""
        blank = object.__new__(cls)
        for one in fields(cls):
            object.__setattr__(blank, one.name, settings.get(one.name, one.default))
        needed = (
            {_key(blank.cell(index)) for index in range(blank._count)}
            if blank._count <= MOST_LAYERS
            else set()
        )
        made = dict.fromkeys(
            make(key) for key in sorted(needed)
        )  # hashing may serve several keys of one size
        return cls(**settings, mechanisms=tuple(made))

    def __len__(self) -> int:
        return self._count

    @property
    def _count(self) -> int:
        return self._ends[-1] - self.first

    def __getitem__(self, index: int) -> Question:
        if index not in self._made:
            cell = self.cell(index)
            mechanism = self._mechanism(cell)
            assert mechanism is not None
            self._made[index] = Question(mechanism, cell)
        return self._made[index]

    def representatives(self) -> list[int]:
        found = {_key(self.cell(index)): index for index in reversed(range(len(self)))}
        return sorted(found.values())

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return, for every group of members, how many choices there are for each column and for
        each coin.
        """
        plain = [len(widths) for widths in self.widths]
        if self.rounding == "mirror":
            own = [self.columns.index(column) for column in self.groups]
            return tuple(
                tuple(count + (at == place) for at, count in enumerate(plain)) for place in own
            )
        coins = {"none": 0, "one": 1, "all": len(self.groups)}[self.rounding]
        return ((*plain, *([2] * coins)),) * (len(self.groups) if self.rounding == "one" else 1)

    def place(self, index: int) -> tuple[int, tuple[int, ...]]:
        """Return the group of a member and its choice for each column and each coin."""
        group = next(at for at, end in enumerate(self._ends) if index + self.first < end)
        rest, digits = index + self.first - (self._ends[group - 1] if group else 0), []
        for radix in reversed(self.shapes[group]):
            rest, digit = divmod(rest, radix)
            digits.append(digit)
        return group, tuple(reversed(digits))

    def cell(self, index: int) -> Cell:
        """Return what a member asks for."""
        group, digits = self.place(index)
        chosen, coins = digits[: len(self.columns)], digits[len(self.columns) :]
        own = self.groups[group : group + 1] if self.rounding in ("one", "mirror") else self.groups
        mirrored = own if self.rounding == "mirror" else ()
        widths = [
            (0, *one)[digit] if column in mirrored else one[digit]
            for column, one, digit in zip(self.columns, self.widths, chosen, strict=True)
        ]
        rounded = tuple(column for column, coin in zip(own, coins, strict=False) if coin)
        weighted = bool(self.most) and (self.rounding == "none" or bool(rounded))
        made = Cell(
            self.table,
            self.columns,
            self.sizes,
            tuple(widths),
            self.most,
            weighted,
            rounded,
            mirrored,
        )
        return made if made.cells <= 1 << ALIGNED_FROM else _aligned(made)

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return tuple(accumulate(prod(shape) for shape in self.shapes))

    @cached_property
    def _made(self) -> dict[int, Question]:
        return {}

    def _mechanism(self, cell: Cell) -> Mechanism | None:
        size, groups = _key(cell)
        return self._served.get((size, groups)) or self._served.get((size, ()))

    @cached_property
    def _served(self) -> dict[Key, Mechanism]:
        return {(one.size, getattr(one, "groups", ())): one for one in self.mechanisms}


def _aligned(cell: Cell) -> Cell:
    settings = (
        cell.table,
        cell.columns,
        cell.sizes,
        cell.widths,
        cell.most,
        cell.weighted,
        cell.rounded,
    )
    return Cell(*settings, cell.mirrored, aligned=True)


def _key(cell: Cell) -> Key:
    return max(2, cell.cells), cell.groups
