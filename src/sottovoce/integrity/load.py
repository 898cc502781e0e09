"""Who takes the fullest bucket: a test of whether reports follow what their hashes make of values.

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

from sottovoce.arrays import Bools, Ints
from sottovoce.core.plausibility import FALSE_ALARM, PlausibilityTest, PublicHash
from sottovoce.integrity.candidates import Candidates

if TYPE_CHECKING:
    from sottovoce.kernels.loads import LoadSums

NAME = "load"
STANDING_OUT = 3.0  # standard errors of a value that may be a suspect
MIN_SUSPECTS = 3  # with fewer, both functions are nearly linear
MAX_SEARCHED = 1 << 15  # reports that the search looks at; the test looks at all
_MOST_PROMISING = 3
_REMARKABLE = -4.5  # the logarithm of the tail of three standard deviations
_NO_VARIANCE = 1e-6  # per report: both functions are linear where none is left


@dataclass(frozen=True, eq=False)
class Load:
    """The test, and the candidates whose fullest bucket is named too often."""

    test: PlausibilityTest
    members: Ints


def load(candidates: Candidates, alpha: float = FALSE_ALARM) -> Load | None:
    """Return the test of loads; None without a public hash or with too few values to suspect."""
    hashed = candidates.hashed
    standing = candidates.above(STANDING_OUT) & ~candidates.common
    count = int(np.count_nonzero(standing))
    if hashed is None or count < MIN_SUSPECTS:
        return None
    searched = _search(_sampled(candidates, hashed), standing)
    tails = [_log_tail(candidates, members) for members in searched]
    best = int(np.argmin(tails))
    # Both functions of every subset are counted.
    comparisons = log(2) * (count + 1)
    p_value = exp(min(0.0, tails[best] + comparisons))
    threshold = _deviations(log(alpha) - comparisons)
    test = PlausibilityTest(NAME, _deviations(tails[best]), threshold, p_value, candidates.users)
    members = np.flatnonzero(searched[best]) if test.alarm else np.zeros(0, np.int64)
    return Load(test, members)


def _search(candidates: Candidates, standing: Bools) -> list[Bools]:
    """Return the most promising sets among the values that stand out.

    At each step the values without which the rest is the least plausible are left out, a quarter
    of them at a time.  If one of the nested sets is remarkable, single values are then put in or
    out.
    """
    members = standing.copy()
    nested = [members.copy()]
    tails = [_log_tail(candidates, members)]
    while np.count_nonzero(members) > MIN_SUSPECTS:
        inside = np.flatnonzero(members)
        without = [_log_tail(candidates, _toggled(members, int(value))) for value in inside]
        most = min(max(1, len(inside) // 4), len(inside) - MIN_SUSPECTS)
        members[inside[np.argsort(without, kind="stable")[:most]]] = False
        nested.append(members.copy())
        tails.append(_log_tail(candidates, members))
    order = np.argsort(tails, kind="stable")[:_MOST_PROMISING]
    promising = [nested[index] for index in order]
    if tails[order[0]] < _REMARKABLE:
        promising.append(_refined(candidates, promising[0], standing))
    return promising


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
    from sottovoce.kernels.loads import load_sums

    hashed = candidates.hashed
    assert hashed is not None
    sums = load_sums(hashed.table, hashed.answers, hashed.buckets, members)
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
    if difference <= 0 or variance <= _NO_VARIANCE * users:
        return 0.0
    largest = sums.largest + np.abs(slopes).sum() + abs(constant)
    # P[sum >= d] <= exp(-d^2 / (2 (variance + largest d / 3)))
    return float(-(difference**2) / (2 * (variance + largest * difference / 3)))


def _sampled(candidates: Candidates, hashed: PublicHash) -> Candidates:
    """Return at most ``MAX_SEARCHED`` of the reports, which nobody could foresee."""
    users = len(hashed.answers)
    if users <= MAX_SEARCHED:
        return candidates
    words = int(np.bitwise_xor.reduce(np.asarray(hashed.table, np.uint16), axis=0).sum())
    generator = np.random.default_rng(
        [words, users, int(np.asarray(hashed.answers, np.int64).sum())]
    )
    chosen = np.sort(generator.choice(users, MAX_SEARCHED, replace=False))
    table, answers = hashed.table[chosen], hashed.answers[chosen]
    supports = (table == answers[:, None]).astype(np.float32)
    part = PublicHash(table, answers, hashed.buckets, hashed.p, hashed.q, hashed.points)
    return Candidates(
        candidates.mechanism,
        candidates.values,
        MAX_SEARCHED,
        (supports.T @ supports).astype(float),
        part,
    )


def _deviations(log_tail: float) -> float:
    """Return how many standard deviations have this tail by the bound for normal numbers."""
    return sqrt(-2 * log_tail)
