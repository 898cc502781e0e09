"""Errors of a corrected estimate: the load EMF and the decoding again, on halves of the reports.

The seed filter looks at nothing but seeds, so that the reports it keeps are what they are.  Of
these, halves are drawn without replacement, and every half is fitted, weighted and decoded by
itself.  A fit is one step of Newton's method from that of all reports.  Where two models of the
false reports are plausible they take turns, so that the distance between what they lead to is part
of the error.  It counts in full, not by half: people who attack in several ways at once can be as
far beyond both models as these are apart.

With m of n reports the estimate f_m of a part spreads around that of all of them, f_n, as

    Var[f_m - f_n] = Var[f_n] (n - m) / m

so that the differences of halves are errors as they are.  Of many reports smaller parts are drawn
and their differences are multiplied by sqrt(m / (n - m)).

A variance from R numbers is itself uncertain: it is multiplied by R / (R - 2), the variance of
Student's law.

Source: Shao and Wu 1989.
"""

from dataclasses import replace
from math import sqrt

import numpy as np

from sottovoce.arrays import Ints, Reports
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SampledNoise, StatedNoise
from sottovoce.core.rng import Rng
from sottovoce.integrity.corrected_estimate import Corrected, Decode, weighted

REPLICATES = 50
MAX_PART = 1 << 16  # reports of one replicate
MAX_SAMPLED_CELLS = 1 << 14  # whose replicates are kept; beyond, only their variances
_WEIGHT_LEVELS = 16
_BEYOND = 2.0  # times the distance of a model from the middle of both: the distance of the models


def with_errors(
    found: Corrected, reports: Reports, decode: Decode, rng: Rng, replicates: int = REPLICATES
) -> Estimate:
    """Return a corrected estimate of all reports with the errors of the correction."""
    estimate = found.estimate
    count = len(reports)
    size = min(count // 2, MAX_PART)
    scale = sqrt(size / (count - size))
    errors = np.empty((replicates, len(estimate.votes)))
    for number, row in enumerate(errors):
        turn = number % len(found.models)
        drawn = _drawn(count, size, rng)
        weights = found.models[turn].weights_anew(drawn)
        part = weighted(reports[drawn], weights, decode, _WEIGHT_LEVELS)
        whole = found.frequencies[turn]
        row[:] = scale * (part - whole) + _BEYOND * (whole - estimate.frequencies)
    errors *= estimate.users * sqrt(replicates / max(1, replicates - 2))
    if len(estimate.votes) > MAX_SAMPLED_CELLS:
        return replace(estimate, noise=StatedNoise(np.asarray((errors**2).mean(axis=0))))
    noise = SampledNoise(estimate.votes + errors, around=estimate.votes)
    return replace(estimate, noise=noise)


def _drawn(count: int, size: int, rng: Rng) -> Ints:
    """Return the numbers of so many reports, drawn without replacement, in their order."""
    return np.sort(np.argpartition(rng.longs(count), size)[:size])
