"""Shrinkage: how much of a noisy component to believe, learnt from all components at once.

A component of m directions that was predicted from smaller sets leaves a residual r, known with a
variance s^2 in each direction.  The residuals of all components of one order are taken for draws
from a common law: with probability w_k their scale t_k^2 is one of a list, and each direction is
normal with variance t_k^2.  Expectation maximisation finds the w_k that explain the reported
residuals best, which are normal with variance t_k^2 + s^2.  Then, with the posterior chance w_k(r)
of each scale,

    c_k      = t_k^2 / (t_k^2 + s^2)                          belief in a residual of scale k
    estimate = C r,  C = sum_k w_k(r) c_k
    error    = sum_k w_k(r) (c_k s^2 + (c_k - C)^2 r^2)       variance in a direction

Where nothing but noise was reported all belief is near 0, and where noise is small it is 1.  The
first scale is 0: attributes of this set add nothing.

Source: Stephens 2017.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import Floats

# Scales as squared correlations: from none to everything.
SCALES = np.concatenate([[0.0], np.geomspace(0.005, 1.0, 12) ** 2])
_STEPS = 60
_PSEUDO_COUNT = 1.0  # residuals that are spread evenly over all scales, so that none has chance 0


@dataclass(frozen=True, eq=False)
class Residuals:
    """Noisy residuals of components, in units in which ``SCALES`` are their possible variances.

    ``squares`` are the sums of squares over all directions, ``degrees`` the numbers of directions,
    and ``variances`` those of the noise in one direction.
    """

    squares: Floats
    degrees: Floats
    variances: Floats

    @cached_property
    def log_likelihoods(self) -> Floats:
        """Return (residuals, scales), up to a constant."""
        totals = SCALES + self.variances[:, None]
        quadratic = self.squares[:, None] / totals
        return np.asarray(-0.5 * (self.degrees[:, None] * np.log(totals) + quadratic))


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The prior law of residuals, and the posterior of each of them."""

    residuals: Residuals
    weights: Floats  # of the scales

    @classmethod
    def fit(cls, residuals: Residuals) -> "Shrinkage":
        """Return the law that explains the residuals best."""
        scale_count = len(SCALES)
        weights = np.full(scale_count, 1 / scale_count)
        for _ in range(_STEPS):
            totals = cls(residuals, weights).chances.sum(axis=0) + _PSEUDO_COUNT / scale_count
            weights = totals / totals.sum()
        return cls(residuals, weights)

    @cached_property
    def chances(self) -> Floats:
        """Return (residuals, scales): the posterior chance of every scale."""
        logs = self.residuals.log_likelihoods
        likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True)) * self.weights
        return np.asarray(likelihoods / likelihoods.sum(axis=1, keepdims=True))

    @cached_property
    def beliefs(self) -> Floats:
        """Return (residuals, scales): the share of a residual that is believed at every scale."""
        return np.asarray(SCALES / (SCALES + self.residuals.variances[:, None]))

    @cached_property
    def belief(self) -> Floats:
        """Return the share of every residual that is believed."""
        return np.asarray((self.chances * self.beliefs).sum(axis=1))

    @property
    def errors(self) -> Floats:
        """Return the variance of every shrunken residual in a direction, averaged over them."""
        noise = self.beliefs * self.residuals.variances[:, None]
        per_direction = self.residuals.squares / self.residuals.degrees
        doubt = (self.beliefs - self.belief[:, None]) ** 2 * per_direction[:, None]
        return np.asarray((self.chances * (noise + doubt)).sum(axis=1))

    @property
    def evidence(self) -> float:
        """Return the log likelihood of all residuals."""
        with np.errstate(divide="ignore"):
            logs = self.residuals.log_likelihoods + np.log(self.weights)
        return float(np.logaddexp.reduce(logs, axis=1).sum())

    @property
    def mean_scale(self) -> float:
        """Return the variance of a residual that was not reported, in a direction."""
        return float(self.weights @ SCALES)
