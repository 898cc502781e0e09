"""Power: the posterior mean of a share given its estimate, if shares follow a power law.

The prior gives count k = 1 to n a weight of k^-a, and a is fitted to the mean of the shares.  With
raw count c and standard error d

    posterior mean = sum of k w_k / sum of w_k        w_k = k^-a e^(-(k - c)^2 / (2 d^2))

It has the least error on data that look like a power law, and a larger one than Base on flat data.
Large shares hardly change, small ones shrink towards 0.  The result does not sum to 1, so PowerNS
goes on from here.

The sums over k are weighted sums over few nodes: small counts one by one, larger ones by Gauss
quadrature from half a count before to half a count after, with the next term of Euler and Maclaurin
at the ends.

Source: Wang et al. 2020, section IV-E.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess import power_law
from sottovoce.postprocess.base import PostProcessor, Rule, checked_shares, unheld_deviation

_REACH = 10.0  # standard errors around an estimate beyond which no count has weight
_MIN_SMOOTH = 4.0  # counts: with a smaller deviation all counts within reach are summed one by one
_BLOCK = 2048  # estimates whose weights are in memory together


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The counts at which a sum is evaluated, and the weight of each."""

    counts: Floats
    weights: Floats


def power(raw: Floats, deviation: float, users: int, exponent: float | None = None) -> Floats:
    """Return posterior means; ``deviation`` is the standard error of a share.

    The ``exponent`` is fitted if it is left out.

    >>> power([0.5, 0.3, 0.2, 0.1, -0.1], deviation=0.05, users=1000).round(3).tolist()
    [0.496, 0.293, 0.188, 0.07, 0.008]
    """
    raw = checked_shares(raw)
    settings.positive("deviation", deviation)
    settings.whole("users", users, 1)
    fitted: Any = exponent
    if exponent is None:
        fitted = power_law.exponent(users * raw.mean(axis=-1, keepdims=True), users)
    counts = (users * raw).ravel()
    exponents = np.broadcast_to(fitted, raw.shape).ravel()
    return _posterior_means(counts, exponents, users * deviation, users).reshape(raw.shape) / users


def rule_for(estimate: Estimate, exponent: float | None = None) -> Rule:
    """Return the rule for this estimate's noise."""
    deviation = unheld_deviation(estimate)
    return Rule("power", lambda raw: power(raw, deviation, estimate.users, exponent))


def _posterior_means(counts: Floats, exponents: Floats, deviation: float, users: int) -> Floats:
    """Return the posterior mean of each count.

    Counts near 0 share their nodes; every other count has nodes of its own.
    """
    reach = _REACH * deviation
    counts = np.minimum(counts, users + reach)  # further beyond n the posterior no longer changes
    is_near = np.ones(len(counts), np.bool_)
    if users + 0.5 > 2 * reach:
        is_near = counts <= reach
    means = np.empty_like(counts)
    shared = _shared_nodes(deviation, users)
    for block in _blocks(np.flatnonzero(is_near)):
        means[block] = _means(counts[block, None], exponents[block, None], deviation, shared)
    for block in _blocks(np.flatnonzero(~is_near)):
        own = _nodes_around(counts[block, None], deviation, users)
        means[block] = _means(counts[block, None], exponents[block, None], deviation, own)
    return means


def _means(counts: Floats, exponents: Floats, deviation: float, nodes: _Nodes) -> Floats:
    """Return sum of k w_k / sum of w_k over the nodes, with w_k computed in logarithms."""
    # Relative to the weight at ``centre`` no exponential vanishes:
    #   (centre - c)^2 - (k - c)^2 = (k - centre) (2 c - centre - k)
    centre = np.maximum(counts, 0.0)
    squares = (nodes.counts - centre) * (2 * counts - centre - nodes.counts)
    logs = squares / (2 * deviation**2) - exponents * np.log(nodes.counts)
    logs -= logs.max(axis=1, keepdims=True)
    weights = np.exp(logs, out=logs)
    weights *= nodes.weights
    return np.asarray((weights * nodes.counts).sum(axis=1) / weights.sum(axis=1))


def _shared_nodes(deviation: float, users: int) -> _Nodes:
    """Return nodes from 1 to twice the reach: single counts, then panels of smooth weights."""
    summed = np.arange(1.0, min(users, power_law.SUMMED_COUNTS) + 1)
    end = min(users + 0.5, 2 * _REACH * deviation)
    edges = [summed[-1] + 0.5]
    while edges[-1] < end:
        # Within a panel neither the power law nor the normal law changes much.
        width = min(edges[-1] / 2, 1.5 * deviation)
        edges.append(min(end, edges[-1] + width))
    panels = _panels(np.array(edges[:-1])[:, None], np.array(edges[1:])[:, None], 8)
    parts = [
        _Nodes(summed, np.ones_like(summed)),
        _Nodes(panels.counts.ravel(), panels.weights.ravel()),
        _end_correction(edges[-1], 1),
        _end_correction(edges[0], -1),
    ]
    return _Nodes(
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _nodes_around(counts: Floats, deviation: float, users: int) -> _Nodes:
    """Return (counts, nodes): nodes within reach of each count."""
    middle = np.minimum(counts, users)
    reach = _REACH * deviation
    if deviation < _MIN_SMOOTH:
        offsets = np.arange(-np.ceil(reach), np.ceil(reach) + 1)
        neighbours = np.rint(middle) + offsets
        possible = np.clip(neighbours, 1, users)
        return _Nodes(possible, np.where(neighbours == possible, 1.0, 0.0))
    high = np.minimum(middle + reach, users + 0.5)
    panel = _panels(middle - reach, high, 64)
    end = _end_correction(high, 1)
    end_weights = np.broadcast_to(end.weights, end.counts.shape)
    return _Nodes(np.hstack([panel.counts, end.counts]), np.hstack([panel.weights, end_weights]))


def _end_correction(edge: Any, side: int) -> _Nodes:
    """Return the correction of an integral to a sum at its last edge: f' / 24 at the edge.

    The derivative is the difference of two counts.
    """
    return _Nodes(edge + np.array([-0.5, 0.5]), side * np.array([1.0, -1.0]) / 24)


def _panels(low: Floats, high: Floats, count: int) -> _Nodes:
    """Return Gauss-Legendre nodes between bounds."""
    points, weights = _gauss(count)
    half = (high - low) / 2
    return _Nodes(low + half * (1 + points), half * weights)


@cache
def _gauss(count: int) -> tuple[Floats, Floats]:
    points, weights = np.polynomial.legendre.leggauss(count)
    return np.asarray(points), np.asarray(weights)


def _blocks(indices: Ints) -> Iterator[Ints]:
    for start in range(0, len(indices), _BLOCK):
        yield indices[start : start + _BLOCK]


METHOD = PostProcessor(
    "power", "for few frequent and many rare values", rule_for, needs_equal_errors=True
)
