"""ME-EMF: all false reports are assumed to lie on one side of the middle.

EMF is run with the lower and with the upper half of the outputs of the group with the smallest
epsilon.  The half that holds more false reports is taken for poisoned in every group, with the
share that was found, and DE-REMF* decodes.  It is the best choice where attackers push one way, and
fails where they poison both sides.  How the side is chosen is ours: the source does not state it.

Source: Du 2025, section 6.5.1.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.lab.baselines.numbers.ostrich import averaged
from sottovoce.plans.numbers.de_emf import MAX_SHARE, de_remf_star
from sottovoce.plans.numbers.emf import OutputCounts, emf
from sottovoce.plans.numbers.graded_estimate import Group


def me_emf(groups: Sequence[Group], weights: str = "calibrated") -> Floats:
    """Return the distribution of honest people if all false reports lie in one half."""
    probe = groups[-1].observed
    shares = [float(emf(probe, half(probe, upper=upper)).share[0]) for upper in (False, True)]
    upper = shares[1] > shares[0]
    share = min(max(shares), MAX_SHARE)
    found = [
        de_remf_star(group.observed, half(group.observed, upper=upper), np.array([share]))
        for group in groups
    ]
    return averaged(groups, [each.distribution[0] for each in found], share, weights)


def half(observed: OutputCounts, *, upper: bool) -> Bools:
    """Return the outputs of the upper or the lower half, as a row of a mask."""
    is_upper = np.arange(observed.outputs) >= observed.outputs // 2
    return (is_upper if upper else ~is_upper)[None]
