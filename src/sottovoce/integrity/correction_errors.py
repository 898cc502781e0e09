"""Errors of a corrected estimate: load EMF and decoding are repeated on halves of the reports.

Halves of the reports are drawn without replacement.  Every half is fitted, weighted and decoded by
itself.  Its fit is one step of Newton's method, which starts from the fit of all reports.  The seed
filter is not repeated: it looks at the seeds alone, so the reports that it keeps are fixed.

If two models of the false reports are plausible, the halves use them in turn.  The distance between
the two results is then part of the error.  It counts in full and not by half, because attackers who
combine several attacks can be as far beyond both models as these are apart.

The estimate f_m from m of n reports spreads around the estimate f_n from all of them:

    Var[f_m - f_n] = Var[f_n] (n - m) / m

For halves (n = 2 m) the difference f_m - f_n is therefore a draw of the error.  If there are many
reports, smaller parts are drawn, and the differences are multiplied by sqrt(m / (n - m)).

A variance that is estimated from R numbers is itself uncertain: it is multiplied by R / (R - 2),
the variance of Student's law.

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
MAX_SAMPLED_CELLS = 1 << 14  # for more cells only variances are kept, and not the replicates
_WEIGHT_LEVELS = 16
_BEYOND = 2.0  # two models lie twice as far apart as each lies from their mean


def with_errors(
    correction: Corrected, reports: Reports, decode: Decode, rng: Rng, replicates: int = REPLICATES
) -> Estimate:
    """Return a corrected estimate of all reports with the errors of the correction."""
    estimate = correction.estimate
    count = len(reports)
    size = min(count // 2, MAX_PART)
    scale = sqrt(size / (count - size))
    errors = np.empty((replicates, len(estimate.votes)))
    for number, row in enumerate(errors):
        turn = number % len(correction.models)
        drawn = _drawn(count, size, rng)
        weights = correction.models[turn].weights_anew(drawn)
        part = weighted(reports[drawn], weights, decode, _WEIGHT_LEVELS)
        whole = correction.frequencies[turn]
        row[:] = scale * (part - whole) + _BEYOND * (whole - estimate.frequencies)
    errors *= estimate.users * sqrt(replicates / max(1, replicates - 2))
    if len(estimate.votes) > MAX_SAMPLED_CELLS:
        return replace(estimate, noise=StatedNoise(np.asarray((errors**2).mean(axis=0))))
    noise = SampledNoise(estimate.votes + errors, around=estimate.votes)
    return replace(estimate, noise=noise)


def _drawn(count: int, size: int, rng: Rng) -> Ints:
    """Return the indices of ``size`` reports drawn without replacement, in ascending order."""
    return np.sort(np.argpartition(rng.longs(count), size)[:size])
