"""Golden shares: computed once by hand or by brute force, with p = 1/2 and q = 1/4 where a
mechanism is needed.
"""

import numpy as np

from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise

ABOVE = np.array([0.50, 0.30, 0.20, 0.10, 0.05, -0.02, -0.08])  # sums to 1.05
BELOW = np.array([0.45, 0.25, 0.10, -0.05])
TOP = np.array([1.2, 0.1, -0.3])  # one share above 1
TIED = np.array([0.4, 0.35, 0.2, 0.2, -0.1])
NOISE = IndependentNoise.of(0.5, 0.25)
USERS = 1000
SIGMA = 0.05477225575


def estimate(shares, noise=NOISE, users=USERS, **rest):
    """An estimate with these raw shares."""
    return Estimate(np.asarray(shares) * users, noise, users, 1.0, **rest)
