"""Amplification by shuffling with SciPy: the sums of ``amplification``, over blocks of draws.

How many blanket draws B the other people contribute is cut into ``blocks``.  In each block the
smallest B counts, because more draws hide better:

    delta(epsilon) <= sum over blocks of P[B in the block] delta_(1 + smallest B + fakes)(epsilon)

With 1 block this is ``amplification``.  With 24 blocks, epsilon lies between 0.02 % and 0.5 % above
known lower bounds (docs/evidence/amplification.md).  Where B has fewer values than there are
blocks, nothing is lost.

Source: Balle et al. 2019, section 5; docs/shuffling.md.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.accounting.amplification import (
    DRAWS_TAIL,
    FIRST_GUESS,
    MARGIN,
    HiddenReport,
    evenly,
    node_count,
    smallest_epsilon,
    with_rest_below,
)
from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.blanket import MAX_BLOCKS, Blanket
from sottovoce.arrays import Floats
from sottovoce.core import settings
from sottovoce.errors import MissingExtraError

_TOP = 0.99  # quantile of B above which one block takes all
_ROUNDING_PER_DRAW = 1e-15  # SciPy rounds 1 - p, and so each of so many factors
_SINGLES_TAIL = 1e-24
_BOTH_TAIL = 1e-12
_CHORD = 0.04
_MAX_SINGLES = 400  # blocks of K
_MAX_NODES = 96  # nodes of N


def delta(blanket: Blanket, batch: ShuffledBatch, epsilon: float, blocks: int) -> float:
    """Return an upper bound of delta at this epsilon."""
    settings.real("epsilon", epsilon, 0)
    settings.whole("blocks", blocks, 1, MAX_BLOCKS)
    first = _Bound(blanket, batch, blocks, FIRST_GUESS).delta(epsilon)
    return min(first, _Bound(blanket, batch, blocks, DRAWS_TAIL * first).delta(epsilon))


def epsilon(blanket: Blanket, batch: ShuffledBatch, delta: float, blocks: int) -> float:
    """Return an upper bound of epsilon at this delta, at most the local epsilon."""
    settings.open_share("delta", delta)
    settings.whole("blocks", blocks, 1, MAX_BLOCKS)
    bound = _Bound(blanket, batch, blocks, DRAWS_TAIL * delta)
    return smallest_epsilon(bound.delta, delta, blanket.epsilon_local)


def delta_near(
    blanket: Blanket, batch: ShuffledBatch, target: tuple[float, float], blocks: int
) -> float:
    """Return an upper bound of delta at the first entry of ``target``, an epsilon.

    It is tightest if delta is near the second entry, and a single evaluation.
    """
    epsilon, delta = target
    return _Bound(blanket, batch, blocks, DRAWS_TAIL * delta).delta(epsilon)


@dataclass(frozen=True)
class _Bound:
    """The blocks of one batch; ``tail`` is the probability of having fewer draws than all."""

    blanket: Blanket
    batch: ShuffledBatch
    blocks: int
    tail: float

    def delta(self, epsilon: float) -> float:
        """Return the bound at an epsilon."""
        if epsilon >= self.blanket.epsilon_local:
            return 0.0
        starts = self._starts
        missing = float(_binomial().cdf(starts[0] - 1, self.batch.others, self.blanket.mass))
        total = missing * HiddenReport(self.blanket, 1, epsilon).delta_alone()
        for start, chance in zip(starts, self._chances, strict=True):
            hidden = HiddenReport(self.blanket, 1 + start + self.batch.fakes, epsilon)
            total += chance * _delta_of_draws(hidden)
        reports = self.batch.users + self.batch.fakes
        return float(min(1.0, (1 + MARGIN + _ROUNDING_PER_DRAW * reports) * total))

    @cached_property
    def _starts(self) -> list[int]:
        """Return the smallest number of draws of each block."""
        others = self.batch.others
        if others < self.blocks:
            return list(range(others + 1))
        law = _binomial()
        # ppf is the smallest k with P[B <= k] >= tail, so that fewer than k have less than that.
        first = int(law.ppf(self.tail, others, self.blanket.mass))
        if self.blocks == 1:
            return [first]
        last = max(first, int(law.ppf(_TOP, others, self.blanket.mass)))
        return evenly(first, last, self.blocks)

    @cached_property
    def _chances(self) -> Floats:
        """Return the probability of each block."""
        starts = np.array(self._starts)
        above = _binomial().sf(starts - 1, self.batch.others, self.blanket.mass)
        below = _binomial().cdf(starts - 1, self.batch.others, self.blanket.mass)
        return _differences(below, above)


def _delta_of_draws(hidden: HiddenReport) -> float:
    """Return ``HiddenReport.delta``, computed over arrays."""
    law = _binomial()
    first, last = _range(_SINGLES_TAIL, hidden.draws, hidden.single)
    highs = np.array(with_rest_below(evenly(first, last, _MAX_SINGLES)))
    lows = np.concatenate([[0], highs[:-1] + 1])
    below = law.cdf(lows - 1, hidden.draws, hidden.single)
    above = law.sf(lows - 1, hidden.draws, hidden.single)
    chances = _differences(below, above)
    excess = _excess(hidden, lows, highs)
    # The last difference includes all K beyond; its excess is not that of the last block.
    beyond = law.sf(last - 1, hidden.draws - 1, hidden.single)
    return float(hidden.scale * (chances @ excess) + hidden.gap * hidden.single * beyond)


def _excess(hidden: HiddenReport, lows: Any, highs: Any) -> Floats:
    """Return an upper bound of the mean excess for each block of K."""
    nodes = _nodes(hidden, int(highs[0]), int(highs[-1]))
    distances = hidden.distance(lows[:, None], nodes)
    excess = fair_excess(highs[:, None], np.asarray(distances))
    if len(nodes) == 1:
        return np.asarray(excess[:, 0])
    return np.asarray((_chord_weights(hidden, highs, nodes) * excess).sum(axis=1))


def _chord_weights(hidden: HiddenReport, highs: Any, nodes: Any) -> Floats:
    """Return (blocks of K, nodes): how much each node of N counts under linear interpolation."""
    law = _binomial()
    rest = (hidden.draws - highs)[:, None]
    below = law.cdf(nodes - 1, rest, hidden.both)
    # E[N; N < node] = n p P[Bin(n - 1, p) < node - 1]
    mean_below = rest * hidden.both * law.cdf(nodes - 2, np.maximum(rest - 1, 0), hidden.both)
    chances = np.diff(below, axis=1)
    means = np.diff(mean_below, axis=1)
    to_right = (means - nodes[:-1] * chances) / np.diff(nodes)
    to_right = np.clip(to_right, 0, chances)
    weights = np.zeros(below.shape)
    weights[:, :-1] += chances - to_right
    weights[:, 1:] += to_right
    weights[:, -1] += law.sf(nodes[-1] - 1, rest[:, 0], hidden.both)
    return weights


def _nodes(hidden: HiddenReport, fewest_singles: int, most_singles: int) -> Any:
    """Return the values of N between which chords are drawn; the first is 0."""
    if hidden.both == 0 or hidden.draws == fewest_singles:
        return np.zeros(1, int)
    first, _ = _range(_BOTH_TAIL, hidden.draws - most_singles, hidden.both)
    _, last = _range(_BOTH_TAIL, hidden.draws - fewest_singles, hidden.both)
    count = node_count(hidden, last - first, _CHORD)
    return np.unique([0, *evenly(first, last, min(count, _MAX_NODES))])


def _range(tail: float, trials: int, chance: float) -> tuple[int, int]:
    """Return the counts below and above which there is at most the probability ``tail``."""
    law = _binomial()
    first = max(0, int(law.ppf(tail, trials, chance)))
    # The upper quantile is the lower one of the failures: 1 - tail would be rounded to 1.
    last = trials - max(0, int(law.ppf(tail, trials, 1 - chance)))
    return min(first, last), last


def fair_excess(trials: Any, distances: Floats) -> Floats:
    """Return ``maths.binomial.fair_excess`` for arrays."""
    law = _binomial()
    first = np.ceil(trials / 2 + distances)
    start = law.pmf(first, trials, 0.5)
    tail = law.sf(first - 1, trials, 0.5)
    return np.asarray(np.maximum(0.0, first / 2 * start - distances * tail))


def _differences(below: Floats, above: Floats) -> Floats:
    """Return the probability of each block from the tails at its start.

    The difference is taken between the smaller tails, which are the more exact ones.
    """
    from_above = above - np.append(above[1:], 0.0)
    from_below = np.append(below[1:], 1.0) - below
    return np.asarray(np.maximum(0.0, np.where(above < below, from_above, from_below)))


def _binomial() -> Any:
    try:
        from scipy.stats import binom
    except ImportError as missing:
        raise MissingExtraError(
            "exact binomial sums need SciPy: pip install 'sottovoce[server]'"
        ) from missing
    return binom
