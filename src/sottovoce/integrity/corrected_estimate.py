"""The estimate of reports that are weighted by their probability of being honest.

Reports of nearly equal weight are decoded together, so that every mechanism serves that decodes
whole reports.  The errors are those of the mechanism for so many reports; what the correction adds
to them is found by doing it again (``engine.correction_errors``).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Bools, Floats, Reports
from sottovoce.core.estimate import Estimate
from sottovoce.integrity.candidates import Candidates
from sottovoce.integrity.load_emf import LoadFit, LoadModel

_WEIGHT_LEVELS = 64
_FIRST_FALSE = 0.02
Decode = Callable[[Reports], Estimate]


@dataclass(frozen=True, eq=False)
class Corrected:
    """The estimate of weighted reports, and the share of all reports that are not honest."""

    estimate: Estimate
    share: float


def corrected(
    candidates: Candidates, suspects: Bools, reports: Reports, decode: Decode
) -> Corrected:
    """Return the estimate of honest people; ``decode`` gives that of any part of the reports."""
    weights = honest_weights(candidates, suspects)
    users = max(1, round(float(weights.sum())))
    frequencies, part = _weighted(reports, weights, decode)
    estimate = replace(part, votes=frequencies * users, users=users, population=users)
    return Corrected(estimate, 1 - float(weights.mean()))


def honest_weights(candidates: Candidates, suspects: Bools) -> Floats:
    """Return the probability of each report to be honest, by the load EMF."""
    assert candidates.hashed is not None
    model = LoadModel.of(candidates.hashed, suspects)
    first = LoadFit(candidates.shares, np.full(model.level_count, _FIRST_FALSE))
    return model.weights(model.fit(first))


def _weighted(reports: Reports, weights: Floats, decode: Decode) -> tuple[Floats, Estimate]:
    """Return the frequencies of weighted reports, and one of the estimates they are made of."""
    levels = np.minimum((weights * _WEIGHT_LEVELS).astype(np.int64), _WEIGHT_LEVELS - 1)
    votes: Floats | float = 0.0
    for level in np.unique(levels):
        chosen = levels == level
        estimate = decode(reports[chosen])
        votes = votes + float(weights[chosen].mean()) * estimate.votes
    return np.asarray(votes) / float(weights.sum()), estimate
