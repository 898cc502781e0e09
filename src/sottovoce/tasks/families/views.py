"""One question for every view: a public coin picks which attributes somebody reports together."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from sottovoce.core import bounds, settings
from sottovoce.encodings.view import View
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Question


@dataclass(frozen=True)
class Views(Family, kind="views"):
    """The questions about sets of columns of records with attributes of these ``sizes``.

    There is one mechanism for every number of cells that a view has.
    """

    sizes: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    mechanisms: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        settings.entries("columns", self.columns, 1, bounds.MAX_DOCUMENT_MEMBERS)
        settings.distinct("columns", self.columns)
        cells = {prod(self._view(columns).sizes) for columns in self.columns}
        served = settings.distinct("mechanisms", [mechanism.size for mechanism in self.mechanisms])
        if set(served) != cells:
            raise ParameterError(
                "`mechanisms` must have one entry for every number of cells that a view has:"
                f" {sorted(cells)}, not {sorted(served)}"
            )

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: int) -> Question:
        view = self._view(self.columns[index])
        return Question(self._mechanism_of_cells[prod(view.sizes)], view)

    @property
    def examined(self) -> int:
        return len(self)

    def representatives(self) -> list[int]:
        first: dict[int, int] = {}
        for index, columns in enumerate(self.columns):
            cells = prod(self.sizes[column] for column in columns)
            first.setdefault(cells, index)
        return list(first.values())

    @cached_property
    def _mechanism_of_cells(self) -> dict[int, Mechanism]:
        return {mechanism.size: mechanism for mechanism in self.mechanisms}

    def _view(self, columns: tuple[int, ...]) -> View:
        settings.wholes("columns", columns, 0, len(self.sizes) - 1)
        return View(columns, tuple(self.sizes[column] for column in columns))
