"""True joint tables of people whose records are known, and the distance of estimated tables."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.answers.answers import TOGETHER
from sottovoce.answers.measure import Measure
from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats, Ints
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.chow_liu import mutual_information, pairwise
from sottovoce.plans.marginals.marginal_table import View

if TYPE_CHECKING:
    from sottovoce.plans.marginals.marginal_answers import MarginalAnswers
    from sottovoce.plans.marginals.marginals import Marginals


@dataclass(frozen=True)
class Edge:
    """A pair that the tree joins, with its estimated and its true mutual information in nats."""

    first: str
    second: str
    estimate: float
    truth: float

    def __str__(self) -> str:
        return (
            f"tree: {self.first} - {self.second}: {self.estimate:.4f} nats, really {self.truth:.4f}"
        )


def view_named(plan: "Marginals", title: str) -> tuple[str, ...]:
    """Return the attributes of the table with this title."""
    names = plan.domain.names
    sizes = range(1, len(names) + 1)
    views = (view for size in sizes for view in combinations(names, size))
    return next(view for view in views if TOGETHER.join(view) == title)


def counts(plan: "Marginals", records: Ints, names: Sequence[str]) -> dict[str, float]:
    """Return how many people hold every cell of the table of some attributes."""
    view = tuple(plan.domain.names.index(name) for name in names)
    labels = [plan.domain.attributes[attribute].labels for attribute in view]
    cells = (TOGETHER.join(cell) for cell in product(*labels))
    return dict(zip(cells, _counted(plan, records, view).ravel().tolist(), strict=True))


def measures(plan: "Marginals", records: Ints, outcome: Outcome) -> tuple[Measure, ...]:
    """Return how far all tables of the plan's order are off, and the tree as estimated and real."""
    tables: MarginalAnswers = outcome  # type: ignore[assignment]
    apart, count = distance(tables, records)
    text = f"mean total variation distance of the {count:,} tables of {plan.order}: {apart:.4f}"
    edges = tree(tables, records)
    return (
        Measure("distance", apart, (text,)),
        Measure("tables", count),
        Measure("tree", [asdict(edge) for edge in edges], tuple(map(str, edges))),
    )


def distance(tables: "MarginalAnswers", records: Ints) -> tuple[float, int]:
    """Return the mean total variation distance of the plan's tables, and their number."""
    plan = tables.plan
    views = list(combinations(range(len(plan.sizes)), plan.order))
    apart = [
        np.abs(tables.table(view).shares - shares(plan, records, view)).sum() / 2 for view in views
    ]
    return float(np.mean(apart)), len(views)


def information(plan: "Marginals", records: Ints) -> Floats:
    """Return (attributes, attributes): the true mutual information of every pair."""
    return pairwise(len(plan.sizes), lambda pair: mutual_information(shares(plan, records, pair)))


def tree(tables: "MarginalAnswers", records: Ints) -> tuple[Edge, ...]:
    """Return the edges of the tree, the strongest first; none if the method asks about no pairs."""
    try:
        edges = tables.tree().edges
        estimated = tables.information()
    except (ParameterError, NoDataError):
        return ()
    names = tables.plan.domain.names
    true = information(tables.plan, records)
    pairs = [(names[i], names[j], float(estimated[i, j]), float(true[i, j])) for i, j in edges]
    return tuple(sorted((Edge(*pair) for pair in pairs), key=lambda edge: -edge.estimate))


def shares(plan: "Marginals", records: Ints, view: View) -> Floats:
    """Return the true share of people in every cell of a table."""
    return _counted(plan, records, view) / len(records)


def _counted(plan: "Marginals", records: Ints, view: View) -> Ints:
    sizes = tuple(plan.sizes[attribute] for attribute in view)
    cells = np.ravel_multi_index(tuple(records[:, attribute] for attribute in view), sizes)
    return np.bincount(cells, minlength=prod(sizes)).reshape(sizes)
