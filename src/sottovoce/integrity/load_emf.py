"""Load EMF: separate honest reports from those that take the fullest bucket of some suspects.

The hash of a report is its own known channel.  With suspects T, the load L of the bucket that has
the most of them, and candidates S with shares f, a report names bucket b with probability

    (1 - beta_L) [1/g + gap sum over t in S of f_t (1[H(t) = b] - 1/g)]
        + beta_L [b has the load L] / ties

Every load has a share beta_L of its own, so that it does not matter how false reports chose their
seeds.  The likelihood is maximised over at most 60 parameters.  Each report then gets the weight

    probability of being honest = (1 - beta_L) [...] / whole

and the weighted reports are decoded as usual: given the model, that is unbiased for honest people.

This is the expectation-maximisation filter of Du 2025 for local hashing: what its poison bins are
there is the fullest bucket here.

Source: Du 2025, chapter 6; docs/integrity.md.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.plausibility import PublicHash

MAX_LEVELS = 16
_MIN_REPORTS = 200  # of a load that has a share of its own; rarer ones join their neighbours
_MOST_FALSE = 0.95
_LOWEST_SHARE = -0.05  # an estimate may be negative
_ITERATIONS = 80
_TOLERANCE = 1e-8  # relative, of the mean log-likelihood


@dataclass(frozen=True, eq=False)
class LoadModel:
    """What the likelihood of every report is made of."""

    supports: Floats  # (reports, candidates): 1 where the report supports the candidate, less 1/g
    fullest: Floats  # of each report: 1 / ties if it names a bucket of the largest load, else 0
    levels: Ints  # of each report: the number of its load among those that have a share
    buckets: int
    gap: float

    @classmethod
    def of(cls, hashed: PublicHash, suspects: Bools) -> "LoadModel":
        """Return the model of reports whose hashes are known."""
        named = np.asarray(hashed.answers)[:, None]
        supported = hashed.table == named
        in_named = np.count_nonzero(supported[:, suspects], axis=1)
        largest, ties = _fullest(np.asarray(hashed.table)[:, suspects])
        fullest = np.where(in_named == largest, 1 / ties, 0.0)
        supports = supported.astype(np.float32) - np.float32(1 / hashed.buckets)
        return cls(supports, fullest, _levels(largest), hashed.buckets, hashed.gap)

    def picked(self, reports: Ints) -> "LoadModel":
        """Return the model of some of the reports."""
        chosen = self.supports[reports], self.fullest[reports], self.levels[reports]
        return LoadModel(*chosen, self.buckets, self.gap)

    @property
    def level_count(self) -> int:
        """Return how many loads have a share of their own."""
        return int(self.levels.max()) + 1

    def honest(self, shares: Floats) -> Floats:
        """Return the probability of the named bucket if the report is honest."""
        demand = self.supports @ shares.astype(np.float32)
        return np.maximum(1 / self.buckets + self.gap * demand.astype(np.float64), 1e-6)

    def fit(self, start: "LoadFit") -> "LoadFit":
        """Return the parameters of the largest likelihood."""
        from scipy.optimize import minimize

        count = len(start.shares)
        bounds = [(_LOWEST_SHARE, 1.0)] * count + [(0.0, _MOST_FALSE)] * len(start.false)
        first = np.clip(np.r_[start.shares, start.false], *np.array(bounds).T)
        found = minimize(
            self._loss,
            first,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": _ITERATIONS, "ftol": _TOLERANCE},
        )
        return LoadFit(found.x[:count], found.x[count:])

    def _loss(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the mean negative log-likelihood and its gradient."""
        count = self.supports.shape[1]
        false = parameters[count:][self.levels]
        honest = self.honest(parameters[:count])
        whole = np.maximum((1 - false) * honest + false * self.fullest, 1e-12)
        by_share = ((1 - false) * self.gap / whole).astype(np.float32) @ self.supports
        by_level = np.bincount(
            self.levels, (self.fullest - honest) / whole, minlength=len(parameters) - count
        )
        gradient = np.r_[by_share.astype(np.float64), by_level]
        return float(-np.log(whole).mean()), -gradient / len(self.levels)

    def weights(self, fit: "LoadFit") -> Floats:
        """Return the probability that each report is honest."""
        false = fit.false[self.levels]
        honest = (1 - false) * self.honest(fit.shares)
        return np.asarray(honest / (honest + false * self.fullest))


@dataclass(frozen=True, eq=False)
class LoadFit:
    """Shares of honest people by candidate, and shares of false reports by load."""

    shares: Floats
    false: Floats


def _fullest(table: Ints) -> tuple[Ints, Ints]:
    """Return the largest load of a bucket of each row, and how many buckets have it."""
    ordered = np.sort(table, axis=1)
    run = np.ones(len(table), np.int64)
    largest = np.ones(len(table), np.int64)
    ties = np.zeros(len(table), np.int64)
    for column in range(ordered.shape[1]):
        if column:
            run = np.where(ordered[:, column] == ordered[:, column - 1], run + 1, 1)
        ties = np.where(run > largest, 1, ties + (run == largest))
        largest = np.maximum(largest, run)
    return largest, ties


def _levels(loads: Ints) -> Ints:
    """Return the number of each load; loads that few reports have join the larger one after."""
    counts = np.bincount(loads)
    number = np.zeros(len(counts), np.int64)
    current = 0
    members = 0
    for load, count in enumerate(counts.tolist()):
        number[load] = current
        members += count
        enough = members >= _MIN_REPORTS and counts[load + 1 :].sum() >= _MIN_REPORTS
        if enough and current + 1 < MAX_LEVELS:
            current += 1
            members = 0
    return number[loads]
