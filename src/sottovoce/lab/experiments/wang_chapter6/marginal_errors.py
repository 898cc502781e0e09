"""The squared error of marginals, by genuine collections of records with a few attributes.

Errors are sums of squared errors over the cells of random tables, after Norm-Sub for every method.

Source: Wang 2021, section 6.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.populations.records import as_columns, record_domain
from sottovoce.lab.simulate import simulate
from sottovoce.plans.marginals.chow_liu import to_distribution
from sottovoce.plans.marginals.marginal_table import Model, View
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.plans.marginals.maximum_entropy import fit_tables
from sottovoce.plans.marginals.pooled_tables import PooledTables
from sottovoce.plans.marginals.view_planning import METHOD
from sottovoce.tasks.task import Task


@dataclass(frozen=True)
class MarginalsSetting:
    """Attributes of these sizes, tables of this order, and the method that collects them."""

    sizes: tuple[int, ...]
    order: int
    method: str
    epsilon: float

    def plan(self, users: int) -> Marginals:
        """Return the plan of the method: our own, or one of the baselines."""
        domain: Any = record_domain(self.sizes)
        if self.method == METHOD:
            return Marginals(domain, users, self.order)
        return BaselineMarginals(domain, self.method, self.order, users)

    def collect(self, records: Ints, seed: int) -> Model:
        """Return what is known after a genuine collection of these records."""
        task = Task("tables", self.plan(len(records)), epsilon=self.epsilon)
        answers: Any = simulate(task, as_columns(records), seed=seed)
        model: Model = answers.model
        return model


def random_views(attributes: int, order: int, count: int = 50, seed: int = 0) -> list[View]:
    """Return random sets of attributes, all of them if there are no more."""
    every = list(combinations(range(attributes), order))
    shuffled = np.random.default_rng(seed).permutation(len(every))
    return [every[index] for index in shuffled[:count]]


def estimated_table(model: Model, view: View) -> Floats:
    """Return the table of a view as a distribution, whatever the method."""
    if isinstance(model, (Calm, PooledTables)):
        return to_distribution(model.fit(view).table)
    return to_distribution(model.table(view).shares)


def squared_error(model: Model, truths: Mapping[View, Floats]) -> float:
    """Return the sum over cells of squared errors, averaged over views."""
    errors = [((estimated_table(model, view) - table) ** 2).sum() for view, table in truths.items()]
    return float(np.mean(errors))


def squared_error_of_pairs(model: Calm, truths: Mapping[View, Floats]) -> float:
    """Return the same where all pairs are views and all attributes bits.

    Maximum entropy fits all tables at once.
    """
    order = len(next(iter(truths)))
    pairs = {pair: model.fit(pair).table for pair in combinations(range(len(model.sizes)), 2)}
    marginals: dict[View, Floats] = {}
    for first, second in combinations(range(order), 2):
        tables = [pairs[view[first], view[second]] for view in truths]
        marginals[first, second] = np.stack(tables)
    fitted = fit_tables(tuple(range(order)), dict.fromkeys(range(order), 2), marginals)
    rows = zip(fitted, truths.values(), strict=True)
    return float(np.mean([((fit.table - table) ** 2).sum() for fit, table in rows]))


def uniform_error(truths: Mapping[View, Floats]) -> float:
    """Return the squared error of uniform tables, which say nothing."""
    return float(np.mean([((table - 1 / table.size) ** 2).sum() for table in truths.values()]))
