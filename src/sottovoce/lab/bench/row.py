"""One line of a benchmark: a figure, what it was raced against, and the goal."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Goal:
    """A bound on a row's figure or on its ratio.

    >>> str(Goal("ratio", "<=", 2)), Goal("ratio", "<=", 2).met(3.0, 1.5)
    ('ratio <= 2', True)
    """

    of: Literal["figure", "ratio"]
    sign: Literal["<=", "<", ">="]
    limit: float

    def met(self, figure: float, ratio: float | None) -> bool:
        """Return whether the measured value keeps the bound."""
        value = figure if self.of == "figure" else ratio
        if value is None:
            return False
        return {"<=": value <= self.limit, "<": value < self.limit, ">=": value >= self.limit}[
            self.sign
        ]

    def __str__(self) -> str:
        return f"{self.of} {self.sign} {self.limit:,.12g}"


@dataclass(frozen=True)
class BenchmarkRow:
    """A measured figure.

    ``ratio`` is to what ``against`` names.  A row without a goal only informs.
    """

    topic: str
    name: str
    figure: float
    unit: str
    against: str = ""
    ratio: float | None = None
    goal: Goal | None = None

    @property
    def met(self) -> bool | None:
        """Return whether the goal was met, or None where there is none."""
        return self.goal.met(self.figure, self.ratio) if self.goal else None

    def document(self) -> dict[str, Any]:
        """Return the row as JSON takes it."""
        goal = str(self.goal) if self.goal else ""
        own = {"topic": self.topic, "name": self.name, "figure": self.figure, "unit": self.unit}
        return own | {"against": self.against, "ratio": self.ratio, "goal": goal, "met": self.met}
