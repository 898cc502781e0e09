"""The parametric bootstrap: draw raw votes again from a fitted population, and look what a rule makes of them.

The population is Norm-Sub's; PowerNS would imprint its prior on everything that is drawn from it.  Votes are drawn
normal with the covariance of the mechanism (Hadamard response: its variances), seeded by the votes: the same tally, the
same answer.  Good for comparing methods and for errors of single values; an interval for a sum misses the bias
that the fit has as well, so ``moved`` is the default for errors.
"""

from hashlib import blake2b

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import BalancedNoise, Estimate, IndependentNoise, Noise, SampledNoise
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
    return held + _errors(estimate.noise, held, estimate.users, generator, replicates)


def bootstrapped(estimate: Estimate, rule: Rule, replicates: int) -> SampledNoise:
    """Return the spread of the rule's votes around the population they were drawn from, bias included."""
    before = estimate.noise
    if estimate.raw and not (isinstance(before, SampledNoise) and before.around is not None):
        raise ParameterError("a bootstrap starts from raw votes, or goes on where all steps so far had one")
    if estimate.raw and isinstance(before, SampledNoise):
        votes, around = before.replicates, before.around
    else:
        votes, around = draws(estimate, replicates), population(estimate)
    floor = before.floor if isinstance(before, SampledNoise) else 0.0
    return SampledNoise(rule(votes / estimate.users) * estimate.users, floor, around)


def _errors(noise: Noise, held: Floats, users: int, generator: np.random.Generator, replicates: int) -> Floats:
    if isinstance(noise, SampledNoise):
        again = generator.integers(len(noise.replicates), size=replicates)
        return np.asarray(noise.replicates[again] - noise.replicates.mean(axis=0))
    if isinstance(noise, BalancedNoise):
        return _balanced(noise, held, users, generator, replicates)
    if isinstance(noise, IndependentNoise):
        return np.sqrt(noise.variances(held, users)) * generator.standard_normal((replicates, len(held)))
    raise ParameterError("a bootstrap needs raw votes of a mechanism whose variance has a formula")


def _balanced(
    noise: BalancedNoise, held: Floats, users: int, generator: np.random.Generator, replicates: int
) -> Floats:
    """Return errors that sum to 0 over the padded domain: independent ones less their mean over all its cells."""
    spread, swing = users * noise.spread, noise.swing
    errors = np.sqrt(np.maximum(spread + swing * held, 0.0)) * generator.standard_normal((replicates, len(held)))
    others = (noise.cells - len(held)) * spread + swing * (users - held.sum())
    rest = np.sqrt(max(others, 0.0)) * generator.standard_normal((replicates, 1))
    return np.asarray(errors - (errors.sum(axis=1, keepdims=True) + rest) / noise.cells)
