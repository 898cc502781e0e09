"""Pass ``weigh``: Demand -> tuple of Candidates.  The coefficients of every target, by every method
that may be best.

A candidate is the demand under one method.  Coefficients are computed when they are first needed
and kept, so that comparing methods costs no more than the row that they are compared on.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from sottovoce.plans.tables.coefficients import (
    Coefficients,
    KnownAxes,
    Target,
    coefficients,
)
from sottovoce.plans.tables.demand import Demand, ScoreColumn
from sottovoce.plans.tables.layout import Layout
from sottovoce.plans.tables.method import NAMES, Method
from sottovoce.plans.tables.source import Source
from sottovoce.sql.query import Options


@dataclass(frozen=True, eq=False)
class Candidate:
    """A demand and a method, with the coefficients that the method gives each target."""

    demand: Demand
    method: Method
    _by_target: dict[Any, Coefficients] = field(default_factory=dict)
    _by_score: dict[ScoreColumn, Coefficients] = field(default_factory=dict)
    _axes: dict[int, KnownAxes] = field(default_factory=dict)  # by factor

    def coefficients(self, score: ScoreColumn) -> Coefficients:
        """Return the coefficients of a column of scores."""
        if score not in self._by_score:
            parts = self.demand.target_sum(score)
            weighted = [(part.weight, self._of_target(score.factor, part.target)) for part in parts]
            self._by_score[score] = Coefficients.sum(weighted)
        return self._by_score[score]

    def of(self, demand: Demand) -> "Candidate":
        """Return the same method for another demand of the same layout.

        Targets that they share are shared.
        """
        return replace(self, demand=demand, _by_score={})

    def _of_target(self, factor: int, target: Target) -> Coefficients:
        key = (factor, target.key)
        if key not in self._by_target:
            known = self._axes.setdefault(factor, KnownAxes())
            self._by_target[key] = coefficients(target, self.method, known)
        return self._by_target[key]


def weigh(demand: Demand, source: Source) -> tuple[Candidate, ...]:
    """Return a candidate for the method that the query names, or for all that may be the best."""
    methods = methods_of(source.layout, demand.query.options, demand.measure)
    return tuple(Candidate(demand, method) for method in methods)


def methods_of(layout: Layout, options: Options, measure: str) -> tuple[Method, ...]:
    """Return the methods that are compared."""
    if options.method != "auto":
        return (Method(options.method, measure, options.k),)
    return layout.default_methods(measure)


def alternatives(demand: Demand, known: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return a candidate for every method there is, those that are known among them."""
    by_method = {candidate.method: candidate for candidate in known}
    methods = [Method(name, demand.measure, demand.query.options.k) for name in NAMES]
    return tuple(by_method.get(method) or Candidate(demand, method) for method in methods)
