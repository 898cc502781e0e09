"""The parametric bootstrap: draw raw votes from a fitted population, and apply a rule to them.

The population is that of Norm-Sub; PowerNS would imprint its prior on everything that is drawn from
it.  Votes are drawn normal with the covariance of the mechanism (for Hadamard response only with
its variances), seeded by the votes: the same tally gives the same answer.  Good for comparing
methods and for errors of single values.  An interval for a sum misses the bias that the fit has as
well, so ``shifted_noise`` is the default for errors.
"""

from hashlib import blake2b

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import Noise, SampledNoise
from sottovoce.postprocess.base import Rule
from sottovoce.postprocess.norm_sub import norm_sub

MIN_REPLICATES = 10


def population(estimate: Estimate) -> Floats:
    """Return the fitted number of users who hold each value.

    The numbers sum to all users, except that those of some candidates may sum to less.
    """
    possible = np.maximum(estimate.votes, 0.0)
    if not estimate.noise.complete and possible.sum() <= estimate.users:
        return possible
    return norm_sub(estimate.votes, estimate.users)


def draws(estimate: Estimate, replicates: int) -> Floats:
    """Return (replicates, size): raw votes of the fitted population."""
    settings.whole("replicates", replicates, MIN_REPLICATES)
    fitted = population(estimate)
    seed = int.from_bytes(blake2b(estimate.votes.tobytes(), digest_size=16).digest(), "little")
    generator = np.random.default_rng(seed)
    return fitted + estimate.noise.draw(fitted, estimate.users, generator, replicates)


def bootstrapped(estimate: Estimate, rule: Rule, replicates: int) -> Noise:
    """Return the spread of the rule's votes around the population they were drawn from.

    The spread is around the population and not around its mean, so it includes the bias.
    """

    def processed(votes: Floats) -> Floats:
        return rule(votes / estimate.users) * estimate.users

    if estimate.raw:
        return estimate.noise.transformed(processed)
    samples = processed(draws(estimate, replicates))
    return SampledNoise(samples, estimate.noise.floor, population(estimate))
