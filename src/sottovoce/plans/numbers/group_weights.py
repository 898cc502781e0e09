"""How much the distribution that each graded group gives counts for the whole.

Weights are in proportion to 1 / B, where B stands for the error of a group.  Square Wave at epsilon
reports a number near v with the half-width b and the densities p and q, so that

    E[report] = s v + q (b + 1/2)        s = 2 b (p - q)
    largest variance, at v = 1:
        (p ((b + 1)^3 + (b - 1)^3) - q ((b - 1)^3 - b^3)) / 3 - (2 b p + q (1 - 2 b) / 2)^2

The three rules, with n honest reports in a group:

    calibrated   1 / B = n s^2 / variance     the default: a report is read through the slope s
    paper        1 / B = 1 / variance         as published
    count        1 / B = n / variance         for comparison: half of the weight is on the noisiest

Calibrated weights are ours.

Source: Du 2025, section 6.4.2 (lemma 3 and theorem 14, corrected).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.maths.em import in_proportion
from sottovoce.mechanisms.square_wave import half_width

Rule = Callable[[Floats, Floats], Floats]


def slope(epsilon: float) -> float:
    """Return how far the mean report moves with the number: s.

    >>> round(slope(2.0), 10)
    0.5676676416
    """
    wave = _densities(epsilon)
    return 2 * wave.half_width * (wave.near - wave.far)


def worst_variance(epsilon: float) -> float:
    """Return the largest variance of a report.

    >>> round(worst_variance(2.0), 10)
    0.1215978611
    """
    wave = _densities(epsilon)
    b, p, q = wave.half_width, wave.near, wave.far
    mean = 2 * b * p + q * (1 - 2 * b) / 2
    mean_square = (p * ((b + 1) ** 3 + (b - 1) ** 3) - q * ((b - 1) ** 3 - b**3)) / 3
    return mean_square - mean**2


def calibrated(epsilons: Floats, honest: Floats) -> Floats:
    """Return weights by the error of the mean that ``honest`` reports of each group give."""
    slopes = np.array([slope(epsilon) for epsilon in epsilons])
    return in_proportion(honest * slopes**2 / _variances(epsilons))


def paper(epsilons: Floats, honest: Floats) -> Floats:
    """Return weights by the variance of one report."""
    return in_proportion(np.broadcast_to(1 / _variances(epsilons), honest.shape))


def count(epsilons: Floats, honest: Floats) -> Floats:
    """Return weights by the variance of the mean report."""
    return in_proportion(honest / _variances(epsilons))


RULES: dict[str, Rule] = {"calibrated": calibrated, "paper": paper, "count": count}


@dataclass(frozen=True)
class _Wave:
    """The continuous law of Square Wave: its half-width, and the densities near and far."""

    half_width: float
    near: float
    far: float


def _densities(epsilon: float) -> _Wave:
    reach = float(half_width(epsilon))
    far = 1 / (2 * reach * exp(epsilon) + 1)
    return _Wave(reach, far * exp(epsilon), far)


def _variances(epsilons: Floats) -> Floats:
    return np.array([worst_variance(epsilon) for epsilon in epsilons])
