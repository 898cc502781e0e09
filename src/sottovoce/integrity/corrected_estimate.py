"""The estimate of reports that are weighted by their probability of being honest.

Reports of nearly equal weight are decoded together, so that every mechanism serves that decodes
whole reports.  Errors come from a bootstrap: reports are drawn again with replacement, and the load
EMF is fitted and the weighted reports are decoded anew.  The suspects stay as they were found, so
that the errors are those given the suspects.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from sottovoce.arrays import Bools, Floats, Reports
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import Noise, SampledNoise, StatedNoise
from sottovoce.integrity.candidates import Candidates
from sottovoce.integrity.load_emf import LoadFit, LoadModel

REPLICATES = 50
MAX_RESAMPLED = 1 << 15  # reports of one replicate; of more reports a part is drawn
MAX_SAMPLED_CELLS = 1 << 14  # whose replicates are kept; beyond, only their variances
_WEIGHT_LEVELS = 64
_FIRST_FALSE = 0.02
Decode = Callable[[Reports], Estimate]


@dataclass(frozen=True, eq=False)
class Corrected:
    """The estimate of weighted reports, and the share of all reports that are not honest."""

    estimate: Estimate
    share: float


def corrected(
    candidates: Candidates,
    suspects: Bools,
    reports: Reports,
    decode: Decode,
    *,
    replicates: int = REPLICATES,
) -> Corrected:
    """Return the estimate of honest people; ``decode`` gives that of any part of the reports.

    Without ``replicates`` the errors are those of the mechanism, which are too small: they leave
    out what the fit of the weights adds.
    """
    assert candidates.hashed is not None
    model = LoadModel.of(candidates.hashed, suspects)
    first = LoadFit(candidates.shares, np.full(model.level_count, _FIRST_FALSE))
    fit = model.fit(first)
    weights = model.weights(fit)
    users = max(1, round(float(weights.sum())))
    frequencies, whole = _weighted(reports, weights, decode)
    estimate = replace(whole, votes=frequencies * users, users=users, population=users)
    if replicates:
        errors = _errors(model, fit, Resampling(reports, decode, replicates), frequencies)
        estimate = replace(estimate, noise=_noise(users * errors, estimate.votes))
    return Corrected(estimate, 1 - float(weights.mean()))


def _weighted(reports: Reports, weights: Floats, decode: Decode) -> tuple[Floats, Estimate]:
    """Return the frequencies of weighted reports, and one of the estimates they are made of."""
    levels = np.minimum((weights * _WEIGHT_LEVELS).astype(np.int64), _WEIGHT_LEVELS - 1)
    votes: Floats | float = 0.0
    for level in np.unique(levels):
        chosen = levels == level
        estimate = decode(reports[chosen])
        votes = votes + float(weights[chosen].mean()) * estimate.votes
    return np.asarray(votes) / float(weights.sum()), estimate


@dataclass(frozen=True, eq=False)
class Resampling:
    """What is drawn again, how it is decoded, and how often."""

    reports: Reports
    decode: Decode
    replicates: int


def _errors(model: LoadModel, fit: LoadFit, resampling: Resampling, frequencies: Floats) -> Floats:
    """Return (replicates, cells): by how much replicates of the frequencies miss them.

    Of many reports a part is drawn, and its errors are scaled to all.
    """
    reports = resampling.reports
    size = min(len(reports), MAX_RESAMPLED)
    generator = np.random.default_rng(_number(reports))
    errors = np.empty((resampling.replicates, len(frequencies)), np.float32)
    for row in errors:
        drawn = generator.integers(len(reports), size=size)
        again = model.picked(drawn)
        weights = again.weights(again.fit(fit))
        row[:] = _weighted(reports[drawn], weights, resampling.decode)[0] - frequencies
    return np.asarray(errors * sqrt(size / len(reports)), np.float64)


def _noise(errors: Floats, votes: Floats) -> Noise:
    if len(votes) > MAX_SAMPLED_CELLS:
        return StatedNoise(np.asarray((errors**2).mean(axis=0)))
    return SampledNoise(votes + errors, around=votes)


def _number(reports: Reports) -> list[int]:
    """Return numbers that the reports fix, for draws that replay exactly."""
    words = np.frombuffer(np.ascontiguousarray(reports).tobytes(), np.uint8)
    return [len(reports), int(words.astype(np.int64) @ (np.arange(len(words)) % 65521 + 1))]
