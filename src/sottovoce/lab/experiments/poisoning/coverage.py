"""How often the intervals of a corrected answer contain the truth about honest people."""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.engine.defended import defended
from sottovoce.lab.experiments.poisoning.scenario import ADDRESS, Poisoned

LEVEL = 0.95
LARGEST = 10


@dataclass(frozen=True)
class CorrectedCoverage:
    """Shares of values whose interval has the truth: of all, the targets, the ten largest.

    ``width`` and ``target_width`` are mean standard errors of all values and of the targets, in
    parts of those from the honest reports alone.
    """

    all: float
    targets: float
    largest: float
    width: float
    target_width: float


def coverage(collection: Poisoned) -> CorrectedCoverage | None:
    """Return how often the intervals of a corrected collection are right; None without an alarm."""
    corrected = defended(collection.collected)
    if corrected is collection.collected:
        return None
    estimate = corrected.estimate(ADDRESS)
    low, high = estimate.interval(LEVEL)
    truth = collection.truth * estimate.users
    inside: Bools = (low <= truth) & (truth <= high)
    count = len(collection.reports) - collection.attackers
    mechanism = collection.mechanism
    honest = mechanism.estimate(mechanism.tally(collection.reports[:count]))
    widths = (estimate.errors / estimate.users) / (honest.errors / count)
    largest = np.argsort(-collection.truth)[:LARGEST]
    return CorrectedCoverage(
        float(inside.mean()),
        float(inside[collection.targets].mean()),
        float(inside[largest].mean()),
        float(widths.mean()),
        float(widths[collection.targets].mean()),
    )
