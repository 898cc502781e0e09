"""What the experiments here share: a population, collections by genuine clients, and the law of their errors."""

import numpy as np

from sottovoce.core.noise import BalancedNoise
from sottovoce.lab.baselines.she import SHE
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.hadamard import HadamardNoise
from sottovoce.mechanisms.olh import OLH


def zipf(size, users, exponent=1.1):
    """How many users hold each value: whole numbers, the rounding left to the most frequent one."""
    weights = 1 / np.arange(1, size + 1) ** exponent
    truth = (weights / weights.sum() * users).astype(np.int64)
    truth[0] += users - truth.sum()
    return truth


def genuine_errors(mechanism, truth, runs, seed):
    """(runs, size): estimates less the truth, every report made by the clients' own code."""
    people, rng = np.repeat(np.arange(len(truth)), truth), SeededRng(seed)
    return np.array([decoded(mechanism, mechanism.privatize(people, rng)) for _ in range(runs)]) - truth


def decoded(mechanism, reports):
    """The estimated totals; raw floats are added up without a tally."""
    if isinstance(mechanism, SHE):
        return mechanism.estimate_reports(reports).totals
    return mechanism.estimate(mechanism.tally(reports)).totals


def covariance(mechanism, truth):
    """(size, size): the exact covariance of the estimated totals."""
    noise, users = mechanism.noise, int(truth.sum())
    if isinstance(noise, BalancedNoise):  # docs/affine-response.md: A between all cells, B at the held ones
        centred = np.eye(len(truth)) - 1 / noise.cells
        return users * noise.spread * centred + noise.swing * centred * truth @ centred
    together = np.diag(noise.variances(truth.astype(float), users))
    if isinstance(noise, HadamardNoise):  # the votes of two rows agree for users who own their XOR
        meeting = noise.owned[:, None] ^ noise.owned
        held = np.zeros(1 << int(noise.owned.max()).bit_length())
        held[noise.owned] = truth
        together += noise.gain * held[meeting]
    return together


def mse_spread(together, runs):
    """One sigma of a mean squared error relative to its expectation: normal errors with this covariance."""
    return np.sqrt(2 / runs) * np.linalg.norm(together) / np.trace(together)


class SmallQ(OLH):
    """A broken twin: the q of the randomised bucket, where the estimator needs the chance of a collision."""

    @property
    def q(self):
        return self.response.q
