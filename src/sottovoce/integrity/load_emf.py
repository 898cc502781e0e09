"""Load EMF: separate honest reports from those that promote several suspects at once.

The hash of a report is its own known channel.  With suspects T, the load L of the bucket that has
the most of them, and candidates S with shares f, a report names bucket b with probability

    (1 - beta_L) [1/g + gap sum over t in S of f_t (1[H(t) = b] - 1/g)]  +  beta_L greedy(b)

A greedy report that promotes all of T names the fullest bucket: greedy(b) = [b has load L] / ties.
Those that each promote k of T name a bucket in proportion to the sets of k that it holds:
greedy(b) = C(load of b, k) / sum over all buckets.  ``together`` is k, and 0 stands for all.

Every load has a share beta_L of its own, so that it does not matter how false reports chose their
seeds.  The likelihood is maximised over at most 60 parameters.  Each report then gets the weight

    probability of being honest = (1 - beta_L) [...] / whole

and the weighted reports are decoded as usual: given the model, that is unbiased for honest people.

This is the expectation-maximisation filter of Du 2025 for local hashing: what its poison bins are
there is the greedy bucket here.

Source: Du 2025, chapter 6; docs/integrity.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.plausibility import PublicHash

MAX_LEVELS = 16
_MIN_REPORTS = 200  # of a load that has a share of its own; rarer ones join their neighbours
_FIRST_FALSE = 0.02
_MOST_FALSE = 0.95
# Estimates may be negative: those of shares that are 0 would be too large on average otherwise, and
# too much would be taken from the suspects.  In parts of 1 / g, so that no probability is negative.
_LOWEST_SHARE = -0.05
_LEAST_FALSE = -0.25
_ITERATIONS = 80
_TOLERANCE = 1e-8  # relative, of the mean log-likelihood


@dataclass(frozen=True, eq=False)
class LoadModel:
    """The terms of the likelihood of every report."""

    supports: Floats  # (reports, candidates): 1 where the report supports the candidate, less 1/g
    greedy: Floats  # of each report: how likely a false one names the same bucket
    levels: Ints  # of each report: the number of its load among those that have a share
    buckets: int
    gap: float

    @classmethod
    def of(cls, hashed: PublicHash, suspects: Bools, together: int = 0) -> "LoadModel":
        """Return the model of reports whose hashes are known."""
        supported = hashed.table == np.asarray(hashed.answers)[:, None]
        supports = supported.astype(np.float32) - np.float32(1 / hashed.buckets)
        unsuspecting = cls(supports, np.zeros(0), np.zeros(0, int), hashed.buckets, hashed.gap)
        return unsuspecting.suspecting(hashed, suspects, together)

    def suspecting(self, hashed: PublicHash, suspects: Bools, together: int = 0) -> "LoadModel":
        """Return the model of the same reports with these suspects."""
        from sottovoce.kernels.loads import Hashed, named_buckets

        reports = Hashed(hashed.table, hashed.answers, hashed.buckets)
        named = named_buckets(reports, suspects, together)
        return replace(self, greedy=named.chance, levels=_levels(named.largest))

    def picked(self, reports: Ints) -> "LoadModel":
        """Return the model of some of the reports."""
        chosen = self.supports[reports], self.greedy[reports], self.levels[reports]
        return LoadModel(*chosen, self.buckets, self.gap)

    @property
    def level_count(self) -> int:
        """Return how many loads have a share of their own."""
        return int(self.levels.max()) + 1

    def honest(self, shares: Floats) -> Floats:
        """Return the probability of the named bucket if the report is honest."""
        demand = self.supports @ shares.astype(np.float32)
        return np.maximum(1 / self.buckets + self.gap * demand.astype(np.float64), 1e-6)

    @property
    def start(self) -> Floats:
        """Return shares of false reports to begin a fit with."""
        return np.full(self.level_count, _FIRST_FALSE)

    def fit(self, start: "LoadFit") -> "LoadFit":
        """Return the parameters of the largest likelihood."""
        from scipy.optimize import minimize

        low, high = self._bounds(start)
        optimum = minimize(
            self._loss,
            np.clip(start.parameters, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={"maxiter": _ITERATIONS, "ftol": _TOLERANCE},
        )
        return start.replaced(optimum.x)

    def log_likelihood(self, fit: "LoadFit") -> float:
        """Return the logarithm of the probability of all named buckets."""
        return -len(self.levels) * self._loss(fit.parameters)[0]

    def information(self, fit: "LoadFit") -> Floats:
        """Return the mean outer product of the derivatives of the log-likelihood."""
        false = fit.false[self.levels]
        honest = self.honest(fit.shares)
        whole = np.maximum((1 - false) * honest + false * self.greedy, 1e-12)
        count = len(fit.shares)
        scores = np.zeros((len(whole), len(fit.parameters)), np.float32)
        scores[:, :count] = self.supports * ((1 - false) * self.gap / whole)[:, None]
        scores[np.arange(len(whole)), count + self.levels] = (self.greedy - honest) / whole
        return np.asarray((scores.T @ scores).astype(np.float64) / len(whole))

    def stepped(self, fit: "LoadFit", information: Floats) -> "LoadFit":
        """Return the fit after one step of Newton's method, kept within its bounds.

        That is the fit of these reports, if ``fit`` is that of all reports that they were drawn
        from.  Parameters that would leave their bounds stay there, and the others step without
        them.
        """
        low, high = self._bounds(fit)
        slope = -self._loss(fit.parameters)[1]
        free = np.ones(len(slope), bool)
        for _ in range(len(slope)):
            step = np.zeros(len(slope))
            step[free] = np.linalg.lstsq(information[np.ix_(free, free)], slope[free])[0]
            leaving = free & ((fit.parameters + step < low) | (fit.parameters + step > high))
            if not leaving.any():
                break
            free &= ~leaving
        return fit.replaced(np.clip(fit.parameters + step, low, high))

    def _bounds(self, fit: "LoadFit") -> tuple[Floats, Floats]:
        counts = len(fit.shares), len(fit.false)
        low = np.repeat([_LOWEST_SHARE, _LEAST_FALSE / self.buckets], counts)
        return low, np.repeat([1.0, _MOST_FALSE], counts)

    def _loss(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the mean negative log-likelihood and its gradient."""
        count = self.supports.shape[1]
        false = parameters[count:][self.levels]
        honest = self.honest(parameters[:count])
        whole = np.maximum((1 - false) * honest + false * self.greedy, 1e-12)
        by_share = ((1 - false) * self.gap / whole).astype(np.float32) @ self.supports
        by_level = np.bincount(
            self.levels, (self.greedy - honest) / whole, minlength=len(parameters) - count
        )
        gradient = np.r_[by_share.astype(np.float64), by_level]
        return float(-np.log(whole).mean()), -gradient / len(self.levels)

    def weights(self, fit: "LoadFit") -> Floats:
        """Return the probability that each report is honest; above 1 for negative shares."""
        false = fit.false[self.levels]
        honest = (1 - false) * self.honest(fit.shares)
        return np.asarray(honest / (honest + false * self.greedy))


@dataclass(frozen=True, eq=False)
class LoadFit:
    """Shares of honest people by candidate, and shares of false reports by load."""

    shares: Floats
    false: Floats

    @property
    def parameters(self) -> Floats:
        """Return all parameters as one array."""
        return np.concatenate([self.shares, self.false])

    def replaced(self, parameters: Floats) -> "LoadFit":
        """Return another fit of as many shares of each kind."""
        count = len(self.shares)
        return LoadFit(np.asarray(parameters[:count]), np.asarray(parameters[count:]))


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
