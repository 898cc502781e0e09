"""Figure 9.3 and table 9.2: mean squared errors of all methods, by formula and by simulation.

``expected`` is the exact mean over the domain.  The propositions 9.3.3 to 9.3.5 leave the part of
people's own values out, which adds half to the error of SH on the cities.  ``simulated`` draws
collections by the law of each value's count.

Source: Wang 2021, section 9.6.2.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.base import FrequencyMethod
from sottovoce.lab.baselines.shuffled.hashed import solh
from sottovoce.lab.baselines.shuffled.methods import METHODS

DELTA = 1e-9
RUNS = 100  # as published


@dataclass(frozen=True)
class MethodErrors:
    """The errors of one method for one population and one central epsilon."""

    expected: float
    simulated: float


def method_errors(
    method: FrequencyMethod, truth: Ints, runs: int = RUNS, seed: int = 93
) -> MethodErrors:
    """Return the expected error of a method, and the mean error of so many collections."""
    generator = np.random.default_rng(seed)
    shares = truth / truth.sum()
    errors = [((method.draw(truth, 0, generator) - shares) ** 2).mean() for _ in range(runs)]
    return MethodErrors(method.mse(truth), float(np.mean(errors)))


def named_method(name: str, central: float, truth: Ints) -> FrequencyMethod:
    """Return a method of the paper for a central epsilon and a population."""
    return METHODS[name](PublishedTarget(central, int(truth.sum()), DELTA), len(truth))


def hashing_with(buckets: int, central: float, truth: Ints) -> FrequencyMethod:
    """Return SOLH with a number of buckets that need not be the best one."""
    return solh(PublishedTarget(central, int(truth.sum()), DELTA), len(truth), buckets)


def amplification_threshold(truth: Ints) -> float:
    """Return the epsilon below which SH is not amplified: sqrt(14 ln(2/delta) d / (n - 1))."""
    return sqrt(14 * log(2 / DELTA) * len(truth) / (truth.sum() - 1))
