"""The most likely mixture behind counts, where groups of its components have given weights.

Counts c over outputs come from a mixture of components, the columns of a channel M, with the
weights x >= 0.  The components are put into groups, and the weights of group g sum to m_g.  Sought
is the maximum of

    l(x) = sum of c_i ln(D_i) over i        D = M x

which is concave.  With the gradient g_k = sum of c_i M_ik / D_i and n the sum of all counts, no
mixture is more likely than

    l(x) + sum of m_g (largest g_k in group g) - n

so that one knows how far away the maximum is, and can stop as soon as it is known to be above or
below a threshold.  One step of the constrained Newton method:

    1. components at local maxima of the gradient join the support;
    2. near x, -2 l is the quadratic function |sqrt(c) (S y - 2)|^2 with S_ik = M_ik / D_i, which is
       minimised over y on the support by an active set;
    3. the step towards y is halved until the likelihood grows.

The best mixture has few components, which is why it is found in a few steps where expectation
maximisation needs thousands.

Source: Y. Wang 2007.
"""

from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.maths.em import Sliding

_TOLERANCE = 1e-3  # of the log-likelihood of all counts
_MAX_STEPS = 200
_RIDGE = 1e-10  # of the diagonal: neighbouring components are nearly the same
_LEAST_STEP = 1e-8
_ENOUGH = 0.3  # of the gain that the gradient promises, which a step must bring


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights of some components; ``most`` bounds the log-likelihood of any mixture."""

    support: Ints
    weights: Floats
    log_likelihood: float = -np.inf
    most: float = np.inf

    def weight_of(self, components: Bools) -> float:
        """Return the weight of the marked components."""
        return float(self.weights[components[self.support]].sum())


@dataclass(frozen=True, eq=False)
class ComponentGroups:
    """The group of every component, and the weight of every group, which is above 0.

    Components of group -1 are left out.
    """

    group_of: Ints
    weights: Floats

    @classmethod
    def one(cls, size: int) -> "ComponentGroups":
        """Return a single group of all components."""
        return cls(np.zeros(size, np.int64), np.ones(1))

    @classmethod
    def split(cls, marked: Bools, weight: float) -> "ComponentGroups":
        """Return two groups: the marked components have a ``weight``, the others the rest."""
        if weight <= 0:
            return cls(np.where(marked, -1, 0), np.ones(1))
        if weight >= 1:
            return cls(np.where(marked, 0, -1), np.ones(1))
        return cls(np.where(marked, 0, 1), np.array([weight, 1 - weight]))

    def indicator(self, components: Ints) -> Floats:
        """Return (groups, components): 1 where a component belongs to a group."""
        groups = np.arange(len(self.weights))[:, None]
        return np.asarray(self.group_of[components] == groups, np.float64)

    def largest(self, gradient: Floats) -> Floats:
        """Return the largest gradient of every group."""
        return np.array(
            [gradient[self.group_of == group].max() for group in range(len(self.weights))]
        )

    def feasible(self, start: Mixture) -> Mixture:
        """Return a mixture near another one that has the weights of the groups."""
        support, weights = start.support, start.weights.copy()
        weights[self.group_of[support] < 0] = 0.0
        for group, weight in enumerate(self.weights.tolist()):
            inside = self.group_of[support] == group
            total = weights[inside].sum()
            if total > 0:
                weights[inside] *= weight / total
            else:
                members = np.flatnonzero(self.group_of == group)
                distances = np.abs(members[:, None] - start.support).min(axis=1)
                support = np.append(support, members[distances.argmin()])
                weights = np.append(weights, weight)
        return _positive(support, weights)


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """Counts, and the channel whose columns are the components."""

    counts: Floats
    channel: Sliding

    @property
    def size(self) -> int:
        """Return the number of components."""
        return len(self.counts) - self.channel.window + 1

    def best(
        self,
        groups: ComponentGroups | None = None,
        start: Mixture | None = None,
        threshold: float | None = None,
    ) -> Mixture:
        """Return the most likely mixture.

        With a ``threshold`` the search ends as soon as a mixture is at least as likely as that, or
        none can be.
        """
        groups = groups or ComponentGroups.one(self.size)
        middle = Mixture(np.array([self.size // 2]), np.ones(1))
        mixture = groups.feasible(start or middle)
        chances = self._columns(mixture.support) @ mixture.weights
        for _ in range(_MAX_STEPS):
            gradient = self.channel.backward(self.counts / chances)
            mixture = self._assessed(mixture, chances, gradient, groups)
            if _decided(mixture, threshold):
                break
            longer = self._step(mixture, chances, gradient, groups)
            if longer is None:
                break
            mixture, chances = longer
        return mixture

    def _assessed(
        self, mixture: Mixture, chances: Floats, gradient: Floats, groups: ComponentGroups
    ) -> Mixture:
        """Return the mixture with its log-likelihood and the bound of all others."""
        log_likelihood = float(self.counts @ np.log(chances))
        slack = float(groups.weights @ groups.largest(gradient)) - float(self.counts.sum())
        return replace(mixture, log_likelihood=log_likelihood, most=log_likelihood + slack)

    def _step(
        self, mixture: Mixture, chances: Floats, gradient: Floats, groups: ComponentGroups
    ) -> tuple[Mixture, Floats] | None:
        """Return a more likely mixture and its chances; None if there is none within reach."""
        joining = _joining(mixture, gradient, groups)
        support = np.append(mixture.support, joining)
        weights = np.append(mixture.weights, np.zeros(len(joining)))
        ratios = self._columns(support) / chances[:, None]
        weighted = self.counts[:, None] * ratios
        curvature = ratios.T @ weighted
        curvature[np.diag_indices_from(curvature)] *= 1 + _RIDGE
        constraints = groups.indicator(support)
        target = _least_squares(curvature, 2 * weighted.sum(axis=0), weights, constraints)
        gain = float(gradient[support] @ (target - weights))
        change = chances * (ratios @ target) - chances
        part = 1.0
        while part > _LEAST_STEP:
            moved = chances + part * change
            if (moved > 0).all():
                log_likelihood = float(self.counts @ np.log(moved))
                if log_likelihood >= mixture.log_likelihood + _ENOUGH * part * gain:
                    return _positive(support, weights + part * (target - weights)), moved
            part /= 2
        return None

    def _columns(self, components: Ints) -> Floats:
        """Return (outputs, components): the chance of every output under each component."""
        outputs = np.arange(len(self.counts))[:, None]
        inside = (outputs >= components) & (outputs < components + self.channel.window)
        return np.where(inside, self.channel.inside, self.channel.outside)


def _decided(mixture: Mixture, threshold: float | None) -> bool:
    if threshold is not None and (mixture.log_likelihood >= threshold or mixture.most < threshold):
        return True
    return mixture.most - mixture.log_likelihood < _TOLERANCE


def _positive(support: Ints, weights: Floats) -> Mixture:
    """Return the mixture without components of weight 0, in order."""
    positive = np.flatnonzero(weights > 0)
    order = positive[support[positive].argsort()]
    return Mixture(support[order], weights[order])


def _joining(mixture: Mixture, gradient: Floats, groups: ComponentGroups) -> Ints:
    """Return the components at local maxima of the gradient within stretches of one group."""
    indicator = groups.indicator(mixture.support)
    levels = indicator @ (mixture.weights * gradient[mixture.support]) / groups.weights
    group_of = groups.group_of
    same = group_of[1:] == group_of[:-1]
    above_left = np.concatenate([[True], ~same | (gradient[1:] >= gradient[:-1])])
    above_right = np.concatenate([~same | (gradient[:-1] > gradient[1:]), [True]])
    above_level = gradient > np.where(group_of >= 0, levels[group_of], np.inf)
    peaks = np.flatnonzero(above_left & above_right & above_level)
    return np.setdiff1d(peaks, mixture.support)


def _least_squares(curvature: Floats, slope: Floats, start: Floats, constraints: Floats) -> Floats:
    """Return the minimum of y'Ay / 2 - b'y over y >= 0 with the sums of ``start``, by active set.

    Each round solves the equations of the free weights; those that turn negative stop at 0.
    """
    weights = start.copy()
    sums = constraints @ start
    free = np.arange(len(start))
    while True:
        rows = constraints[:, free]
        corner = np.zeros((len(rows), len(rows)))
        system = np.block([[curvature[np.ix_(free, free)], rows.T], [rows, corner]])
        solved = np.linalg.solve(system, np.append(slope[free], sums))[: len(free)]
        below = solved < 0
        if not below.any():
            weights[free] = solved
            return weights
        now = weights[free]
        reaches = np.where(below, now / np.where(below, now - solved, 1.0), np.inf)
        moved = np.maximum(now + reaches.min() * (solved - now), 0.0)
        stopped = reaches <= reaches.min()
        weights[free] = np.where(stopped, 0.0, moved)
        free = free[~stopped]
