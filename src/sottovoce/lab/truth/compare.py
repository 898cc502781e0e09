"""Truth beside estimate: what simulated people really hold, and how many intervals contain it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sottovoce.answers.export import csv_text
from sottovoce.answers.measure import Measure
from sottovoce.answers.outcome import Outcome, Row
from sottovoce.lab.truth import metrics
from sottovoce.tasks.plan import Plan


@dataclass(frozen=True)
class ShownIntervals:
    """How an outcome is shown: its level, and the share of false reports that it allows for.

    ``attackers`` is their share among all who answered.  Numbers of people are then those of a
    population of that size that is like its honest part.
    """

    level: float = 0.95
    fakes: float | None = None
    attackers: float = 0.0

    def applied(self, outcome: Outcome) -> Outcome:
        """Return the outcome with these intervals."""
        return outcome.at(self.level, fakes=self.fakes)


@dataclass(frozen=True, eq=False)
class ComparedPart:
    """One part of an outcome and the true number of every row.

    ``sought`` is what a search should have found, most frequent first; nothing where every value
    was asked about.
    """

    part: Outcome
    truth: Mapping[str, float]
    sought: Mapping[str, int] = field(default_factory=dict)

    def rows(self, most: int = 0) -> list[Row]:
        """Return rows with ``truth`` and ``covered``: all of them, or at most ``most`` to show."""
        if most:
            return [self._beside(row, row["members"]) for row in self.part.summary(most)]
        return [self._beside(row, (row["value"],)) for row in self.part.rows()]

    @property
    def covered(self) -> int:
        """Return how many intervals contain the truth."""
        return sum(row["covered"] for row in self.rows())

    @property
    def intervals(self) -> int:
        """Return how many intervals there are."""
        return len(self.part.rows())

    @property
    def scores(self) -> dict[str, float]:
        """Return F1 and normalised cumulative rank of what a search has found."""
        if not self.sought:
            return {}
        true = list(self.sought)
        labels = [row["value"] for row in self.part.rows()]
        return {"f1": metrics.f1(true, labels), "ncr": metrics.ncr(true, labels)}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        score = {**self.scores, "sought": dict(self.sought)} if self.sought else {}
        facts = {"covered": self.covered, "intervals": self.intervals}
        return {**self.part.about, "rows": self.rows(), **facts, **score}

    def _beside(self, row: Row, members: tuple[str, ...]) -> Row:
        true = sum(self.truth[member] for member in members)
        rest = {key: entry for key, entry in row.items() if key != "members"}
        beside = {
            "value": row["value"],
            "truth": true,
            **rest,
            "covered": row["low"] <= true <= row["high"],
        }
        if row.get("low_attacked") is not None:
            beside["covered_attacked"] = row["low_attacked"] <= true <= row["high_attacked"]
        return beside


@dataclass(frozen=True, eq=False)
class Comparison:
    """The parts of an outcome beside the truth, and further measures of how far it is off."""

    parts: tuple[ComparedPart, ...]
    measures: tuple[Measure, ...] = ()

    @property
    def covered(self) -> int:
        """Return how many intervals of all parts contain the truth."""
        return sum(part.covered for part in self.parts)

    @property
    def intervals(self) -> int:
        """Return how many intervals all parts have."""
        return sum(part.intervals for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        further = {measure.name: measure.value for measure in self.measures}
        return {"answers": [part.to_dict() for part in self.parts], **further}

    def to_csv(self) -> str:
        """Return the rows of all parts as CSV, the name of the part in the first column."""
        return csv_text(
            [{"question": part.part.name, **row} for part in self.parts for row in part.rows()]
        )


def compare(plan: Plan, values: Any, outcome: Outcome, *, attackers: float = 0.0) -> Comparison:
    """Return an outcome of a plan beside what its people hold.

    ``attackers`` is their share among all who answered; numbers of people grow accordingly.
    """
    true = plan.truth(values, outcome)
    sought = plan.sought(values)
    parts = []
    for name, part in outcome.questions().items():
        scale = 1 / (1 - attackers) if part.counts_people else 1.0
        scaled = {label: scale * count for label, count in true[name].items()}
        parts.append(ComparedPart(part, scaled if attackers else true[name], sought))
    return Comparison(tuple(parts))


def rehearse(
    plan: Plan, values: Any, outcome: Outcome, shown: ShownIntervals | None = None
) -> Comparison:
    """Return the highlights of an outcome beside the truth, and measures of the whole outcome."""
    shown = shown or ShownIntervals()
    highlights = shown.applied(outcome.highlights())
    compared = compare(plan, values, highlights, attackers=shown.attackers)
    return Comparison(compared.parts, plan.assess(values, outcome))
