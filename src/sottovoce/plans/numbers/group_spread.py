"""How far the groups of one collection disagree, beyond what their own errors explain.

All groups are drawn from the same people, so that their means differ by chance alone, unless false
reports are left in some of them: one counts for many more people at a small epsilon than at a large
one, and attackers may spare the probe.  With the means m_g and variances v_g of h groups,

    w_g = 1 / v_g        Q = sum of w_g (m_g - m)^2, around the mean m weighted by w_g
    spread = max(0, (Q - (h - 1)) / (sum of w_g - sum of w_g^2 / sum of w_g))

Without false reports Q has the mean h - 1 and is nearly chi-squared with h - 1 degrees.

Source: DerSimonian and Laird 1986.
"""

from dataclasses import dataclass

from sottovoce.arrays import Floats
from sottovoce.maths.normal import chi_squared_quantile

CHANCE = 1e-3  # with which honest groups disagree so much


@dataclass(frozen=True)
class GroupSpread:
    """The variance between groups beyond their own errors, and whether chance may explain it."""

    variance: float
    significant: bool


def group_spread(means: Floats, variances: Floats) -> GroupSpread:
    """Return the spread of groups with these means, each with its own variance.

    >>> import numpy as np
    >>> group_spread(np.array([1.0, 1.1, 4.0]), np.array([0.1, 0.1, 0.1])).significant
    True
    >>> group_spread(np.array([1.0, 1.1, 1.3]), np.array([0.1, 0.1, 0.1])).variance
    0.0
    """
    if len(means) < 2 or not (variances > 0).all():
        return GroupSpread(0.0, significant=False)
    weights = 1 / variances
    middle = float(weights @ means / weights.sum())
    disagreement = float(weights @ (means - middle) ** 2)
    degrees = len(means) - 1
    scale = float(weights.sum() - weights @ weights / weights.sum())
    return GroupSpread(
        max(0.0, (disagreement - degrees) / scale),
        significant=disagreement > chi_squared_quantile(CHANCE, degrees),
    )
