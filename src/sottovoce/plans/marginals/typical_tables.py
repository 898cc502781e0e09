"""Typical tables: how strongly attributes of people usually depend on each other.

Views must be chosen before there is data, and an interaction that no view contains is never
measured.  In both cases the strengths of dependence in real tables of people are used instead.

The numbers were measured on a census, a health survey and a table of accidents, and on populations
with the published shape of others (``python -m sottovoce.lab.experiments.typical_tables`` prints
them).  Strength is the mean square of a residual's directions in units of a squared correlation:

    strength(S) = |component(S) - predicted|^2 / (degrees(S) * product of spread(a))
    spread(a)   = (1 - sum of squared shares of a) / (values(a) - 1)

where a component is predicted from all smaller sets: for pairs by independence, beyond that by
maximum entropy.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.marginals.shrinkage import SCALES

# Strengths of pairs: most depend weakly on each other, a few strongly.
PAIR_STRENGTHS = (0.0002, 0.004, 0.02, 0.1, 0.4)
PAIR_WEIGHTS = (0.2, 0.35, 0.25, 0.15, 0.05)
# Every further attribute makes an interaction weaker by this factor.
FADING = 0.03
# The spread of the shares of a single attribute, compared with equal shares.
EVENNESS = 0.7


def strengths(order: int) -> Floats:
    """Return the typical strengths of interactions of ``order`` attributes.

    ``PAIR_WEIGHTS`` says how often each of them occurs.
    """
    return np.array(PAIR_STRENGTHS) * FADING ** (order - 2)


def typical_spread(values: int) -> float:
    """Return the typical spread of an attribute with ``values`` values."""
    return EVENNESS * (1 - 1 / values) / (values - 1)


def scale_weights(order: int) -> Floats:
    """Return how often each of ``SCALES`` is the nearest to a typical strength.

    >>> float(scale_weights(2).sum())
    1.0
    """
    return _nearest(strengths(order), PAIR_WEIGHTS)


def faded(weights: Floats, orders: int) -> Floats:
    """Return the weights of ``SCALES`` for interactions of so many attributes more."""
    return _nearest(SCALES * FADING**orders, weights)


def _nearest(values: Floats, weights: Sequence[float] | Floats) -> Floats:
    on_scales = np.zeros(len(SCALES))
    nearest = np.abs(np.sqrt(values)[:, None] - np.sqrt(SCALES)).argmin(axis=1)
    np.add.at(on_scales, nearest, weights)
    return on_scales
