"""Single attributes: noisy shares are shrunken towards the typical shares of all attributes.

A share is reported with normal noise of variance s^2.  The shares of all attributes with equally
many values are taken for draws from one Beta law:

    two values     the shares of the second value follow Beta(a, b)
    v values       each share follows Beta(a, (v - 1) a), which has the mean 1 / v

Which a and b is not known: every pair of a grid counts as much as it explains what was reported
(the likelihood of all shares of the group).  The estimate is the mean of the share given its
report, and the error its variance.  Where noise is small next to the differences of shares, the
estimate is the report itself; where noise is large, it is what attributes have in common, and it is
never outside 0 to 1.

Source: Efron and Morris 1973, section 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import lgamma

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.marginals.marginal_table import View
from sottovoce.postprocess.norm_sub import norm_sub

_CONCENTRATIONS = np.geomspace(0.3, 60.0, 16)
_REACH = 6.0  # of the integral over a share, in standard errors
# Nodes between 0 and 1, and their weights: t^3 (6 t^2 - 15 t + 10) for t in equal steps.  They are
# dense at both ends, where the density of a Beta law may be infinite.
_EQUAL = (np.arange(64) + 0.5) / 64
_STEPS = _EQUAL**3 * (6 * _EQUAL**2 - 15 * _EQUAL + 10)
_STEP_LENGTHS = 30 * _EQUAL**2 * (1 - _EQUAL) ** 2


@dataclass(frozen=True, eq=False)
class SingleAttribute:
    """The estimated shares of an attribute.

    ``belief`` is their variance, given the reports, over the variance of the reports.
    """

    shares: Floats
    belief: float


def shrink_singles(
    reported: Mapping[View, Floats], variances: Mapping[View, float]
) -> dict[View, SingleAttribute]:
    """Return the estimates of all attributes; ``variances`` are those of a single share."""
    by_size: dict[int, list[View]] = {}
    for attribute, shares in reported.items():
        by_size.setdefault(len(shares), []).append(attribute)
    singles: dict[View, SingleAttribute] = {}
    for values, group in by_size.items():
        first = 1 if values == 2 else 0  # the shares of two values are one number
        shares = np.concatenate([reported[attribute][first:] for attribute in group])
        noise = np.repeat([variances[attribute] for attribute in group], values - first)
        law = SingleShares(shares, noise, values)
        means = law.mean.reshape(len(group), -1)
        beliefs = (law.variance / noise).reshape(len(group), -1).mean(axis=1)
        if values == 2:
            means = np.column_stack([1 - means, means])
        for attribute, mean, belief in zip(group, means, beliefs, strict=True):
            singles[attribute] = SingleAttribute(norm_sub(mean), float(belief))
    return {attribute: singles[attribute] for attribute in reported}


@dataclass(frozen=True, eq=False)
class SingleShares:
    """Shares of attributes with ``values`` values as they were reported, and their variances.

    Of attributes of two values ``reported`` has the shares of the second value, of all others the
    shares of every value.
    """

    reported: Floats
    variances: Floats
    values: int

    @cached_property
    def mean(self) -> Floats:
        """Return the expected shares, given the reports."""
        return self._expected(self._nodes)

    @cached_property
    def variance(self) -> Floats:
        """Return the variances of the shares, given the reports."""
        return self._expected((self._nodes - self.mean[:, None]) ** 2)

    def _expected(self, function: Floats) -> Floats:
        """Return the mean of a function of the nodes, given the reports."""
        joint = self._joint
        per_law = np.einsum("lsn,sn->ls", joint, function) / joint.sum(axis=2)
        return np.asarray(self._law_chances @ per_law)

    @cached_property
    def _nodes(self) -> Floats:
        """Return (shares, nodes): integration nodes for every share, around the reported one."""
        centre = np.clip(self.reported, 0.0, 1.0)
        reach = _REACH * np.sqrt(self.variances)
        low = np.maximum(centre - reach, 0.0)
        high = np.minimum(centre + reach, 1.0)
        return np.asarray(low[:, None] + (high - low)[:, None] * _STEPS)

    @cached_property
    def _joint(self) -> Floats:
        """Return (laws, shares, nodes): density of share and report, up to a factor per share."""
        nodes = self._nodes
        distances = (nodes - self.reported[:, None]) ** 2 / self.variances[:, None]
        likelihood = -0.5 * (distances - distances.min(axis=1, keepdims=True))
        logs, other_logs = np.log(nodes), np.log1p(-nodes)
        rows = [
            (first - 1) * logs + (second - 1) * other_logs - _log_beta(first, second)
            for first, second in self._laws
        ]
        return np.asarray(np.exp(np.stack(rows) + likelihood) * _STEP_LENGTHS)

    @property
    def _laws(self) -> list[tuple[float, float]]:
        """Return the two parameters of every law that is considered."""
        if self.values == 2:
            return list(product(_CONCENTRATIONS.tolist(), repeat=2))
        return [(first, (self.values - 1) * first) for first in _CONCENTRATIONS.tolist()]

    @cached_property
    def _law_chances(self) -> Floats:
        """Return how well each law explains all reports, as shares."""
        logs = np.log(self._joint.sum(axis=2)).sum(axis=1)
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())


def _log_beta(first: float, second: float) -> float:
    return lgamma(first) + lgamma(second) - lgamma(first + second)
