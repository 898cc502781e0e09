"""Many collections of the same people in one: everybody is asked in every run, a public column says
which it is.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sottovoce as sv
from plans.tables.plans import table_plan
from sottovoce.domains.person_tables import PersonTables
from sottovoce.engine.memory import drive
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.maths.normal import quantile
from sottovoce.sql.query import Column, GroupBy
from sottovoce.sql.reading import read

RUN = "run"  # the public column
MOST_RUNS = 1 << 16


def table(columns: Any, *, public: Any = None, **settings: Any) -> Any:
    """Return a table that can tell runs apart."""
    return table_plan(columns, public={RUN: range(MOST_RUNS), **(public or {})}, **settings)


def repeated(plan: Any, epsilon: float, people: dict[str, Any], runs: int, seed: int) -> Any:
    """Return the answers of so many independent collections of the same people."""
    first = plan.domain.indices(
        {**people, RUN: np.zeros(len(next(iter(people.values()))), np.int64)}
    )
    tables = tuple(np.tile(one, (runs, 1)) for one in first.tables)
    mark = b'"people.run":%d'
    public = [text.replace(mark % 0, mark % run) for run in range(runs) for text in first.public]
    held = PersonTables(tables, public)
    task = sv.Task("repeated", plan, epsilon)
    return drive(task, lambda asked: report_batches(asked, held, SeededRng(seed), subjects=True))


@dataclass(frozen=True, eq=False)
class Runs:
    """One number as every run answered it: values, standard errors, and whether it was called
    unstable.
    """

    values: Any
    errors: Any
    unstable: Any

    def bias(self, truth: float) -> float:
        """Return how many standard errors the mean is from the truth."""
        return float(
            (self.values.mean() - truth) / (self.values.std(ddof=1) / np.sqrt(len(self.values)))
        )

    def ratio(self, variance: float) -> float:
        """Return the spread over the runs as a share of a variance."""
        return float(self.values.var(ddof=1) / variance)

    def covered(self, truth: float, level: float = 0.95) -> float:
        """Return how often the interval held the truth."""
        return float((np.abs(self.values - truth) <= quantile(level) * self.errors).mean())


def asked(database: Any, text: str) -> list[Runs]:
    """Return every number that a question without groups selects, by run."""
    query = read(text, database.layout.tables)
    result = database.answer(
        replace(query, group_by=(GroupBy(Column(0, -1, f"people.{RUN}"), RUN),))
    )
    figures = [list(column) for column in zip(*result.figures, strict=True)]
    return [
        Runs(
            *(
                np.array([getattr(one, name) for one in column])
                for name in ("value", "error", "unstable")
            )
        )
        for column in figures
    ]


def within(runs: int) -> float:
    """Return how far a ratio of variances may lie from 1 over so many runs: four standard
    deviations.
    """
    return float(4 * np.sqrt(2 / runs))
