"""Numbers about numbers: a few named figures, each with its interval."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sottovoce.core.estimate import Total


@dataclass(frozen=True, eq=False)
class Measures:
    """Named figures with what they rest on; a figure's ``total`` is its value, on the scale of the task."""

    name: str
    figures: Mapping[str, Total]
    users: int
    epsilon: float
    mechanism: str
    steps: tuple[str, ...] = ()
    level: float = 0.95

    def __getitem__(self, figure: str) -> Total:
        return self.figures[figure]

    def at(self, level: float) -> "Measures":
        """Return the same figures with intervals of another confidence level."""
        return replace(self, level=level)

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per figure."""
        made = []
        for name, figure in self.figures.items():
            low, high = figure.interval(self.level)
            made.append({"value": name, "estimate": figure.total, "low": low, "high": high, "error": figure.error})
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        about = {"name": self.name, "users": self.users, "epsilon": self.epsilon, "mechanism": self.mechanism}
        return {**about, "level": self.level, "steps": list(self.steps), "rows": self.rows()}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_csv(self) -> str:
        """Return the rows as CSV with a header."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=["value", "estimate", "low", "high", "error"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return text.getvalue()

    def __str__(self) -> str:
        steps = f", {' then '.join(self.steps)}" if self.steps else ", raw"
        lines = [f"{self.name}: {self.users:,} users, epsilon {self.epsilon:g}{steps}, {self.mechanism}", ""]
        width = max(len(row["value"]) for row in self.rows())
        for row in self.rows():
            bounds = f"[{row['low']:,.6g}, {row['high']:,.6g}]"
            lines.append(f"{row['value']:<{width}}  {row['estimate']:>12,.6g}  {100 * self.level:g} % in {bounds}")
        return "\n".join(lines)
