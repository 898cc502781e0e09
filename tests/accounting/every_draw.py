"""The exact law of whatever is drawn: every outcome of every draw is played once.

Whole draws have the probabilities of the contract: a coin is true with its threshold of 2^-64, an
integer is uniform.  A long or a word takes one of four values, the beginnings of the quarters of
its range, each with probability 1/4.  So everything that depends on the quarter only, such as
thresholds that are multiples of 2^62, has its exact law; seeds are four of all that there are.
"""

from collections import defaultdict
from fractions import Fraction

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.maths import exact


class EveryDraw(Rng):
    """Replays the first choices of a path and takes the first outcome of every later draw."""

    def __init__(self, path):
        self.path = list(path)
        self.chances = []  # for every draw, the probabilities of its outcomes

    def bytes(self, count):
        raise AssertionError("only whole draws can be listed")

    def _choose(self, chances):
        place = len(self.chances)
        self.chances.append(chances)
        if place == len(self.path):
            self.path.append(0)
        return self.path[place]

    def bernoulli(self, threshold, count):
        true = exact.probability(threshold)
        return np.array([self._choose([true, 1 - true]) == 0 for _ in range(count)], bool)

    def integers(self, limit, count):
        chances = [Fraction(1, limit)] * limit
        return np.array([self._choose(chances) for _ in range(count)], np.int64)

    def longs(self, count):
        quarters = [self._choose([Fraction(1, 4)] * 4) << 62 for _ in range(count)]
        return np.array(quarters, np.uint64)

    def words(self, count):
        quarters = [self._choose([Fraction(1, 4)] * 4) << 30 for _ in range(count)]
        return np.array(quarters, np.uint32)


def law(draw):
    """Return the probability of every result of ``draw(rng)``; results must be hashable."""
    chance_of = defaultdict(Fraction)
    path = []
    while path is not None:
        rng = EveryDraw(path)
        result = draw(rng)
        chance = Fraction(1)
        for choice, chances in zip(rng.path, rng.chances, strict=True):
            chance *= chances[choice]
        chance_of[result] += chance
        path = _next(rng)
    assert sum(chance_of.values()) == 1
    return dict(chance_of)


def _next(rng):
    """Return the path to the next outcome: the last choice that can move on moves on."""
    path = list(rng.path)
    while path:
        last = path.pop()
        if last + 1 < len(rng.chances[len(path)]):
            return [*path, last + 1]
    return None
