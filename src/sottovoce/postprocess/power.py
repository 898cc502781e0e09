"""Power: the mean of the share given its estimate, if shares follow a power law that is fitted to their mean.

The least error on data that look like a power law, and more than Base on flat ones.  Large shares hardly change, small
ones shrink towards 0; the result does not sum to 1, so PowerNS goes on from here.

The prior is k^-a on counts k = 1 to n.  Small counts are summed one by one, larger ones by Gauss quadrature from half a
count before to half a count after, with the next term of Euler and Maclaurin at the ends.

Source: Wang et al. 2020, section IV-E.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.postprocess import power_law
from sottovoce.postprocess.method import Method
from sottovoce.postprocess.rule import Rule, finite, sigma

_REACH = 10.0  # standard errors around an estimate beyond which no count has weight
_COARSE = 4.0  # counts: below this deviation all counts within reach are summed one by one
_TOGETHER = 2048  # estimates whose weights are materialised together


def power(raw: Floats, deviation: float, users: int, exponent: float | None = None) -> Floats:
    """Return posterior means; ``deviation`` is the standard error of a share, ``exponent`` is fitted if left out.

    >>> power([0.5, 0.3, 0.2, 0.1, -0.1], deviation=0.05, users=1000).round(3).tolist()
    [0.496, 0.293, 0.188, 0.07, 0.008]
    """
    raw = finite(raw)
    if not deviation > 0 or users < 1:
        raise ParameterError("a posterior mean needs users and noise")
    fitted = power_law.exponent(users * raw.mean(axis=-1, keepdims=True), users) if exponent is None else exponent
    counts, exponents = (users * raw).ravel(), np.broadcast_to(fitted, raw.shape).ravel()
    return _means(counts, exponents, users * deviation, users).reshape(raw.shape) / users


def rule_for(estimate: Estimate, exponent: float | None = None) -> Rule:
    """Return the rule for this estimate's noise."""
    deviation = sigma(estimate)
    return Rule("power", lambda raw: power(raw, deviation, estimate.users, exponent))


def _means(counts: Floats, exponents: Floats, deviation: float, users: int) -> Floats:
    """Return the posterior mean of each count: on nodes common to all counts near 0, on its own nodes elsewhere."""
    counts = np.minimum(counts, users + _REACH * deviation)  # so far beyond everybody only chance matters
    means = np.empty_like(counts)
    near = counts <= _REACH * deviation if users + 0.5 > 2 * _REACH * deviation else np.ones(len(counts), np.bool_)
    common = _common(deviation, users)
    for some in _blocks(np.flatnonzero(near)):
        means[some] = _mean(counts[some, None], exponents[some, None], deviation, *common)
    for some in _blocks(np.flatnonzero(~near)):
        own = _around(counts[some, None], deviation, users)
        means[some] = _mean(counts[some, None], exponents[some, None], deviation, *own)
    return means


def _mean(counts: Floats, exponents: Floats, deviation: float, places: Floats, weights: Floats) -> Floats:
    centre = np.maximum(counts, 0.0)  # in logs, relative to this place, nothing vanishes
    logs = (places - centre) * (2 * counts - centre - places) / (2 * deviation**2) - exponents * np.log(places)
    logs -= logs.max(axis=1, keepdims=True)
    chances = np.exp(logs, out=logs)
    chances *= weights
    return np.asarray((chances * places).sum(axis=1) / chances.sum(axis=1))


def _common(deviation: float, users: int) -> tuple[Floats, Floats]:
    """Return places and weights from 1 to twice the reach: counts, then panels in which law and noise are smooth."""
    listed = np.arange(1.0, min(users, power_law.LISTED) + 1)
    end, edges = min(users + 0.5, 2 * _REACH * deviation), [listed[-1] + 0.5]
    while edges[-1] < end:
        edges.append(min(end, edges[-1] + min(edges[-1] / 2, 1.5 * deviation)))
    places, weights = _panels(np.array(edges[:-1])[:, None], np.array(edges[1:])[:, None], 8)
    parts = [(listed, np.ones_like(listed)), (places.ravel(), weights.ravel()), _end(edges[-1], 1), _end(edges[0], -1)]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _around(counts: Floats, deviation: float, users: int) -> tuple[Floats, Floats]:
    """Return (counts, nodes) places and weights within reach of each count."""
    middle, reach = np.minimum(counts, users), _REACH * deviation
    if deviation < _COARSE:
        places = np.rint(middle) + np.arange(-np.ceil(reach), np.ceil(reach) + 1)
        inside = np.clip(places, 1, users)
        return inside, np.where(places == inside, 1.0, 0.0)
    high = np.minimum(middle + reach, users + 0.5)
    (places, weights), (ends, slopes) = _panels(middle - reach, high, 64), _end(high, 1)
    return np.hstack([places, ends]), np.hstack([weights, np.broadcast_to(slopes, ends.shape)])


def _end(edge: Any, side: int) -> tuple[Floats, Floats]:
    """Return what the last edge of an integral adds to make it a sum: f' / 24 there, as a difference of two counts."""
    return edge + np.array([-0.5, 0.5]), side * np.array([1.0, -1.0]) / 24


def _panels(low: Floats, high: Floats, nodes: int) -> tuple[Floats, Floats]:
    points, weights = _gauss(nodes)
    half = (high - low) / 2
    return low + half * (1 + points), half * weights


@cache
def _gauss(nodes: int) -> tuple[Floats, Floats]:
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return np.asarray(points), np.asarray(weights)


def _blocks(places: Ints) -> Iterator[Ints]:
    for start in range(0, len(places), _TOGETHER):
        yield places[start : start + _TOGETHER]


METHOD = Method("power", "for few frequent and many rare values", rule_for, needs_equal_errors=True)
