"""LDPMiner, and the protocols between it and set-value item mining (SVIM).

Prefer ``TopItems`` and ``Itemsets`` for a real search.  Each step from protocol 1 (LDPMiner with
its users partitioned) to protocol 6 (SVIM) changes one thing: binary hashing, padding as far as
twice the number of sought items, and unary encoding without the gain of sampling all lose accuracy.

Source: Wang 2021, sections 5.1.1 and 5.4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeAlias

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.rng import Rng
from sottovoce.core.settings import whole
from sottovoce.encodings.sample import Sample
from sottovoce.encodings.size import Size
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.sue import SUE
from sottovoce.plans.itemsets.itemsets import likely_sets
from sottovoce.plans.itemsets.padding import MISTAKE, SHARE, Padding, fit_padding
from sottovoce.plans.itemsets.set_questions import Candidates, ask_which
from sottovoce.tasks.question import Question

PEOPLE_AT_ONCE = 100_000

ItemsetCounts: TypeAlias = dict[tuple[int, ...], float]  # most frequent first
AskSample: TypeAlias = Callable[[float, Sample], Question]


@dataclass(frozen=True)
class Protocol:
    """What each phase reports with, how far it pads, and who is asked.

    A ``first_length`` of 0 is the length that nine sets of ten have at most, asked of the group for
    sizes.  With ``pad_far`` the second phase pads to as many elements as there are candidates.
    ``groups`` are the percentages of users of the first phase, of sizes, and of the second phase.
    """

    first: AskSample
    second: AskSample
    first_length: int
    pad_far: bool
    groups: tuple[int, int, int]
    corrected: bool = False


def ask_by_olh(epsilon: float, encoding: Sample) -> Question:
    """Return the question by optimised local hashing."""
    return _ask_by(OLH, epsilon, encoding)


def ask_by_blh(epsilon: float, encoding: Sample) -> Question:
    """Return the question by binary local hashing."""
    return _ask_by(BLH, epsilon, encoding)


def ask_by_sue(epsilon: float, encoding: Sample) -> Question:
    """Return the question by symmetric unary encoding."""
    return _ask_by(SUE, epsilon, encoding)


def ask_adaptively(epsilon: float, encoding: Sample) -> Question:
    """Return the question by amplified direct response or by OLH, the better of the two."""
    return ask_which(epsilon, encoding.items, encoding.length, encoding.among, paper=True)


PROTOCOLS = {
    1: Protocol(ask_by_blh, ask_by_sue, 0, pad_far=True, groups=(40, 10, 50)),
    2: Protocol(ask_by_olh, ask_by_olh, 0, pad_far=True, groups=(40, 10, 50)),
    3: Protocol(ask_by_olh, ask_by_olh, 1, pad_far=True, groups=(50, 0, 50)),
    4: Protocol(ask_by_olh, ask_adaptively, 1, pad_far=True, groups=(50, 0, 50)),
    5: Protocol(ask_by_olh, ask_adaptively, 1, pad_far=False, groups=(50, 10, 40)),
    6: Protocol(ask_by_olh, ask_adaptively, 1, pad_far=False, groups=(50, 10, 40), corrected=True),
}


@dataclass(frozen=True)
class Miner:
    """A search for the ``top`` of so many ``items``, with whole groups of people at once."""

    items: int
    top: int
    epsilon: float

    def mine(self, protocol_number: int, baskets: Baskets, rng: Rng) -> ItemsetCounts:
        """Return the top items by one of the protocols 1 to 6."""
        protocol = PROTOCOLS[whole("protocol_number", protocol_number, 1, len(PROTOCOLS))]
        first, sizes, second = partition(baskets, protocol.groups, rng)
        length = protocol.first_length
        if not length:
            length = ask_sizes(sizes, Size(self.items), self.epsilon, rng).length
        question = protocol.first(self.epsilon, Sample(self.items, length))
        among = self._candidates(first, question, rng)
        if protocol.pad_far:
            padding = Padding(2 * self.top, 1.0, confident=True)
        else:
            padding = ask_sizes(sizes, Size(self.items, among), self.epsilon, rng)
        encoding = Sample(self.items, padding.length, among)
        counts = sampled_counts(second, protocol.second(self.epsilon, encoding), rng)
        correction = padding.correction if protocol.corrected else 1.0
        return self._most_frequent(among, counts * len(baskets) / len(second) * correction)

    def original(self, baskets: Baskets, rng: Rng) -> ItemsetCounts:
        """Return the top items by LDPMiner as published.

        Everybody answers both phases, with half of epsilon each.  The length that nine sets of ten
        have at most is taken as known.
        """
        sizes = baskets.sizes[baskets.sizes > 0]
        length = ceil(np.quantile(sizes, SHARE)) if len(sizes) else 1
        half = self.epsilon / 2
        among = self._candidates(baskets, ask_by_blh(half, Sample(self.items, length)), rng)
        counts = sampled_counts(baskets, ask_by_sue(half, self._padded_far(among)), rng)
        return self._most_frequent(among, counts)

    def itemsets(self, baskets: Baskets, rng: Rng) -> ItemsetCounts:
        """Return the top sets of items by LDPMiner.

        Half of the users find items, the others report one likely set.
        """
        first, second = partition(baskets, (50, 50), rng)
        scale = len(baskets) / len(first)
        singles = {items: count * scale for items, count in self.mine(1, first, rng).items()}
        among = likely_sets([item for (item,) in singles], list(singles.values()), 2 * self.top)
        if not among:
            return singles
        counts = sampled_counts(second, ask_by_sue(self.epsilon, self._padded_far(among)), rng)
        counts = counts * len(baskets) / len(second)
        return self._most_frequent((*singles, *among), np.array([*singles.values(), *counts]))

    def _candidates(self, baskets: Baskets, question: Question, rng: Rng) -> Candidates:
        best = _largest(sampled_counts(baskets, question, rng), 2 * self.top)
        return tuple((item,) for item in sorted(best.tolist()))

    def _padded_far(self, among: Candidates) -> Sample:
        return Sample(self.items, 2 * self.top, among)

    def _most_frequent(self, among: Candidates, counts: Floats) -> ItemsetCounts:
        best = _largest(counts, self.top).tolist()
        return {among[index]: float(counts[index]) for index in best}


def partition(baskets: Baskets, percentages: tuple[int, ...], rng: Rng) -> list[Baskets]:
    """Return disjoint random groups of the people, of these percentages."""
    order = np.argsort(rng.longs(len(baskets)), kind="stable")
    ends = np.cumsum(percentages) * len(baskets) // 100
    return [baskets[people] for people in np.split(order, ends)[: len(percentages)]]


def ask_sizes(baskets: Baskets, encoding: Size, epsilon: float, rng: Rng) -> Padding:
    """Return how far to pad, from what people report about the number of candidates they have."""
    mechanism = OLH(epsilon, (len(encoding.among) or encoding.items) + 1)
    reports = mechanism.privatize(encoding(baskets, rng), rng)
    estimate = mechanism.estimate(mechanism.tally(reports))
    threshold = estimate.threshold(MISTAKE, mechanism.size - 1)
    return fit_padding(estimate.totals[1:].tolist(), threshold, guarded=False)


def sampled_counts(baskets: Baskets, question: Question, rng: Rng) -> Floats:
    """Return how many of these people have each candidate, from one report of everybody."""
    encoding = question.encoding
    mechanism = question.mechanism
    assert isinstance(encoding, Sample)
    assert isinstance(mechanism, PureMechanism)
    candidates = np.arange(encoding.candidates)
    supports = np.zeros(encoding.candidates, np.int64)
    for start in range(0, len(baskets), PEOPLE_AT_ONCE):
        people: Any = baskets[start : start + PEOPLE_AT_ONCE]
        supports += mechanism.count(question.privatize(people, rng), candidates)
    return encoding.length * mechanism.estimate_counts(supports, len(baskets)).votes


def _ask_by(
    mechanism: Callable[[float, int], PureMechanism], epsilon: float, encoding: Sample
) -> Question:
    return Question(mechanism(epsilon, encoding.candidates + encoding.length), encoding)


def _largest(counts: Floats, count: int) -> Ints:
    return np.argsort(-counts, kind="stable")[:count]
