"""The parametric bootstrap: draw raw votes again from a fitted population, and look what a rule makes of them.

The population is Norm-Sub's; PowerNS would imprint its prior on everything that is drawn from it.  Votes are drawn
normal with the covariance of the mechanism (Hadamard response: its variances), seeded by the votes: the same tally, the
same answer.  Good for comparing methods and for errors of single values; an interval for a sum misses the bias
that the fit has as well, so ``moved`` is the default for errors.
"""

from hashlib import blake2b

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import Noise, SampledNoise
from sottovoce.errors import ParameterError
from sottovoce.postprocess.norm_sub import norm_sub
from sottovoce.postprocess.rule import Rule

LEAST_REPLICATES = 10


def population(estimate: Estimate) -> Floats:
    """Return the fitted number of users who hold each value; some candidates need not sum to all users."""
    possible = np.maximum(estimate.votes, 0.0)
    if not estimate.noise.complete and possible.sum() <= estimate.users:
        return possible
    return norm_sub(estimate.votes, estimate.users)


def draws(estimate: Estimate, replicates: int) -> Floats:
    """Return (replicates, size) raw votes of the fitted population."""
    if replicates < LEAST_REPLICATES:
        raise ParameterError(f"a bootstrap needs at least {LEAST_REPLICATES} replicates")
    held = population(estimate)
    seed = int.from_bytes(blake2b(estimate.votes.tobytes(), digest_size=16).digest(), "little")
    generator = np.random.default_rng(seed)
    return held + estimate.noise.draw(held, estimate.users, generator, replicates)


def bootstrapped(estimate: Estimate, rule: Rule, replicates: int) -> Noise:
    """Return the spread of the rule's votes around the population they were drawn from, bias included."""

    def processed(votes: Floats) -> Floats:
        return rule(votes / estimate.users) * estimate.users

    if estimate.raw:
        return estimate.noise.transformed(processed)
    samples = processed(draws(estimate, replicates))
    return SampledNoise(samples, estimate.noise.floor, population(estimate))
