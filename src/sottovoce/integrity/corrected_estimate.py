"""The estimate of reports that are weighted by their probability of being honest.

Reports of nearly equal weight are decoded together, so that any mechanism can be used that decodes
unweighted reports.  If several models of the false reports explain the reports nearly equally well,
the estimate is the mean of two: the one that leaves the suspects the largest shares, and the one
that leaves them the smallest.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.core.estimate import Estimate
from sottovoce.integrity.likely_suspects import PLAUSIBLE, Suspected
from sottovoce.integrity.load_emf import LoadFit, LoadModel

WEIGHT_LEVELS = 64
Decode = Callable[[Reports], Estimate]


@dataclass(frozen=True, eq=False)
class FittedLoads:
    """A model of the false reports, and its parameters."""

    model: LoadModel
    fit: LoadFit

    @cached_property
    def weights(self) -> Floats:
        """Return the probability of each report to be honest."""
        return self.model.weights(self.fit)

    @cached_property
    def information(self) -> Floats:
        """Return the information of one report about the parameters."""
        return self.model.information(self.fit)

    def weights_anew(self, drawn: Ints) -> Floats:
        """Return the weights of some reports, as if they were all that there are."""
        part = self.model.picked(drawn)
        return part.weights(part.stepped(self.fit, self.information))


@dataclass(frozen=True, eq=False)
class Corrected:
    """The estimate of weighted reports, and the share of all reports that are not honest.

    ``models`` are the plausible ones, with the frequencies that each leads to.
    """

    estimate: Estimate
    share: float
    models: tuple[FittedLoads, ...]
    frequencies: tuple[Floats, ...]


def corrected(suspected: Suspected, reports: Reports, decode: Decode) -> Corrected:
    """Return the estimate of honest people; ``decode`` gives that of any part of the reports."""
    models = plausible_models(suspected)
    frequencies = [weighted(reports, model.weights, decode) for model in models]
    share = max(0.0, float(np.mean([1 - model.weights.mean() for model in models])))
    users = max(1, round((1 - share) * len(reports)))
    votes = np.mean(frequencies, axis=0) * users
    estimate = replace(decode(reports), votes=votes, users=users, population=users)
    return Corrected(estimate, share, models, tuple(frequencies))


def plausible_models(suspected: Suspected) -> tuple[FittedLoads, ...]:
    """Return the plausible models with the largest and the smallest share of the suspects."""
    start = suspected.candidates.shares
    fitted = []
    for model in suspected.models():
        fitted_loads = FittedLoads(model, model.fit(LoadFit(start, model.start)))
        start = fitted_loads.fit.shares
        fitted.append((model.log_likelihood(fitted_loads.fit), fitted_loads))
    best = max(likelihood for likelihood, _ in fitted)
    plausible = [
        fitted_loads for likelihood, fitted_loads in fitted if likelihood > best - PLAUSIBLE
    ]
    left = [float(fitted_loads.fit.shares[suspected.suspects].sum()) for fitted_loads in plausible]
    extremes = {int(np.argmin(left)), int(np.argmax(left))}
    return tuple(plausible[index] for index in sorted(extremes))


def weighted(
    reports: Reports, weights: Floats, decode: Decode, level_count: int = WEIGHT_LEVELS
) -> Floats:
    """Return the frequencies of weighted reports."""
    scaled = weights / weights.max()
    levels = np.minimum((scaled * level_count).astype(np.int64), level_count - 1)
    votes: Floats | float = 0.0
    for level in np.unique(levels):
        chosen = levels == level
        votes = votes + float(weights[chosen].mean()) * decode(reports[chosen]).votes
    return np.asarray(votes) / float(weights.sum())
