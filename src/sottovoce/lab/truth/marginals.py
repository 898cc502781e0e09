"""Joint tables beside the truth: true counts of any attributes together, and how far all tables of an order are off."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.chow_liu import mutual_information, pairwise
from sottovoce.plans.marginals.marginal_answers import SEPARATOR, MarginalAnswers
from sottovoce.plans.marginals.marginal_table import View
from sottovoce.plans.marginals.marginals import Marginals


@dataclass(frozen=True)
class Edge:
    """A pair that the tree joins, with its mutual information in nats as estimated and as it really is."""

    one: str
    other: str
    estimate: float
    truth: float


def counts(plan: Marginals, records: Ints, names: Sequence[str]) -> dict[str, int]:
    """Return how many people hold every cell of the table of some attributes."""
    view = tuple(plan.domain.names.index(name) for name in names)
    labels = [plan.domain.attributes[one].labels for one in view]  # type: ignore[attr-defined]
    cells = (SEPARATOR.join(cell) for cell in product(*labels))
    return dict(zip(cells, _counted(plan, records, view).ravel().tolist(), strict=True))


def distance(answer: MarginalAnswers, records: Ints) -> tuple[float, int]:
    """Return the mean total variation distance of all tables of the plan's order, and how many they are."""
    views = list(combinations(range(len(answer.plan.sizes)), answer.plan.order))
    apart = [np.abs(answer.table(view).shares - _shares(answer.plan, records, view)).sum() / 2 for view in views]
    return float(np.mean(apart)), len(views)


def information(plan: Marginals, records: Ints) -> Floats:
    """Return (attributes, attributes): the true mutual information of every pair."""
    return pairwise(len(plan.sizes), lambda pair: mutual_information(_shares(plan, records, pair)))


def tree(answer: MarginalAnswers, records: Ints) -> tuple[Edge, ...]:
    """Return the edges of the tree, the strongest first; none where the method asked about no pairs."""
    try:
        edges, found = answer.tree().edges, answer.information()
    except (ParameterError, NoDataError):
        return ()
    names, true = answer.plan.domain.names, information(answer.plan, records)
    made = [Edge(names[one], names[other], float(found[one, other]), float(true[one, other])) for one, other in edges]
    return tuple(sorted(made, key=lambda edge: -edge.estimate))


def _shares(plan: Marginals, records: Ints, view: View) -> Floats:
    return _counted(plan, records, view) / len(records)


def _counted(plan: Marginals, records: Ints, view: View) -> Ints:
    sizes = tuple(plan.sizes[one] for one in view)
    cells = np.ravel_multi_index(tuple(records[:, one] for one in view), sizes)
    return np.bincount(cells, minlength=prod(sizes)).reshape(sizes)
