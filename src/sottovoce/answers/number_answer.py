"""An answer in numbers: a few named figures, such as a mean, each with its interval."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from sottovoce.answers import attacked, digits, export
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.answers.outcome import Outcome, Row
from sottovoce.core.estimate import Total


@dataclass(frozen=True, eq=False)
class NumberAnswer(Outcome):
    """Named figures; the ``total`` of a figure is its value on the scale of the task."""

    counts_people = False

    name: str
    figures: Mapping[str, Total]
    user_count: int
    epsilon: float
    mechanism: str
    steps: tuple[str, ...] = ()
    level: float = 0.95
    fakes: float | None = None
    shuffled: ShuffledReports | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, figure: str) -> Total:
        return self.figures[figure]

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.shuffled)

    @property
    def users(self) -> int:
        return self.user_count

    def at(self, level: float, *, fakes: float | None = None) -> Self:
        return replace(self, level=level, fakes=attacked.checked_fakes(fakes))

    @property
    def about(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "users": self.users,
            "epsilon": self.epsilon,
            "guarantee": self.guarantee.to_dict(),
            "mechanism": self.mechanism,
            "level": self.level,
            "steps": list(self.steps),
            "influence": {name: _influence(figure) for name, figure in self.figures.items()},
            **({} if self.fakes is None else self._allowance(self.fakes)),
            **self.details,
        }

    def _allowance(self, fakes: float) -> dict[str, Any]:
        """Return the share of false reports that rows allow for, and why some have no bound."""
        bounds = {name: total.attacked(self.level, fakes) for name, total in self.figures.items()}
        missing = [name for name, bound in bounds.items() if bound is None]
        known = all(_influence(self.figures[name]) is not None for name in missing)
        return {"fakes": fakes, **attacked.reasons(bounds.values(), known=known)}

    def rows(self) -> list[Row]:
        """Return one record per figure."""
        rows = []
        for name, figure in self.figures.items():
            low, high = figure.interval(self.level)
            row = {"value": name, "estimate": figure.total, "low": low, "high": high}
            row |= {"error": figure.error}
            if self.fakes is not None:
                row |= attacked.columns_of(figure.attacked(self.level, self.fakes))
            rows.append(row)
        return rows

    def plot(
        self,
        path: str | Path | None = None,
        *,
        truth: Mapping[str, float] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw every figure with its interval; saves the figure to ``path``."""
        export.optional("matplotlib", "plot")
        from sottovoce.answers.chart import figures

        return figures(self, path, truth, ax)

    def __str__(self) -> str:
        steps = f", {' then '.join(self.steps)}" if self.steps else ", raw"
        head = (
            f"{self.name}: {self.users:,} users, epsilon {self.epsilon:g}{steps}, {self.mechanism}"
        )
        lines = [head, ""]
        width = max(len(row["value"]) for row in self.rows())
        for row in self.rows():
            bounds = digits.interval(row["low"], row["high"], row["error"])
            level = f"{100 * self.level:g} % in {bounds}"
            estimate = digits.figure(row["estimate"], row["error"])
            lines.append(f"{row['value']:<{width}}  {estimate:>12}  {level}")
            if self.fakes is not None:
                lines.append(_attacked_line(row, self.fakes, width))
        remark = [self.details["remark"]] if "remark" in self.details else []
        return "\n".join([*lines, *remark, *self.guarantee.lines()])


def _influence(figure: Total) -> dict[str, float] | None:
    """Return the most that one false report does to a figure; None where no bound is known."""
    exposure = (figure.raw or figure).exposure
    return None if exposure is None else exposure.influence.to_dict()


def _attacked_line(row: Row, fakes: float, width: int) -> str:
    low, high = (row[column] for column in attacked.COLUMNS)
    bounds = digits.interval(low, high, row["error"])
    return f"{'':<{width}}  {'':>12}  {bounds} {attacked.sentence(fakes)}"
