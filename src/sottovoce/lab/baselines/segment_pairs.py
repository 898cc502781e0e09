"""SPM, the segment pairs method: frequent segments of a value, joined where two of them are frequent together.

Every user reports the whole value and two of its segments, each for a third of epsilon.  The collector finds the most
frequent patterns of each segment, estimates how often two of them go together, puts whole values together from
frequent pairs and tests those.  A baseline: prefer PEM, which spends epsilon once and joins nothing.

Source: Wang 2021, section 4.1.1.
"""

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any, ClassVar

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.arrays import Floats, Ints
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.encodings.segment import Segment
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines import candidates
from sottovoce.lab.baselines.joining import Joined, Row, Scored, join, joint
from sottovoce.maths import exact
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

MOST_SOUGHT = 256
LONGEST_SEGMENT = 20  # bits, so that all patterns of a segment can be estimated
MOST_SEGMENTS = 32


@dataclass(frozen=True, init=False)
class SegmentPairs(Plan, kind="spm", wire=False):
    """Find the ``top`` values by pairs of ``segments`` of equal length.

    Where users are ``partitioned``, one of ten tests whole values with all of epsilon, and the others report two
    segments for half of it each.

    >>> SegmentPairs(Bits(64), 16, segments=4).pairs[:3]
    ((0, 1), (0, 2), (0, 3))
    """

    domain: Bits | Strings
    top: int
    segments: int
    partitioned: bool

    needs: ClassVar[tuple[str, ...]] = ("subject",)  # the two segments of one user are joined

    def __init__(self, domain: Domain, top: int = 16, *, segments: int = 4, partitioned: bool = False) -> None:
        candidates.check_settings(domain, top, MOST_SOUGHT)
        settings = {"domain": domain, "top": top, "segments": segments, "partitioned": bool(partitioned)}
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)
        if type(segments) is not int or not 2 <= segments <= MOST_SEGMENTS or self.domain.bits % segments:
            raise ParameterError(f"from 2 to {MOST_SEGMENTS} segments divide the bits of a value evenly")
        if self.length > LONGEST_SEGMENT:
            raise ParameterError(f"a segment has at most {LONGEST_SEGMENT} bits")

    @property
    def length(self) -> int:
        """Return the bits of a segment."""
        return self.domain.bits // self.segments

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of segments, one for each group of users."""
        return tuple(combinations(range(self.segments), 2))

    def step(self, collected: Collected) -> Round | Answer:
        return self._answer(collected) if collected.rounds else Round(0, self._ask(collected.epsilon))

    def _ask(self, epsilon: float) -> Choice:
        if self.partitioned:
            members = [Bundle(self._segments(exact.part(epsilon, 2), pair)) for pair in self.pairs]
            return candidates.with_testers(candidates.whole(self.domain, epsilon), members)
        third = exact.part(epsilon, 3)
        whole = candidates.whole(self.domain, third)
        return Choice(tuple(Bundle((whole, *self._segments(third, pair))) for pair in self.pairs))

    def _segments(self, epsilon: float, pair: tuple[int, int]) -> tuple[Question, ...]:
        bits, length = self.domain.bits, self.length
        mechanism = candidates.over(epsilon, 1 << length)
        return tuple(Question(mechanism, Segment(bits, segment * length, length)) for segment in pair)

    def _answer(self, collected: Collected) -> Answer:
        kept = [self._frequent(collected, segment) for segment in range(self.segments)]
        shares = {pair: self._together(collected, pair, kept) for pair in self.pairs}
        joined = join(shares, self.top, lambda row: self._possible(kept, row))
        numbers = [self._number(kept, row) for row in joined.rows]
        tests = [Address(0, member) for member in range(1 if self.partitioned else len(self.pairs))]
        labels, estimate = candidates.ranked(collected, tests, self.domain, numbers, self.top)
        return Answer("heavy hitters", labels, estimate, "affine_prefix", details=self._facts(joined))

    def _places(self, pair: tuple[int, int]) -> tuple[Address, Address]:
        """Return where the two segments of a pair are reported: after the whole value, which has a member or a slot."""
        member, slot = self.pairs.index(pair) + self.partitioned, int(not self.partitioned)
        return Address(0, member, slot), Address(0, member, slot + 1)

    def _frequent(self, collected: Collected, segment: int) -> Ints:
        """Return the most frequent patterns of a segment, from all users who reported it."""
        places = [self._places(pair)[pair.index(segment)] for pair in self.pairs if segment in pair]
        tally = reduce(add, (collected.tally(place) for place in places))
        estimate = collected.rounds[0].question(places[0]).mechanism.estimate(tally)
        return np.sort(np.argsort(-estimate.votes, kind="stable")[: self.top])

    def _together(self, collected: Collected, pair: tuple[int, int], kept: list[Ints]) -> Floats:
        """Return (patterns, patterns): the estimated shares of users with both."""
        scored = [
            _votes(collected, place, kept[segment], 1 << self.length)
            for segment, place in zip(pair, self._places(pair), strict=True)
        ]
        return joint(*scored)

    def _number(self, kept: list[Ints], row: Row) -> int:
        symbols = (int(patterns[place]) for patterns, place in zip(kept, row, strict=True))
        return reduce(lambda number, symbol: number << self.length | symbol, symbols)

    def _possible(self, kept: list[Ints], row: Row) -> bool:
        return self.domain.possible(self._number(kept, row), self.domain.bits)

    def _facts(self, joined: Joined) -> dict[str, Any]:
        return {
            "segments": self.segments,
            "partitioned": self.partitioned,
            "pairs_joined": joined.pairs,
            "candidates": len(joined.rows),
            "candidates_left_out": joined.cut,
        }


def _votes(collected: Collected, address: Address, patterns: Ints, size: int) -> Scored:
    """Return the subjects, and (patterns, users) votes for some patterns of a segment."""
    found = [collected.scores(address, _only(pattern, size)) for pattern in patterns.tolist()]
    return found[0][0], np.array([scores for _, scores in found])


def _only(pattern: int, size: int) -> Floats:
    target = np.zeros(size)
    target[pattern] = 1
    return target
