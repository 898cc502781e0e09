"""The k-means defence of a mean: subsets of the reports vote, and the larger cluster wins.

Many random subsets of the reports are drawn.  Each gives a mean, by the linear read-out or through
the distribution that EM finds.  The means are cut into two clusters, and the answer is the centre
of the larger one.  Subsets of independent reports hardly differ in their share of false reports, so
that the clusters separate noise.  The source cites it without details; these are ours.

Source: Du 2025, section 6.5.4.
"""

from collections.abc import Callable

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts, unfiltered

Reader = Callable[[SquareWave, Ints], float]  # from the counts of outputs to a mean in [0, 1]
_STEPS = 100


def k_means_mean(
    mechanism: SquareWave,
    counts: Ints,
    subsets: int,
    generator: np.random.Generator,
    read: "Reader | None" = None,
) -> float:
    """Return the mean in [0, 1] that the larger cluster of ``subsets`` agrees on.

    A subset is an equal part of the reports.  ``read`` turns the counts of a subset into a mean
    (default: the linear read-out).
    """
    outputs = np.repeat(np.arange(len(counts)), counts)
    generator.shuffle(outputs)
    parts = np.array_split(outputs, subsets)
    reader = read or linear_mean
    means = np.array(
        [reader(mechanism, np.bincount(part, minlength=len(counts))) for part in parts]
    )
    return larger_centre(means)


def linear_mean(mechanism: SquareWave, counts: Ints) -> float:
    """Return the unbiased mean of reports, in [0, 1]."""
    numbers = mechanism.numbers(np.arange(mechanism.outputs))
    return float((1 + counts @ numbers / counts.sum()) / 2)


def distribution_mean(mechanism: SquareWave, counts: Ints) -> float:
    """Return the mean of the distribution that plain EM finds, in [0, 1]."""
    observed = OutputCounts(
        counts[None].astype(np.float64), mechanism.sliding, mechanism.size, mechanism.epsilon
    )
    middles = (np.arange(mechanism.size) + 0.5) / mechanism.size
    return float(unfiltered(observed).distribution[0] @ middles)


def larger_centre(numbers: Floats) -> float:
    """Return the centre of the larger of two clusters of numbers (Lloyd's algorithm).

    >>> larger_centre(np.array([0.125, 0.25, 0.375, 0.875]))
    0.25
    """
    centres = np.array([numbers.min(), numbers.max()])
    for _ in range(_STEPS):
        is_upper = np.abs(numbers - centres[1]) < np.abs(numbers - centres[0])
        if is_upper.all() or not is_upper.any():
            break
        moved = np.array([numbers[~is_upper].mean(), numbers[is_upper].mean()])
        if (moved == centres).all():
            break
        centres = moved
    upper_is_larger = 2 * is_upper.sum() > len(numbers)
    return float(centres[int(upper_is_larger)])
