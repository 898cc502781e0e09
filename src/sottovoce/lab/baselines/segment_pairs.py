"""SPM, the segment pairs method: frequent segments, joined where two of them are frequent together.

Every user reports the whole value and two of its segments, each with a third of epsilon.  The
collector finds the most frequent patterns of each segment, estimates how often two patterns go
together, joins frequent pairs to whole values and tests those.  A baseline: prefer PEM, which
spends epsilon once and joins nothing.

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
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.encodings.segment import Segment
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.candidates import (
    check_search,
    piece_mechanism,
    rank_candidates,
    whole_value,
    with_testers,
)
from sottovoce.lab.baselines.joining import (
    JoinedRows,
    PatternRow,
    PatternVotes,
    SegmentPair,
    join,
    shares_of_pairs,
)
from sottovoce.maths import exact
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

MAX_TOP = 256
MAX_SEGMENT_BITS = 20  # all patterns of a segment are estimated
MAX_SEGMENTS = 32


@dataclass(frozen=True, init=False)
class SegmentPairs(Plan, kind="spm", wire=False):
    """Find the ``top`` values by pairs of ``segments`` of equal length.

    Where users are ``partitioned``, one of ten tests whole values with the whole epsilon, and the
    others report two segments with half of it each.

    >>> SegmentPairs(Bits(64), 16, segments=4).pairs[:3]
    ((0, 1), (0, 2), (0, 3))
    """

    domain: Bits | Strings
    top: int
    segments: int
    partitioned: bool

    needs: ClassVar[tuple[str, ...]] = ("subject",)  # the two segments of one user are joined

    def __init__(
        self, domain: Domain, top: int = 16, *, segments: int = 4, partitioned: bool = False
    ) -> None:
        check_search(domain, top, MAX_TOP)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "segments", whole("segments", segments, 2, MAX_SEGMENTS))
        object.__setattr__(self, "partitioned", bool(partitioned))
        if self.domain.bits % segments:
            raise ParameterError("`segments` must divide the bits of a value evenly")
        if self.length > MAX_SEGMENT_BITS:
            raise ParameterError(
                f"`segments` must leave at most {MAX_SEGMENT_BITS} bits to each: take more segments"
            )

    @property
    def length(self) -> int:
        """Return the bits of a segment."""
        return self.domain.bits // self.segments

    @property
    def pairs(self) -> tuple[SegmentPair, ...]:
        """Return the pairs of segments, one for each group of users."""
        return tuple(combinations(range(self.segments), 2))

    def step(self, collected: Collected) -> Round | Answer:
        if collected.rounds:
            return self._answer(collected)
        return Round(0, self.ask(collected.epsilon))

    def ask(self, epsilon: float) -> Choice:
        if self.partitioned:
            half = exact.part(epsilon, 2)
            members = [Bundle(self._segment_questions(half, pair)) for pair in self.pairs]
            return with_testers(whole_value(self.domain, epsilon), members)
        third = exact.part(epsilon, 3)
        tested = whole_value(self.domain, third)
        return Choice(
            tuple(Bundle((tested, *self._segment_questions(third, pair))) for pair in self.pairs)
        )

    def _segment_questions(self, epsilon: float, pair: SegmentPair) -> tuple[Question, ...]:
        bits = self.domain.bits
        length = self.length
        mechanism = piece_mechanism(epsilon, 1 << length)
        return tuple(
            Question(mechanism, Segment(bits, segment * length, length)) for segment in pair
        )

    def _answer(self, collected: Collected) -> Answer:
        patterns = [self.frequent_patterns(collected, index) for index in range(self.segments)]
        shares = {pair: self._shares(collected, pair, patterns) for pair in self.pairs}
        joined = join(shares, self.top, lambda row: self._possible(patterns, row))
        numbers = [self._number(patterns, row) for row in joined.rows]
        tests = [Address(0, member) for member in range(1 if self.partitioned else len(self.pairs))]
        best = rank_candidates(collected, tests, self.domain, numbers, self.top)
        details = self._details(joined)
        return Answer("heavy hitters", best.labels, best.estimate, "affine_prefix", details=details)

    def addresses(self, pair: SegmentPair) -> tuple[Address, Address]:
        """Return where the two segments of a pair are reported.

        The whole value comes before them: as a member where users are partitioned, else as a slot.
        """
        index = self.pairs.index(pair)
        if self.partitioned:
            return Address(0, index + 1, 0), Address(0, index + 1, 1)
        return Address(0, index, 1), Address(0, index, 2)

    def frequent_patterns(self, collected: Collected, segment: int) -> Ints:
        """Return the most frequent patterns of a segment, from all users who reported it."""
        containing = [pair for pair in self.pairs if segment in pair]
        addresses = [self.addresses(pair)[pair.index(segment)] for pair in containing]
        tally = reduce(add, (collected.tally(address) for address in addresses))
        mechanism = collected.rounds[0].question(addresses[0]).mechanism
        votes = mechanism.estimate(tally).votes
        return np.sort(np.argsort(-votes, kind="stable")[: self.top])

    def _shares(self, collected: Collected, pair: SegmentPair, patterns: list[Ints]) -> Floats:
        """Return (patterns, patterns): the estimated shares of users with both."""
        first, second = (
            _pattern_votes(collected, address, patterns[segment], 1 << self.length)
            for segment, address in zip(pair, self.addresses(pair), strict=True)
        )
        return shares_of_pairs(first, second)

    def _number(self, patterns: list[Ints], row: PatternRow) -> int:
        number = 0
        for listed, index in zip(patterns, row, strict=True):
            number = number << self.length | int(listed[index])
        return number

    def _possible(self, patterns: list[Ints], row: PatternRow) -> bool:
        return self.domain.possible(self._number(patterns, row), self.domain.bits)

    def _details(self, joined: JoinedRows) -> dict[str, Any]:
        return {
            "segments": self.segments,
            "partitioned": self.partitioned,
            "pairs_joined": joined.pairs,
            "candidates": len(joined.rows),
            "candidates_left_out": joined.cut,
        }


def _pattern_votes(
    collected: Collected, address: Address, patterns: Ints, size: int
) -> PatternVotes:
    """Return the votes of all subjects for some patterns of a segment."""
    votes = []
    for pattern in patterns.tolist():
        target = np.zeros(size)
        target[pattern] = 1
        subjects, scores = collected.scores(address, target)
        votes.append(scores)
    return PatternVotes(subjects, np.array(votes))
