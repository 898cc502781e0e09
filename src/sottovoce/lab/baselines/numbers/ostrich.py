"""Ostrich: decode the reports of every group as if nobody lied, and average the distributions.

It is plain EM without a model of false reports, stopped as the filters are, and with the weights of
graded groups.

Source: Du 2025, section 6.5.1.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.numbers.emf import unfiltered
from sottovoce.plans.numbers.graded_estimate import Group
from sottovoce.plans.numbers.group_weights import RULES


def ostrich(groups: Sequence[Group], weights: str = "calibrated") -> Floats:
    """Return the distribution that all reports together say, by a rule of weights."""
    distributions = [unfiltered(group.observed).distribution[0] for group in groups]
    return averaged(groups, distributions, 0.0, weights)


def averaged(
    groups: Sequence[Group], distributions: Sequence[Floats], share: float, weights: str
) -> Floats:
    """Return the average of the distributions of groups, a share of whose reports is false."""
    epsilons = np.array([group.epsilon for group in groups])
    reports = np.array([[group.users * group.reports for group in groups]])
    rule = RULES[weights]
    return np.asarray(rule(epsilons, (1 - share) * reports)[0] @ np.stack(distributions))
