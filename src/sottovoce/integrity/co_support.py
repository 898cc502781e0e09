"""Which values are supported together: a test of every pair of the largest estimates.

Honest reports support two values u and v together with a probability that is linear in the shares f
of people who hold them.  With a = P[both | one is held], b = P[both | neither is held],

    Cov[1_u, 1_v] = b - q^2 + (a - b - q (p - q)) (f_u + f_v) - (p - q)^2 f_u f_v

The sum over reports of the products of 1_u and 1_v, each less its mean, is compared with that and
divided by its standard deviation: a standard normal number z_uv.  The last term is left out unless
both values are certainly held.  The largest of many estimates are chosen by their noise, which
would enter it; products of centred numbers do not mind that choice.

Of independent pairs, the matrix of all z_uv is a random symmetric matrix, whose largest eigenvalue
lies at the edge of the semicircle, 2 sqrt(K), with fluctuations of K^(-1/6) after the law of Tracy
and Widom.  Values that false reports promote together stick out as a block, and the eigenvector
shows which they are.

Where all reports support equally many values, pairs depend on each other, and no sum over them
varies more than ``spread`` times as much as if they were independent.  The largest eigenvalue is
then at most sqrt(spread) times as large (Sudakov and Fernique), and is divided by that.

Source: Tracy and Widom 1996; Vershynin 2018, section 7.2; docs/integrity.md.
"""

from dataclasses import dataclass
from math import exp, pi, sqrt

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.plausibility import FALSE_ALARM, PairLaw, PlausibilityTest
from sottovoce.integrity.candidates import Candidates
from sottovoce.maths import hashing
from sottovoce.maths.bisection import bisect

NAME = "co-support"
MIN_PAIR_COUNT = 25  # expected reports that support a pair: fewer are far from normal
MIN_VALUES = 4
CERTAIN = 8.0  # standard errors at which a value is certainly held by somebody
_EDGE_POWER = -1 / 6
_CORE = 0.5  # part of the largest entry of the eigenvector, and of the mean score of its core


@dataclass(frozen=True, eq=False)
class CoSupport:
    """The test, the scores of all pairs, and the members of the block that sticks out."""

    test: PlausibilityTest
    scores: Floats  # (candidates, candidates)
    members: Ints  # indices of candidates; empty without an alarm


def co_support(candidates: Candidates, alpha: float = FALSE_ALARM) -> CoSupport | None:
    """Return the test of pairs; None where the pairs or the reports are too few for it."""
    law = candidates.mechanism.pair_law
    if law is None or candidates.users * law.none_held < MIN_PAIR_COUNT:
        return None
    tested = np.zeros(len(candidates), bool)
    tested[_unrelated(candidates)] = True
    if np.count_nonzero(tested) < MIN_VALUES:
        return None
    scores = pair_scores(candidates, law)
    eigenvalues, vectors = np.linalg.eigh(scores[np.ix_(tested, tested)])
    count = int(np.count_nonzero(tested))
    edge = 2 * sqrt(count)
    width = count**_EDGE_POWER
    statistic = float(eigenvalues[-1]) / sqrt(law.spread)
    p_value = min(1.0, tracy_widom_tail((statistic - edge) / width))
    threshold = edge + width * tracy_widom_quantile(alpha)
    test = PlausibilityTest(NAME, statistic, threshold, p_value, candidates.users)
    found = np.zeros(0, np.int64)
    if test.alarm:
        found = _members(scores, np.flatnonzero(tested), vectors[:, -1])
    return CoSupport(test, scores, found)


def _unrelated(candidates: Candidates) -> Ints:
    """Return the indices of the candidates whose pairs are tested."""
    values = np.asarray(candidates.values)
    chosen = set(hashing.numbers_of(np.asarray(candidates.mechanism.unrelated(values))))
    numbers = hashing.numbers_of(values)
    return np.flatnonzero([number in chosen for number in numbers])


def pair_scores(candidates: Candidates, law: PairLaw) -> Floats:
    """Return the standard normal score of every pair of candidates, 0 on the diagonal."""
    p, q = candidates.mechanism.p, candidates.mechanism.q
    users = candidates.users
    means = candidates.pairs.diagonal() / users
    both = candidates.pairs / users
    shares = candidates.shares
    certain = np.where(candidates.above(CERTAIN), shares, 0.0)
    expected = (
        law.none_held
        - q**2
        + (law.one_held - law.none_held - q * (p - q)) * (shares[:, None] + shares[None, :])
        - (p - q) ** 2 * certain[:, None] * certain[None, :]
    )
    covariance = both - means[:, None] * means[None, :]
    scores = sqrt(users) * (covariance - expected) / np.sqrt(_variances(both, means))
    np.fill_diagonal(scores, 0.0)
    return np.asarray(scores)


def _variances(both: Floats, means: Floats) -> Floats:
    """Return the variance of the product of two centred supports, for every pair."""
    first, second = means[:, None], means[None, :]
    only_first = first - both
    only_second = second - both
    neither = 1 - first - second + both
    squares = (
        both * (1 - first) ** 2 * (1 - second) ** 2
        + only_first * (1 - first) ** 2 * second**2
        + only_second * first**2 * (1 - second) ** 2
        + neither * first**2 * second**2
    )
    return np.asarray(np.maximum(squares - (both - first * second) ** 2, 1e-12))


def _members(scores: Floats, tested: Ints, vector: Floats) -> Ints:
    """Return the candidates that are supported together with the core of the eigenvector."""
    turned = vector * np.sign(vector[np.argmax(np.abs(vector))])
    core = tested[turned > _CORE * turned.max()]
    within = scores[np.ix_(core, core)]
    level = _CORE * within.sum() / max(len(core) * (len(core) - 1), 1)
    others = len(core) - np.isin(np.arange(len(scores)), core)
    means = scores[:, core].sum(axis=1) / np.maximum(others, 1)
    return np.flatnonzero(means > level)


def tracy_widom_tail(distance: float) -> float:
    """Return the probability beyond a distance above the edge, by its leading term.

    1 - F_1(s) ~ exp(-2 s^(3/2) / 3) / (4 sqrt(pi) s^(3/4))        for large s
    """
    if distance <= 0.5:
        return 1.0
    return float(exp(-2 * distance**1.5 / 3) / (4 * sqrt(pi) * distance**0.75))


def tracy_widom_quantile(tail: float) -> float:
    """Return the distance above the edge that is exceeded with a small probability.

    >>> round(tracy_widom_quantile(1e-6), 2)
    6.28
    """
    return bisect(lambda distance: tracy_widom_tail(distance) > tail, 1.0, 60.0).high
