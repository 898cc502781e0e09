"""The contract of everything that a plan may answer.

A shell (command line, dashboard, collector) knows only this: an outcome has named parts, each with
rows, facts about them, a guarantee, and a way to be written and drawn.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from sottovoce.answers.folding import fold, is_search
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.answers.notebook import MAX_ROWS
from sottovoce.answers.plain_data import PlainRows
from sottovoce.answers.side_views import SideViews
from sottovoce.errors import ParameterError

Row = dict[str, Any]


class Outcome(PlainRows):
    """The answer of a plan: rows with intervals, and the facts behind them."""

    name: str
    # Whether rows count people, so that small crowds are withheld.
    counts_people: ClassVar[bool] = True

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the privacy guarantee of the people behind the outcome."""

    @property
    @abstractmethod
    def users(self) -> int:
        """Return how many people answered."""

    @abstractmethod
    def rows(self) -> list[Row]:
        """Return one record per value or figure."""

    @property
    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Return the facts behind every row: users, epsilon, mechanism, level, steps."""

    def named(self, name: str) -> Self:
        """Return the same outcome under the name of its task."""
        return replace(self, name=name)  # type: ignore[type-var]

    def after_shuffling(self, shuffled: ShuffledReports) -> Self:
        """Return the same outcome with the guarantee of shuffling."""
        return replace(self, shuffled=shuffled)  # type: ignore[type-var]

    @abstractmethod
    def at(self, level: float, *, fakes: float | None = None) -> "Outcome":
        """Return the same outcome with intervals of another confidence level.

        With ``fakes`` rows also have bounds that hold if up to this share of all who answered sent
        false reports.
        """

    def questions(self) -> "Mapping[str, Outcome]":
        """Return the parts by name; an outcome of one part is its own."""
        return {self.name: self}

    @property
    def single(self) -> bool:
        """Return whether there is one part: the outcome itself."""
        return True

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the post-processing methods that may be applied; ``none`` is the first."""
        return ("none",)

    def postprocess(self, method: str, **options: Any) -> "Outcome":
        """Return the outcome after a step of post-processing, which spends no privacy."""
        raise ParameterError(f"`method` {method!r} does not apply here: {self.name} takes none")

    def kept(self) -> "Outcome | None":
        """Return the outcome to store before reports are erased; None if their sums suffice."""
        return self

    @abstractmethod
    def plot(self, path: str | Path | None = None, *, truth: Any = None, ax: Any = None) -> Any:
        """Draw the outcome beside the truth, if that is known; save the figure to ``path``.

        With ``ax`` it is drawn there, into a figure of the caller's.
        """

    def summary(self, most: int) -> list[Row]:
        """Return at most ``most`` rows; ``members`` are the values that a row summarises."""
        return [{**row, "members": (row["value"],)} for row in self.rows()[:most]]

    def highlights(self) -> "Outcome":
        """Return the part of a large outcome that is shown first; a small one is shown whole."""
        return self

    def select(self, names: Sequence[str]) -> "Outcome":
        """Return the part about the named attributes, which need not be a listed part."""
        raise ParameterError("`marginal` does not apply: this task is not about joint tables")

    def views(self, names: Sequence[str] = ()) -> SideViews:
        """Return the views beside the rows, with emphasis on the named attributes."""
        return SideViews()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**self.about, "rows": self.rows()}

    def bands(self, most: int) -> list[Row]:
        """Return the rows, of a long range of numbers at most ``most`` bands of neighbours.

        The error of a band includes the covariances of its numbers.
        """
        return self.rows()

    def rows_to_show(self, most: int) -> list[Row]:
        """Return at most ``most`` rows for people to read."""
        rows = self.summary(most)
        return [{name: row[name] for name in row if name != "members"} for row in rows]

    def to_show(self) -> dict[str, Any]:
        shown = self.highlights()
        if shown.single:
            return {**shown.about, **shown._rows_to_read()}
        parts = shown.questions()
        return {**shown.about, "answers": {name: part.to_show() for name, part in parts.items()}}

    def _rows_to_read(self) -> dict[str, Any]:
        """Return the rows worth reading, and how many more of a search are noise."""
        if not is_search(self.about):
            return {"rows": self.rows_to_show(MAX_ROWS)}
        folded = fold(self.rows(), self.about)
        noise = {"more_rows_within_noise": folded.folded} if folded.folded else {}
        return {**noise, "rows": folded.rows}
