"""An answer: one distribution over named values, ready to be read, saved and drawn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from sottovoce.answers import attacked, export
from sottovoce.answers.folding import fold
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.answers.outcome import Outcome
from sottovoce.core.estimate import Estimate, Total
from sottovoce.errors import DomainError

_SHOWN = 25  # rows that print() shows of a long table


@dataclass(frozen=True, eq=False)
class Answer(Outcome):
    """One distribution: every value with estimate, interval, users, epsilon and the steps applied.

    - ``details`` are further facts from the method, such as how it searched.
    - ``columns`` are further columns of the rows, with one entry per value.
    - ``fakes`` is the share of false reports that the rows allow for.
    - ``shuffled`` says how the reports were shuffled, if they were.
    """

    name: str
    labels: tuple[str, ...]
    estimate: Estimate
    mechanism: str
    level: float = 0.95
    details: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    fakes: float | None = None
    shuffled: ShuffledReports | None = None

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.estimate.epsilon, self.shuffled)

    @property
    def users(self) -> int:
        return self.estimate.users

    @property
    def methods(self) -> tuple[str, ...]:
        from sottovoce.postprocess.apply import methods

        return ("none", *methods())

    def at(self, level: float, *, fakes: float | None = None) -> Self:
        return replace(self, level=level, fakes=attacked.checked_fakes(fakes))

    def postprocess(self, method: str, **options: Any) -> "Answer":
        """Return the answer after a step of post-processing; it spends no privacy."""
        from sottovoce.postprocess.apply import apply

        return replace(self, estimate=apply(self.estimate, method, **options))

    def consistent(self) -> "Answer":
        """Return the nearest answer with totals >= 0 that sum to the population (Norm-Sub)."""
        return self.postprocess("norm-sub")

    @property
    def raw(self) -> "Answer":
        """Return the answer before any post-processing."""
        return replace(self, estimate=self.estimate.raw or self.estimate)

    def rows(self, *, simultaneous: bool = False) -> list[dict[str, Any]]:
        """Return one record per value."""
        low, high = self.estimate.interval(self.level, simultaneous=simultaneous)
        columns = {
            "value": self.labels,
            "estimate": self.estimate.totals.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "share": self.estimate.frequencies.tolist(),
            "error": self.estimate.errors.tolist(),
            "significant": self.estimate.significant().tolist(),
            **self.columns,
        }
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        if self.fakes is None:
            return rows
        bounds = self._attacked(self.fakes, simultaneous=simultaneous)
        pairs = zip(rows, bounds, strict=True)
        return [{**row, **attacked.columns_of(bound)} for row, bound in pairs]

    def _attacked(self, fakes: float, *, simultaneous: bool) -> list[attacked.Bounds | None]:
        """Return the bounds of every value if a share of the reports may be false."""
        bounds = self.estimate.attacked(self.level, fakes, simultaneous=simultaneous)
        if bounds is None:
            return [None] * len(self.labels)
        return list(zip(bounds[0].tolist(), bounds[1].tolist(), strict=True))

    def sum(self, values: Iterable[str]) -> Total:
        """Return the total of several values together, with the covariance of their errors."""
        positions = {label: index for index, label in enumerate(self.labels)}
        wanted = list(values)
        if not set(wanted) <= set(positions):
            raise DomainError("a sum may only name values of the task's domain")
        return self.estimate.sum(np.array([positions[value] for value in wanted], np.int64))

    @property
    def about(self) -> dict[str, Any]:
        """Return the facts that hold for every number: users, epsilon, mechanism, level, steps."""
        return {
            "name": self.name,
            "users": self.estimate.users,
            "population": self.estimate.population,
            "epsilon": self.estimate.epsilon,
            "guarantee": self.guarantee.to_dict(),
            "mechanism": self.mechanism,
            "level": self.level,
            "steps": list(self.estimate.steps),
            "threshold": self.estimate.threshold(),
            "influence": self.influence,
            **({} if self.fakes is None else self._allowance(self.fakes)),
            **self.details,
        }

    def _allowance(self, fakes: float) -> dict[str, Any]:
        """Return the share of false reports that rows allow for, and why some have no bound."""
        bounds = self._attacked(fakes, simultaneous=False)
        known = self.estimate.influence is not None
        return {"fakes": fakes, **attacked.reasons(bounds, known=known)}

    @property
    def influence(self) -> dict[str, Any] | None:
        """Return the most that one false report does to any raw total, in people.

        None where no bound is known.
        """
        cells = self.estimate.influence
        return None if cells is None else cells.largest.to_dict()

    def plot(
        self,
        path: str | Path | None = None,
        *,
        truth: Mapping[str, float] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the most frequent values with their intervals; saves the figure to ``path``."""
        export.optional("matplotlib", "plot")
        from sottovoce.answers.chart import bars

        return bars(self, path, truth, ax)

    def summary(self, most: int) -> list[dict[str, Any]]:
        """Return bands of neighbouring numbers, or the most frequent values."""
        from sottovoce.answers.summary import shown

        return shown(self, most)

    def bands(self, most: int) -> list[dict[str, Any]]:
        from sottovoce.answers.summary import bands

        return bands(self, most)

    def findings(self) -> list[dict[str, Any]]:
        """Return the rows that exceed the noise; chance alone can explain the others."""
        return [row for row in self.rows() if row["significant"]]

    def top(self, count: int) -> "list[dict[str, Any]]":
        """Return the rows of the largest estimates, in order."""
        return sorted(self.rows(), key=lambda row: -row["estimate"])[:count]

    def __str__(self) -> str:
        folded = fold(self.rows(), self.details)
        rows = folded.rows
        if len(rows) > _SHOWN:
            rows = sorted(rows, key=lambda row: -row["estimate"])[:_SHOWN]
        percent = f"{100 * self.level:g} % interval"
        lines = [f"{self.name}: {_facts(self.estimate)}, {self.mechanism}", ""]
        width = max(len("value"), *(len(row["value"]) for row in rows))
        lines.append(f"{'value':<{width}}  {'estimate':>12}  {percent:>27}  {'share':>7}")
        for row in rows:
            bounds = f"[{row['low']:,.0f}, {row['high']:,.0f}]"
            mark = "" if row["significant"] else "  (within noise)"
            estimate, share = f"{row['estimate']:,.0f}", f"{100 * row['share']:.1f} %"
            lines.append(f"{row['value']:<{width}}  {estimate:>12}  {bounds:>27}  {share:>7}{mark}")
            if self.fakes is not None:
                lines.append(_attacked_line(row, self.fakes, width))
        if len(rows) < len(folded.rows):
            lines.append(f"... and {len(folded.rows) - len(rows):,} more values")
        if folded.remark:
            lines.append(folded.remark)
        return "\n".join([*lines, *self.guarantee.lines()])


def _attacked_line(row: Mapping[str, Any], fakes: float, width: int) -> str:
    low, high = (row[column] for column in attacked.COLUMNS)
    bounds = "no bound" if low is None else f"[{low:,.0f}, {high:,.0f}]"
    return f"{'':<{width}}  {'':>12}  {bounds:>27}  {attacked.sentence(fakes)}"


def _facts(estimate: Estimate) -> str:
    scaled = (
        f" standing for {estimate.population:,}" if estimate.population > estimate.users else ""
    )
    steps = f", {' then '.join(estimate.steps)}" if estimate.steps else ", raw"
    return f"{estimate.users:,} users{scaled}, epsilon {estimate.epsilon:g}{steps}"
