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

    ``width`` is the mean standard error, in parts of that from the honest reports alone.
    """

    all: float
    targets: float
    largest: float
    width: float


def coverage(collection: Poisoned) -> CorrectedCoverage:
    """Return how often the intervals of a corrected collection are right."""
    estimate = defended(collection.collected).estimate(ADDRESS)
    low, high = estimate.interval(LEVEL)
    truth = collection.truth * estimate.users
    inside: Bools = (low <= truth) & (truth <= high)
    count = len(collection.reports) - collection.attackers
    mechanism = collection.mechanism
    honest = mechanism.estimate(mechanism.tally(collection.reports[:count]))
    width = (estimate.errors / estimate.users).mean() / (honest.errors / count).mean()
    largest = np.argsort(-collection.truth)[:LARGEST]
    return CorrectedCoverage(
        float(inside.mean()),
        float(inside[collection.targets].mean()),
        float(inside[largest].mean()),
        float(width),
    )
