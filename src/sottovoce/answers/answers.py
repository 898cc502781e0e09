"""Answers: one distribution for each of several questions, by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from sottovoce.answers import export
from sottovoce.answers.answer import Answer
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.answers.outcome import Outcome, Row
from sottovoce.errors import NoDataError

TOGETHER = " & "  # between the names of attributes, and between the values of a cell


@dataclass(frozen=True, eq=False)
class Answers(Outcome, Mapping[str, Answer]):
    """The answers to several questions, by name."""

    name: str
    parts: Mapping[str, Answer]

    def __getitem__(self, name: str) -> Answer:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def guarantee(self) -> Guarantee:
        return max((part.guarantee for part in self.parts.values()), key=lambda each: each.local)

    @property
    def users(self) -> int:
        return max(part.users for part in self.parts.values())

    @property
    def methods(self) -> tuple[str, ...]:
        return next(iter(self.parts.values())).methods

    @property
    def single(self) -> bool:
        return False

    def questions(self) -> Mapping[str, Answer]:
        return self.parts

    def after_shuffling(self, shuffled: ShuffledReports) -> Self:
        parts = {name: part.after_shuffling(shuffled) for name, part in self.parts.items()}
        return replace(self, parts=parts)

    def at(self, level: float, *, fakes: float | None = None) -> "Answers":
        parts = {name: part.at(level, fakes=fakes) for name, part in self.parts.items()}
        return Answers(self.name, parts)

    def postprocess(self, method: str, **options: Any) -> "Answers":
        parts = {name: part.postprocess(method, **options) for name, part in self.parts.items()}
        return Answers(self.name, parts)

    def select(self, names: Sequence[str]) -> Answer:
        """Return the part about the named attributes, if it was kept when reports were erased."""
        title = TOGETHER.join(names)
        if title not in self.parts:
            raise NoDataError(
                "the reports of this task are erased, and this table is not among those kept"
            )
        return self.parts[title]

    @property
    def about(self) -> dict[str, Any]:
        return {"name": self.name, "guarantee": self.guarantee.to_dict()}

    def rows(self) -> list[Row]:
        """Return the rows of all parts, each with the name of its question."""
        return [
            {"question": name, **row} for name, part in self.parts.items() for row in part.rows()
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.about,
            "answers": {name: part.to_dict() for name, part in self.parts.items()},
        }

    def plot(
        self,
        path: str | Path | None = None,
        *,
        truth: Mapping[str, Mapping[str, float]] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw one panel for every question; saves the figure to ``path``."""
        export.optional("matplotlib", "plot")
        from sottovoce.answers.chart import grid

        return grid(self, path, truth, ax)

    def __str__(self) -> str:
        return "\n\n".join(str(part) for part in self.parts.values())
