"""Truth beside estimate: what simulated people really hold, and how many intervals contain it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.answers.summary import Row, shown
from sottovoce.arrays import Ints
from sottovoce.domains.records import Records
from sottovoce.lab.truth import frequent, marginals, metrics
from sottovoce.plans.marginals.marginal_answers import SEPARATOR
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Compared:
    """An answer and the number of people who really hold each value.

    ``sought`` is what a search should have found, most frequent first; nothing where every value was asked about.
    """

    answer: Answer
    truth: Mapping[str, int]
    sought: Mapping[str, int] = field(default_factory=dict)

    def rows(self, most: int = 0) -> list[Row]:
        """Return the rows of an answer with ``truth`` and ``covered``; all of them, or the ones worth showing."""
        if not most:
            return [self._beside(row, (row["value"],)) for row in self.answer.rows()]
        return [self._beside(row, row["members"]) for row in shown(self.answer, most)]

    @property
    def covered(self) -> int:
        """Return how many intervals contain the truth."""
        return sum(row["covered"] for row in self.rows())

    @property
    def found(self) -> dict[str, float]:
        """Return how much of what was sought a search has found: its F1 score and normalised cumulative rank."""
        true, labels = list(self.sought), self.answer.labels
        return {"f1": metrics.f1(true, labels), "ncr": metrics.ncr(true, labels)} if true else {}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        score = {**self.found, "sought": dict(self.sought)} if self.sought else {}
        facts = {"covered": self.covered, "intervals": len(self.truth)}
        return {**self.answer.about, "rows": self.rows(), **facts, **score}

    def _beside(self, row: Row, members: tuple[str, ...]) -> Row:
        held = sum(self.truth[member] for member in members)
        kept = {key: entry for key, entry in row.items() if key != "members"}
        return {"value": row["value"], "truth": held, **kept, "covered": row["low"] <= held <= row["high"]}


def compare(task: Task, values: Any, answer: Answer | Answers) -> tuple[Compared, ...]:
    """Return every answer of a task beside what these people hold."""
    indices = task.plan.domain.indices(values)
    if isinstance(answer, Answer) and frequent.searches(task.plan):
        true = frequent.counted(task.plan, indices, answer.labels)
        return (Compared(answer, true, frequent.sought(task.plan, indices)),)
    if isinstance(answer, Answer):
        return (Compared(answer, _counts(answer, indices)),)
    if isinstance(task.plan, Marginals):
        return tuple(Compared(part, _joint(task.plan, indices, part)) for part in answer.values())
    domain = task.plan.domain
    assert isinstance(domain, Records)
    columns = {name: indices[:, column] for column, name in enumerate(domain.names)}
    return tuple(Compared(part, _counts(part, columns[name])) for name, part in answer.items())


def _joint(plan: Marginals, records: Ints, answer: Answer) -> dict[str, int]:
    """Return the true counts of a table, which is named after its attributes."""
    names = next(
        view
        for count in range(1, len(plan.sizes) + 1)
        for view in combinations(plan.domain.names, count)
        if SEPARATOR.join(view) == answer.name
    )
    return marginals.counts(plan, records, names)


def _counts(answer: Answer, indices: Ints) -> dict[str, int]:
    counts = np.bincount(indices, minlength=len(answer.labels)).tolist()
    return dict(zip(answer.labels, counts, strict=True))
