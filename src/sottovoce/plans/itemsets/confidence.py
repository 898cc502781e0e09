"""How certain a top k is.

An item may stand on the wrong side of the border, and pruning may lose it before.

The chances are indicators, not guarantees: comparisons are treated as independent, and the pair at
the boundary counts twice.

Source: Du 2025, sections 5.2 and 5.3.
"""

from dataclasses import dataclass
from math import erfc, exp, expm1, inf, log, sqrt
from statistics import NormalDist

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports


def p_values(reports: ItemReports) -> Floats:
    """Return for each item, from the highest on, the chance of its lead if there were none.

    The top is compared with the best of the rest, the rest with the last of the top (Welch's test).
    """
    rates = reports.rates[reports.order]
    times = reports.times[reports.order]
    variances = np.where(times > 0, rates * (1 - rates) / np.maximum(times, 1), inf)
    last_of_top = reports.sought - 1
    best_of_rest = reports.sought
    in_top = np.arange(len(rates)) < reports.sought
    opposite = np.where(in_top, best_of_rest, last_of_top)
    leads = np.abs(rates - rates[opposite])
    errors = np.sqrt(variances + variances[opposite])
    certain = np.where(leads > 0, inf, 0.0)
    scores = np.divide(leads, errors, out=certain, where=errors > 0)
    return np.array([erfc(score / sqrt(2)) / 2 for score in scores.tolist()])


def doubt(reports: ItemReports) -> float:
    """Return -log10(1 - Delta), Delta the chance that any item stands on the wrong side.

    It is 0 without any doubt.

    >>> round(doubt(ItemReports(np.array([400, 400, 400]), np.array([300, 200, 100]), 1)), 9)
    0.0
    """
    return abs(float(np.log1p(-p_values(reports)).sum())) / log(10)


@dataclass(frozen=True)
class PruningOdds:
    """The odds of an item in the pruning round.

    They are its expected count, the standard error of the count, and the lead that it needs, in
    standard errors.  The item is likely to survive if its count exceeds ``lead`` standard errors.
    """

    count: float
    error: float
    lead: float


def pruning_odds(users: int, epsilon: float, chance: float, kept: float) -> PruningOdds:
    """Return the odds of an item that each user names with this chance.

    ``kept`` is the share of all items that survive the pruning.
    """
    error = sqrt(users * 4 * exp(epsilon)) / expm1(epsilon)
    return PruningOdds(users * chance, error, NormalDist().inv_cdf(1 - kept) + 1)
