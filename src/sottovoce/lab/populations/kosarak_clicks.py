"""A stand-in for the Kosarak click stream of Wang 2021, section 3.5.2.

It has 8,019,015 clicks on 41,270 pages.

The stream itself does not travel with this code.  The anchors are shares of clicks by rank in a
public prefix of it, 36,683 transactions long; between them shares are straight lines in the
logarithms of both.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.mechanisms.base import PureMechanism

CLICKS = 8_019_015
PAGES = 41_270
ANCHORS = {
    1: 0.0756,
    2: 0.0572,
    3: 0.0456,
    4: 0.0251,
    5: 0.0110,
    10: 0.00814,
    20: 0.00296,
    50: 0.001337,
    100: 0.000843,
    200: 0.000514,
    500: 0.000272,
    1000: 0.00016,
    2000: 7.1e-5,
    5000: 2e-5,
    10_000: 6.7e-6,
    41_270: 2.5e-7,
}


def clicks(seed: int = 0) -> Ints:
    """Return how many clicks each page got, the most frequent pages first in expectation."""
    ranks = np.log(list(ANCHORS))
    shares = np.log(list(ANCHORS.values()))
    weights = np.exp(np.interp(np.log(np.arange(1, PAGES + 1)), ranks, shares))
    return np.random.default_rng(seed).multinomial(CLICKS, weights / weights.sum())


def draw_estimates(mechanism: PureMechanism, truth: Ints, runs: int, seed: int) -> Floats:
    """Return (runs, pages): estimates drawn from the exact law of each page's support count.

    Pages are drawn independently of each other.
    """
    generator = np.random.default_rng(seed)
    users = int(truth.sum())
    shape = (runs, len(truth))
    counts = generator.binomial(truth, mechanism.p, shape)
    counts = counts + generator.binomial(users - truth, mechanism.q, shape)
    return np.asarray((counts - users * mechanism.q) / (mechanism.p - mechanism.q))
