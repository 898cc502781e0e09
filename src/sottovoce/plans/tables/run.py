"""Pass ``run``: Statements -> tuple of EngineRows.  The engine scores the reports and executes the
statements, or decodes the sums of the reports.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Values
from sottovoce.plans.tables.decoding import Decoding
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.state import Statement, relation
from sottovoce.tasks.collected import Columns, Scored


@dataclass(frozen=True, eq=False)
class EngineRows:
    """What the engine found for a statement: a row for every public group, as ``state`` says."""

    statement: Statement
    columns: Columns

    def __len__(self) -> int:
        return len(self.columns["users"])

    @cached_property
    def users(self) -> list[int]:
        """Return how many people are in each public group."""
        return [int(count) for count in self.columns["users"]]

    @cached_property
    def people(self) -> list[int]:
        """Return how many people of each public group meet a public condition."""
        if "people" not in self.columns:
            return self.users
        return [int(self._number("people", group)) for group in range(len(self))]

    def key(self, key: int, group: int) -> Any:
        """Return the value of a public column of GROUP BY."""
        return self.columns[f"g{key}"][group]

    def total(self, total: int, group: int) -> float:
        """Return a total of the plan in one public group."""
        return self._number(f"t{self.statement.totals[total]}", group)

    def square(self, left: int, right: int, group: int) -> float:
        """Return the sum over people of the product of their parts of two totals."""
        numbers = sorted((self.statement.totals[left], self.statement.totals[right]))
        return self._number(f"m{numbers[0]}_{numbers[1]}", group)

    def _number(self, name: str, group: int) -> float:
        value = self.columns[name][group]
        return 0.0 if value is None or value is np.ma.masked else float(value)  # a sum over nobody


def run(statements: tuple[Statement, ...], source: Source) -> tuple[EngineRows, ...]:
    """Return what the engine finds for every statement."""
    return tuple(
        EngineRows(statement, _columns(statement, source))
        if statement.tree is not None
        else EngineRows(statement, _decoded(statement, source))
        for statement in statements
    )


def _decoded(statement: Statement, source: Source) -> Columns:
    """Return the same columns as the engine would, from the sums of every layer."""
    (scoring,) = statement.scorings.values()
    (slot,) = scoring.factor.slots
    single = statement.single_scores
    constants, weights, scores = single.constants, single.weights, single.scores
    left, right = np.array(statement.pairs()).T
    sums = Decoding(scoring, statement.score_pairs, source.reports).sums(slot)
    parts = weights * sums.scores[scores]
    products = weights[left] * weights[right] * sums.products
    products += constants[left] * parts[right] + constants[right] * parts[left]
    products += sums.users * constants[left] * constants[right]
    columns: dict[str, Values] = {"users": np.array([sums.users])}
    totals = sums.users * constants + parts
    columns |= {f"t{number}": totals[number : number + 1] for number in range(len(totals))}
    named = zip(left.tolist(), right.tolist(), range(len(left)), strict=True)
    columns |= {f"m{first}_{second}": products[at : at + 1] for first, second, at in named}
    return columns


def _columns(statement: Statement, source: Source) -> Columns:
    tables = source.layout.tables
    kinds = zip(tables.public_names, tables.public_kinds, strict=True)
    numeric = {name: kind.ordered for name, kind in kinds}
    scorings = statement.scorings
    if statement.plan.query.options.scale == "hajek":
        counts = source.reports.report_counts(0)
        scorings = {factor: scoring.by_share(counts) for factor, scoring in scorings.items()}
    scored = {}
    for factor, scoring in scorings.items():
        slots = tuple(slot.number for slot in scoring.factor.slots)
        scored[relation(factor)] = Scored(slots, len(scoring.columns), scoring, scoring.alike)
    return source.reports.relations(0).select(scored, numeric, statement.tree)
