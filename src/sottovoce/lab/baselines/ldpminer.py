"""LDPMiner, and the ladder of protocols that leads from it to set-value item mining: baselines of the laboratory.

Prefer ``TopItems`` and ``Itemsets`` for any real search.  Where these differ from it they lose: by binary hashing, by
padding as far as twice the number of items sought, by unary encoding without the gain of sampling.

Source: Wang 2021, sections 5.1.1 and 5.4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeAlias

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.rng import Rng
from sottovoce.encodings.sample import Sample
from sottovoce.encodings.size import Size
from sottovoce.errors import ParameterError
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.sue import SUE
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.itemsets import likely_sets
from sottovoce.plans.itemsets.padding import MISTAKE, SHARE, Reach, reach
from sottovoce.tasks.question import Question

PEOPLE_AT_ONCE = 100_000

Found: TypeAlias = dict[tuple[int, ...], float]  # sets of items, most frequent first, and how many people have each
Asking: TypeAlias = Callable[[float, Sample], Question]


@dataclass(frozen=True)
class Rung:
    """One protocol of the ladder: what each phase reports with, how far it pads, who is asked.

    A length of 0 is the one that nine sets of ten have at most, asked of the group for sizes; ``far`` pads to as many
    elements as there are candidates.  ``groups`` are percentages: first phase, sizes, second phase.
    """

    first: Asking
    second: Asking
    first_length: int
    far: bool
    groups: tuple[int, int, int]
    corrected: bool = False


def hashed(epsilon: float, encoding: Sample) -> Question:
    """Return the question by optimised local hashing."""
    return _plain(OLH, epsilon, encoding)


def binary(epsilon: float, encoding: Sample) -> Question:
    """Return the question by binary local hashing."""
    return _plain(BLH, epsilon, encoding)


def unary(epsilon: float, encoding: Sample) -> Question:
    """Return the question by symmetric unary encoding."""
    return _plain(SUE, epsilon, encoding)


def adapted(epsilon: float, encoding: Sample) -> Question:
    """Return the question by the better of direct response, amplified, and optimised local hashing."""
    return set_questions.which(epsilon, encoding.items, encoding.length, encoding.among, paper=True)


LADDER = {
    1: Rung(binary, unary, 0, far=True, groups=(40, 10, 50)),
    2: Rung(hashed, hashed, 0, far=True, groups=(40, 10, 50)),
    3: Rung(hashed, hashed, 1, far=True, groups=(50, 0, 50)),
    4: Rung(hashed, adapted, 1, far=True, groups=(50, 0, 50)),
    5: Rung(hashed, adapted, 1, far=False, groups=(50, 10, 40)),
    6: Rung(hashed, adapted, 1, far=False, groups=(50, 10, 40), corrected=True),
}


@dataclass(frozen=True)
class Miner:
    """A search for the ``top`` of so many ``items``, with whole groups of people at once."""

    items: int
    top: int
    epsilon: float

    def climb(self, number: int, baskets: Baskets, rng: Rng) -> Found:
        """Return the top items that a protocol of the ladder finds: 1 is LDPMiner with its users parted, 6 is SVIM."""
        if number not in LADDER:
            raise ParameterError("the ladder has protocols 1 to 6")
        rung, far = LADDER[number], Reach(2 * self.top, 1.0, confident=True)
        first, sizes, second = parted(baskets, rung.groups, rng)
        length = rung.first_length or asked_sizes(sizes, Size(self.items), self.epsilon, rng).length
        among = self._likely(first, rung.first(self.epsilon, Sample(self.items, length)), rng)
        reached = far if rung.far else asked_sizes(sizes, Size(self.items, among), self.epsilon, rng)
        counts = sampled(second, rung.second(self.epsilon, Sample(self.items, reached.length, among)), rng)
        scale = len(baskets) / len(second) * (reached.correction if rung.corrected else 1.0)
        return self._found(among, counts * scale)

    def original(self, baskets: Baskets, rng: Rng) -> Found:
        """Return the top items by LDPMiner as published: everybody answers both phases, half of epsilon each.

        The length that nine sets of ten have at most is taken as known.
        """
        held = baskets.sizes[baskets.sizes > 0]
        length = ceil(np.quantile(held, SHARE)) if len(held) else 1
        among = self._likely(baskets, binary(self.epsilon / 2, Sample(self.items, length)), rng)
        return self._found(among, sampled(baskets, unary(self.epsilon / 2, self._far(among)), rng))

    def itemsets(self, baskets: Baskets, rng: Rng) -> Found:
        """Return the top sets of items by LDPMiner: half of the users find items, the others report one likely set."""
        first, second = parted(baskets, (50, 50), rng)
        singles = {chosen: count * len(baskets) / len(first) for chosen, count in self.climb(1, first, rng).items()}
        among = likely_sets([item for (item,) in singles], list(singles.values()), 2 * self.top)
        if not among:
            return singles
        counts = sampled(second, unary(self.epsilon, self._far(among)), rng) * len(baskets) / len(second)
        return self._found((*singles, *among), np.array([*singles.values(), *counts]))

    def _likely(self, baskets: Baskets, question: Question, rng: Rng) -> set_questions.Candidates:
        chosen = _largest(sampled(baskets, question, rng), 2 * self.top)
        return tuple((item,) for item in sorted(chosen.tolist()))

    def _far(self, among: set_questions.Candidates) -> Sample:
        return Sample(self.items, 2 * self.top, among)

    def _found(self, among: set_questions.Candidates, counts: Floats) -> Found:
        return {among[place]: float(counts[place]) for place in _largest(counts, self.top).tolist()}


def parted(baskets: Baskets, percentages: tuple[int, ...], rng: Rng) -> list[Baskets]:
    """Return disjoint random groups of the people, of these percentages."""
    order = np.argsort(rng.longs(len(baskets)), kind="stable")
    ends = np.cumsum(percentages) * len(baskets) // 100
    return [baskets[people] for people in np.split(order, ends)[: len(percentages)]]


def asked_sizes(baskets: Baskets, encoding: Size, epsilon: float, rng: Rng) -> Reach:
    """Return how far to pad, from what people say about the number of candidates that they have."""
    mechanism = OLH(epsilon, (len(encoding.among) or encoding.items) + 1)
    estimate = mechanism.estimate(mechanism.tally(mechanism.privatize(encoding(baskets, rng), rng)))
    threshold = estimate.threshold(MISTAKE, mechanism.size - 1)
    return reach(estimate.totals[1:].tolist(), threshold, guarded=False)


def sampled(baskets: Baskets, question: Question, rng: Rng) -> Floats:
    """Return how many of these people have each candidate, one report from everybody."""
    encoding, mechanism = question.encoding, question.mechanism
    assert isinstance(encoding, Sample)
    assert isinstance(mechanism, PureMechanism)
    candidates, counts = np.arange(encoding.candidates), np.zeros(encoding.candidates, np.int64)
    for start in range(0, len(baskets), PEOPLE_AT_ONCE):
        people: Any = baskets[start : start + PEOPLE_AT_ONCE]
        counts += mechanism.count(question.privatize(people, rng), candidates)
    return encoding.length * mechanism.estimate_counts(counts, len(baskets)).votes


def _plain(kind: Callable[[float, int], PureMechanism], epsilon: float, encoding: Sample) -> Question:
    return Question(kind(epsilon, encoding.candidates + encoding.length), encoding)


def _largest(counts: Floats, most: int) -> Ints:
    return np.argsort(-counts, kind="stable")[:most]
