"""Ostrich: decode the reports of every group as if nobody lied, and average the distributions.

It is plain EM without a model of false reports, stopped as the filters are, and with the weights of
graded groups.

Source: Du 2025, section 6.5.1.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.numbers.emf import OutputCounts, unfiltered
from sottovoce.plans.numbers.group_weights import RULES


def ostrich(observed: Sequence[OutputCounts], weights: str = "calibrated") -> Floats:
    """Return (rows, size): what the reports of all groups together say, by a rule of weights."""
    distributions = [unfiltered(group).distribution for group in observed]
    nothing_false = np.zeros(len(observed[0].counts))
    return averaged(observed, distributions, nothing_false, weights)


def averaged(
    observed: Sequence[OutputCounts], distributions: Sequence[Floats], share: Floats, weights: str
) -> Floats:
    """Return (rows, size): the average of the (rows, size) distributions of groups.

    ``share`` says for every row which share of the reports is false.
    """
    epsilons = np.array([group.epsilon for group in observed])
    reports = np.stack([group.reports for group in observed], axis=1)
    weight_of_group = RULES[weights](epsilons, (1 - share)[:, None] * reports)
    average = np.einsum("rg,grs->rs", weight_of_group, np.stack(distributions))
    return np.asarray(average, np.float64)
