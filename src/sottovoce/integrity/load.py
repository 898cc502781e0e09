"""Load test: whether reports name full buckets of their hash more often than honest ones do.

The hash of a report is public.  It deals a set T of values to buckets; honest people name the
bucket of what they hold, so that the demand for a bucket is linear in the values that it got.  With
a function phi of the bucket and its mean over all buckets, a report with public hash H has

    E[phi(bucket named)] = mean + gap * sum over t of f_t (phi(H(t)) - mean)

for every population f.  False reports that promote several values at once name the bucket with the
most of them, which is not linear.  The unbiased votes of the same reports stand for f, so that the
difference of both sides is a sum of independent terms of mean 0.  It is compared with its own
spread for two functions: whether the bucket is the fullest, and how many pairs of T it has.

T is searched by leaving out one value after another.  The search may look at the reports because
the p-value counts every subset of the values that stand out.  Bernstein's inequality bounds it.
"""

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.plausibility import FALSE_ALARM, PlausibilityTest, PublicHash
from sottovoce.integrity.candidates import Candidates
from sottovoce.maths.normal import upper_quantile

if TYPE_CHECKING:
    from sottovoce.kernels.loads import LoadSums

NAME = "load"
STANDING_OUT = 3.0  # standard errors of a value that may be a suspect, at least
MOST_BY_NOISE = 2.0  # values that may stand out by noise alone, on average
# Part of the spread that supports do not explain.  Some functions of few values are linear in what
# is supported: with two buckets, the majority of u, v and w is, because u + v + w is a value too.
MIN_UNEXPLAINED = 0.05
MIN_SUSPECTS = 3  # with fewer, both functions are nearly linear
MAX_SEARCHED = 1 << 16  # of many reports, how many the search looks at; the test looks at all
_MOST_PROMISING = 3
_REMARKABLE = -6.0  # the logarithm of the tail of three and a half standard deviations


@dataclass(frozen=True, eq=False)
class LoadTest:
    """The test, and the candidates whose fullest bucket is named too often."""

    test: PlausibilityTest
    members: Ints


def load(candidates: Candidates, alpha: float = FALSE_ALARM) -> LoadTest | None:
    """Return the test of loads; None without a public hash or with too few values to suspect."""
    hashed = candidates.hashed
    standing = candidates.above(_standing_out(candidates)) & ~candidates.common
    count = int(np.count_nonzero(standing))
    if hashed is None or count < MIN_SUSPECTS:
        return None
    searched = _search(candidates.sampled(MAX_SEARCHED), standing)
    tails = [_log_tail(candidates, members) for members in searched]
    best = int(np.argmin(tails))
    # Both functions of every subset are counted.
    comparisons = log(2) * (count + 1)
    p_value = exp(min(0.0, tails[best] + comparisons))
    threshold = _deviations(log(alpha) - comparisons)
    test = PlausibilityTest(NAME, _deviations(tails[best]), threshold, p_value, candidates.users)
    members = np.flatnonzero(searched[best]) if test.alarm else np.zeros(0, np.int64)
    return LoadTest(test, members)


def _standing_out(candidates: Candidates) -> float:
    """Return the standard errors that noise alone exceeds for two values of the domain or fewer."""
    tail = min(0.5, MOST_BY_NOISE / candidates.mechanism.size)
    return max(STANDING_OUT, upper_quantile(tail))


def _search(candidates: Candidates, standing: Bools) -> list[Bools]:
    """Return the most promising sets among the values that stand out.

    Values are ordered by how much they attract each other (``_attraction``), and the sets of the
    first 3, 4, ... of them are compared.  If one of them is remarkable, single values are then put
    in or out.
    """
    values = np.flatnonzero(standing)
    vector = np.linalg.eigh(_attraction(candidates)[np.ix_(values, values)])[1][:, -1]
    order = values[np.argsort(-vector * np.sign((vector**3).sum()), kind="stable")]
    nested = []
    for count in range(MIN_SUSPECTS, len(order) + 1):
        members = np.zeros(len(standing), bool)
        members[order[:count]] = True
        nested.append(members)
    tails = [_log_tail(candidates, members) for members in nested]
    best = np.argsort(tails, kind="stable")[:_MOST_PROMISING]
    promising = [nested[index] for index in best]
    if tails[best[0]] < _REMARKABLE:
        promising.append(_refined(candidates, promising[0], standing))
    return promising


