"""Collections by genuine clients, and the exact law of their errors.

Source: Wang 2021, chapter 3; docs/affine-response.md.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.core.noise import Noise
from sottovoce.lab.baselines.she import SHE
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism


def genuine_errors(mechanism: Mechanism, truth: Ints, runs: int, seed: int) -> Floats:
    """Return (runs, size): estimates less the truth, every report made by the clients' own code."""
    people = np.repeat(np.arange(len(truth)), truth)
    rng = SeededRng(seed)
    totals = [decoded_totals(mechanism, mechanism.privatize(people, rng)) for _ in range(runs)]
    return np.array(totals) - truth


def decoded_totals(mechanism: Mechanism, reports: Reports) -> Floats:
    """Return the estimated totals; raw floats are added up without a tally."""
    if isinstance(mechanism, SHE):
        return mechanism.estimate_reports(reports).totals
    return mechanism.estimate(mechanism.tally(reports)).totals


def exact_covariance(mechanism: Mechanism, truth: Ints) -> Floats:
    """Return (size, size): the exact covariance of the estimated totals."""
    noise: Noise = mechanism.noise  # type: ignore[attr-defined]  # SHE, which is not pure, has one
    return noise.covariance(truth.astype(float), int(truth.sum()))


def relative_mse_spread(covariance: Floats, runs: int) -> float:
    """Return one sigma of a mean squared error relative to its expectation, for normal errors."""
    return float(np.sqrt(2 / runs) * np.linalg.norm(covariance) / np.trace(covariance))
