"""How strongly attributes of people depend on each other, on real and realistic tables.

    python -m sottovoce.lab.experiments.typical_tables

prints what the constants of ``plans/marginals/typical_tables.py`` stand for.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.lab.experiments.joint_tables import populations
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import random_views
from sottovoce.lab.populations.records import true_table
from sottovoce.lab.populations.survey_tables import SurveyTable
from sottovoce.plans.marginals.components import centre
from sottovoce.plans.marginals.marginal_table import View, project
from sottovoce.plans.marginals.maximum_entropy import fit_table

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
_MAX_CELLS = 1000


def spread(shares: Floats) -> float:
    """Return the spread of an attribute with these shares."""
    return float((1 - (shares**2).sum()) / (len(shares) - 1))


def strength(table: Floats) -> float:
    """Return the strength of the interaction of all attributes of a true table.

    >>> round(strength(np.array([[0.5, 0.0], [0.0, 0.5]])), 3)
    1.0
    """
    axes = tuple(range(table.ndim))
    kept: list[View] = list(combinations(axes, table.ndim - 1))
    marginals = {view: project(table, axes, view) for view in kept}
    predicted = fit_table(axes, dict(enumerate(table.shape)), marginals).table
    residual = centre(table - predicted, table.ndim)
    unit = 1.0
    for axis, size in enumerate(table.shape):
        unit *= (size - 1) * spread(project(table, axes, (axis,)))
    return float((residual**2).sum() / unit)


def strengths_of(people: SurveyTable, order: int, count: int = 100) -> Floats:
    """Return the strengths of some sets of so many attributes."""
    views: Sequence[View] = random_views(len(people.sizes), order, count)
    tables = [true_table(people.records, people.sizes, view) for view in views]
    return np.array([strength(table) for table in tables if table.size <= _MAX_CELLS])


def main() -> None:
    """Print the strengths of pairs and triples, and the evenness of single attributes."""
    quantiles = " | ".join(f"{100 * level:g} %" for level in QUANTILES)
    print(f"| people | evenness | order | mean strength | {quantiles} |")
    print("|---|---|---|---|" + "---|" * len(QUANTILES))
    for name, people in populations().items():
        shares = [np.bincount(column) / len(column) for column in people.records.T]
        even = np.mean([spread(part) * len(part) for part in shares])
        for order in (2, 3):
            found = strengths_of(people, order)
            levels = " | ".join(f"{value:.2g}" for value in np.quantile(found, QUANTILES))
            print(f"| {name} | {even:.2f} | {order} | {found.mean():.2g} | {levels} |", flush=True)


if __name__ == "__main__":
    main()