def _attraction(candidates: Candidates) -> Floats:
    """Return for every pair how often reports name the bucket that both are in, beyond demand.

    With c reports whose hash puts both into one bucket, c / g name it by chance, and the demand for
    both adds gap (f_u + f_v) c (1 - 1/g).  The difference is divided by its standard deviation.
    """
    hashed = candidates.hashed
    assert hashed is not None
    together = np.zeros_like(candidates.pairs)
    for bucket in np.unique(hashed.table):
        inside = (hashed.table == bucket).astype(np.float32)
        together += inside.T @ inside
    chance = 1 / hashed.buckets
    shares = candidates.shares
    demand = hashed.gap * (shares[:, None] + shares[None, :]) * (1 - chance)
    scores = candidates.pairs - together * (chance + demand)
    scores /= np.sqrt(np.maximum(together * chance * (1 - chance), 1.0))
    np.fill_diagonal(scores, 0.0)
    return np.asarray(scores)


def _refined(candidates: Candidates, start: Bools, standing: Bools) -> Bools:
    """Return a set that no value of those that stand out improves by entering or leaving."""
    members = start.copy()
    best = _log_tail(candidates, members)
    improved = True
    while improved:
        improved = False
        for value in np.flatnonzero(standing):
            changed = _toggled(members, int(value))
            if np.count_nonzero(changed) < MIN_SUSPECTS:
                continue
            tail = _log_tail(candidates, changed)
            if tail < best:
                members, best, improved = changed, tail, True
    return members


def _toggled(members: Bools, value: int) -> Bools:
    changed = members.copy()
    changed[value] = not changed[value]
    return changed


def _log_tail(candidates: Candidates, members: Bools) -> float:
    """Return the logarithm of the bound for the less plausible one of both functions."""
    from sottovoce.kernels.loads import Hashed, load_sums

    hashed = candidates.hashed
    assert hashed is not None
    sums = load_sums(Hashed(hashed.table, hashed.answers, hashed.buckets), members)
    return min(_bound(candidates, hashed, each) for each in sums)


def _bound(candidates: Candidates, hashed: PublicHash, sums: "LoadSums") -> float:
    """Return the logarithm of Bernstein's bound for the sum of one function; 0 if it is below 0."""
    users = candidates.users
    others = 0
    if hashed.points and not candidates.covers_domain:
        others = hashed.points - len(candidates)
    # Buckets get equally many of all points: what the candidates have, the others lack.
    lacking = sums.expected.sum() / others if others else 0.0
    # The term of a report is its function, less the slopes of what it supports, plus a constant.
    slopes = hashed.gap * (sums.expected + lacking) / users / (hashed.p - hashed.q)
    constant = hashed.q * slopes.sum() + hashed.gap * lacking / users
    explained = sums.total - slopes @ candidates.pairs.diagonal()
    difference = explained + users * constant
    variance = (
        sums.squares
        - 2 * slopes @ sums.supported
        + slopes @ candidates.pairs @ slopes
        + 2 * constant * explained
        + users * constant**2
    )
    if difference <= 0 or variance <= MIN_UNEXPLAINED * sums.squares:
        return 0.0
    largest = sums.largest + np.abs(slopes).sum() + abs(constant)
    # P[sum >= d] <= exp(-d^2 / (2 (variance + largest d / 3)))
    return float(-(difference**2) / (2 * (variance + largest * difference / 3)))


def _deviations(log_tail: float) -> float:
    """Return how many standard deviations have this tail by the bound for normal numbers."""
    return sqrt(-2 * log_tail)
