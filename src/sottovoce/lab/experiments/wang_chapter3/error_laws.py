"""Collections by genuine clients, and the exact law of their errors.

Source: Wang 2021, chapter 3; docs/affine-response.md.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.core.noise import BalancedNoise
from sottovoce.lab.baselines.she import SHE
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.hadamard import HadamardNoise


def genuine_errors(mechanism: Mechanism, truth: Ints, runs: int, seed: int) -> Floats:
    """Return (runs, size): estimates less the truth, every report made by the clients' own code."""
    people, rng = np.repeat(np.arange(len(truth)), truth), SeededRng(seed)
    totals = [decoded_totals(mechanism, mechanism.privatize(people, rng)) for _ in range(runs)]
    return np.array(totals) - truth


def decoded_totals(mechanism: Mechanism, reports: Reports) -> Floats:
    """Return the estimated totals; raw floats are added up without a tally."""
    if isinstance(mechanism, SHE):
        return mechanism.estimate_reports(reports).totals
    return mechanism.estimate(mechanism.tally(reports)).totals


def exact_covariance(mechanism: Mechanism, truth: Ints) -> Floats:
    """Return (size, size): the exact covariance of the estimated totals."""
    noise, users = mechanism.noise, int(truth.sum())  # type: ignore[attr-defined]
    if isinstance(noise, BalancedNoise):
        # docs/affine-response.md: A between all cells, B at the held ones
        centred = np.eye(len(truth)) - 1 / noise.cells
        return users * noise.spread * centred + noise.swing * centred * truth @ centred
    covariance = np.diag(noise.variances(truth.astype(float), users))
    if isinstance(noise, HadamardNoise):
        # the votes of two rows agree for users who own their XOR
        meeting = noise.owned[:, None] ^ noise.owned
        holders = np.zeros(1 << int(noise.owned.max()).bit_length())
        holders[noise.owned] = truth
        covariance = covariance + noise.gain * holders[meeting]
    return np.asarray(covariance)


def relative_mse_spread(covariance: Floats, runs: int) -> float:
    """Return one sigma of a mean squared error relative to its expectation, for normal errors."""
    return float(np.sqrt(2 / runs) * np.linalg.norm(covariance) / np.trace(covariance))
