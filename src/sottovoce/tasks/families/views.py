"""One question for every view: a public coin picks which attributes somebody reports together."""

from dataclasses import dataclass
from math import prod

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
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ParameterError("there is at least one view, and no two are the same")
        served = {mechanism.size for mechanism in self.mechanisms}
        needed = {prod(self._view(columns).sizes) for columns in self.columns}
        if served != needed or len(served) < len(self.mechanisms):
            raise ParameterError("views need one mechanism for every number of cells")

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: int) -> Question:
        view = self._view(self.columns[index])
        cells = prod(view.sizes)
        return Question(next(one for one in self.mechanisms if one.size == cells), view)

    def _view(self, columns: tuple[int, ...]) -> View:
        if any(not 0 <= column < len(self.sizes) for column in columns):
            raise ParameterError("a view is of attributes that there are")
        return View(columns, tuple(self.sizes[column] for column in columns))
