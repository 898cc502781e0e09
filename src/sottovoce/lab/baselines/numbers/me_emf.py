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


def me_emf(observed: Sequence[OutputCounts], weights: str = "calibrated") -> Floats:
    """Return (rows, size): honest people if all false reports of a row lie in one half."""
    probe = observed[-1]
    everywhere = np.ones(len(probe.counts), bool)
    low = emf(probe, halves(probe, ~everywhere)).share
    high = emf(probe, halves(probe, everywhere)).share
    upper = high > low
    share = np.minimum(np.maximum(low, high), MAX_SHARE)
    found = [de_remf_star(group, halves(group, upper), share).distribution for group in observed]
    return averaged(observed, found, share, weights)


def halves(observed: OutputCounts, upper: Bools) -> Bools:
    """Return (rows, outputs): those of the upper half in some rows, and of the lower in others."""
    is_upper = np.arange(observed.outputs) >= observed.outputs // 2
    return np.asarray(is_upper[None] == upper[:, None])
