"""How often the intervals of a corrected answer contain the truth about honest people."""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.core.estimate import Estimate
from sottovoce.engine.defended import defended
from sottovoce.lab.experiments.poisoning.scenario import ADDRESS, Poisoned

LEVEL = 0.95
LARGEST = 10


@dataclass(frozen=True)
class CorrectedCoverage:
    """Shares of values whose interval has the truth: of all, the targets, the ten largest.

    ``honest_targets`` is that of the targets from the honest reports alone.  ``width`` and
    ``target_width`` are mean standard errors of all values and of the targets, in parts of those
    from the honest reports alone.
    """

    all: float
    largest: float
    targets: float
    honest_targets: float
    width: float
    target_width: float


def coverage(collection: Poisoned) -> CorrectedCoverage | None:
    """Return how often the intervals of a corrected collection are right; None without an alarm."""
    corrected = defended(collection.collected)
    if corrected is collection.collected:
        return None
    estimate = corrected.estimate(ADDRESS)
    count = len(collection.reports) - collection.attackers
    mechanism = collection.mechanism
    honest = mechanism.estimate(mechanism.tally(collection.reports[:count]))
    inside = _covers(estimate, collection.truth)
    honest_inside = _covers(honest, collection.truth)
    widths = (estimate.errors / estimate.population) / (honest.errors / count)
    largest = np.argsort(-collection.truth)[:LARGEST]
    targets = collection.targets
    return CorrectedCoverage(
        float(inside.mean()),
        float(inside[largest].mean()),
        float(inside[targets].mean()),
        float(honest_inside[targets].mean()),
        float(widths.mean()),
        float(widths[targets].mean()),
    )


def _covers(estimate: Estimate, shares: Floats) -> Bools:
    """Return which intervals contain the true shares of people."""
    low, high = estimate.interval(LEVEL)
    truth = shares * estimate.population
    return np.asarray((low <= truth) & (truth <= high))
